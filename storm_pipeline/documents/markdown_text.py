"""Markdown as a tree of HTML."""

import html
import re
from typing import Any

from storm_pipeline.documents.markup import parse_html

# Formulas and addresses, which stay as they are; superscripts and subscripts as Pandoc writes them; marks of notes.
_MARK = re.compile(
    r"(?P<kept>\$\$.{1,1000}?\$\$|\$(?=\S)[^$\n]{1,300}(?<=\S)\$(?!\d)|https?://\S+)"
    r"|\^(?P<sup>[^\s^\[\]]{0,20}[^\W_][^\s^\[\]]{0,20})\^|(?<=[^\s~])~(?P<sub>[^\s~]{1,20})~(?!~)"
    r"|\[\^[^\]\s]{1,99}\](?::[ \t]*)?"
)


def markdown_tree(text: str) -> Any:
    """Parse a Markdown text. Superscripts, subscripts and struck text are elements; lists keep their lines' marks.

    Raises etree.LxmlError: it is empty.
    """
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"breaks": True}).enable(["table", "strikethrough"])
    parser.disable(["reference", "list", "code", "text_join"])
    tokens = parser.parse(text)
    for token in (child for block in tokens for child in block.children or ()):
        if token.type == "text":
            token.type, token.content = "html_inline", _MARK.sub(_element, html.escape(token.content, quote=False))
        elif token.type == "text_special":  # an escaped character
            token.type = "text"
    return parse_html(parser.renderer.render(tokens, parser.options, {}).encode("utf-8", "replace"))


def _element(found: re.Match[str]) -> str:
    name = found.lastgroup
    return found[0] if name == "kept" else f"<{name}>{found[name]}</{name}>" if name else ""
