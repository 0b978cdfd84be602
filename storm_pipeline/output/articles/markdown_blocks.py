"""Parses Markdown as written by language models and page readers into headings and plain-text paragraphs.

Not a full Markdown parser. Tables, code and lists are kept as text; raw HTML is removed.
"""

import functools
import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from storm_pipeline.run.article_json import most_levels
from storm_pipeline.sources.reliable.ground_truth import folded_title
from storm_pipeline.text.plain import plain_text
from storm_pipeline.types import Paragraph, Section

_BETWEEN_LETTERS = re.compile(r"(?<=[A-Za-z\d])\*(?=[A-Za-z\d])")
"""An asterisk within a word, which Markdown would take for emphasis: ``M*A*S*H``."""
_SYNTAX, _INLINE = frozenset("*_`[]<\\!#>|-+•=:.)"), frozenset("*_`[<\\\0")
_LEVEL_OF_BOLD = 7
_LONGEST_BOLD = 12  # maximum words of a bold line that counts as a heading


@dataclass(frozen=True)
class TextBlock:
    """A heading (level >= 1), on one line, or a paragraph (level 0). Plain text, never empty."""

    text: str
    level: int = 0


@dataclass(frozen=True)
class HeadingNode:
    """A heading with its paragraphs and subsections, in order. The root has an empty heading."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    subsections: tuple["HeadingNode", ...] = ()

    @classmethod
    def of_blocks(cls, blocks: Iterable[TextBlock]) -> "HeadingNode":
        """Return the tree of blocks; paragraphs before the first heading belong to the root.

        Headings deeper than a program can follow get the deepest level.
        """
        most = most_levels()
        return cls._of(TextBlock("", -1), deque(TextBlock(b.text, min(b.level, most)) for b in blocks))

    @classmethod
    def _of(cls, heading: TextBlock, remaining: deque[TextBlock]) -> "HeadingNode":
        """Build the tree under a heading, and take its blocks from the queue."""
        paragraphs: list[str] = []
        below: list[HeadingNode] = []
        while remaining and (not remaining[0].level or remaining[0].level > heading.level):
            block = remaining.popleft()
            if block.level:
                below.append(cls._of(block, remaining))
            else:
                paragraphs.append(block.text)
        return cls(heading.text, tuple(paragraphs), tuple(below))

    @classmethod
    def of_markdown(cls, text: str, title: str) -> "HeadingNode":
        """Return the tree of a text without its title, one paragraph per line."""
        return cls.of_blocks(without_title(markdown_blocks(text), title))

    def read(self, read: Callable[[str], Paragraph]) -> tuple[tuple[Paragraph, ...], tuple[Section, ...]]:
        """Return the non-empty paragraphs directly under the heading, and its subsections; ``read`` parses texts."""
        paragraphs = tuple(paragraph for text in self.paragraphs if (paragraph := read(text)).sentences)
        return paragraphs, tuple(Section(part.heading, *part.read(read)) for part in self.subsections)


def plain_markdown(text: str) -> str:
    """Strip Markdown syntax (images, URLs, emphasis, list and quote marks, rules), line by line."""
    return "\n".join(map(_plain_line, text.splitlines()))


def markdown_blocks(text: str) -> tuple[TextBlock, ...]:
    """Return headings and paragraphs in order, one per line; a short bold line is a heading of the lowest level."""
    return tuple(block for line in text.splitlines() if (block := markdown_block(line)).text)


def paragraph_blocks(text: str) -> tuple[TextBlock, ...]:
    """Return blocks with paragraphs split at blank lines; each list item, quotation and table row is a block."""

    def starts(line: str) -> bool:
        tokens = _parser().parse(line.replace("•", "-", 1) if line.lstrip().startswith("•") else line)
        return line.lstrip().startswith("|") or any(t.type in {"list_item_open", "blockquote_open"} for t in tokens)

    blocks: list[tuple[int, list[str]]] = []
    continues = False
    for line in text.splitlines():
        block = markdown_block(line)
        if not block.text:
            continues = False
        elif continues and not block.level and not starts(line):
            blocks[-1][1].append(block.text)
        else:
            blocks.append((block.level, [block.text]))
            continues = not block.level
    return tuple(TextBlock("\n".join(lines), level) for level, lines in blocks)


def without_title(blocks: Sequence[TextBlock], title: str) -> tuple[TextBlock, ...]:
    """Remove an opening heading that is the title: it has the title's name, or is the only first-level heading."""
    if not blocks or not blocks[0].level:
        return tuple(blocks)
    only = blocks[0].level == 1 and sum(block.level == 1 for block in blocks) == 1
    return tuple(blocks[1:] if only or folded_title(blocks[0].text) == folded_title(title) else blocks)


def markdown_block(line: str) -> TextBlock:
    """Return a line as a heading or plain text; the text is empty if the line has only marks."""
    bold = line.strip().rstrip(":")
    inside = bold[2:-2] if bold[:2] in {"**", "__"} and bold[-2:] == bold[:2] else ""
    if 0 < len(inside.split()) <= _LONGEST_BOLD and {"*", "_"}.isdisjoint(inside):
        return TextBlock(plain_text(_plain_line(inside)).rstrip(":"), _LEVEL_OF_BOLD)
    marks, _, rest = line.strip().partition(" ")
    if set(marks) == {"#"} and len(marks) <= 6 and len(line) - len(line.lstrip()) <= 3:
        without_end = rest.rstrip("#")
        heading = without_end if without_end[-1:] in {"", " "} else rest
        return TextBlock(plain_text(_plain_line(heading)), len(marks))
    return TextBlock(plain_text(_plain_line(line)))


@functools.cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    blocks = ["code", "fence", "heading", "html_block", "reference", "lheading", "hr"]
    parser: Any = MarkdownIt("commonmark").disable([*blocks, "entity"])
    parser.normalizeLink, parser.validateLink = str, bool  # addresses stay as they are written
    return parser


def without_comments(text: str) -> str:
    """Remove HTML comments, which readers do not see; those in code stay."""
    from markdown_it import MarkdownIt

    first, *others = text.split("<!--")
    tokens = MarkdownIt("commonmark").parse(text) if others else []
    html = (t.content for token in tokens for t in (token, *(token.children or ())) if t.type.startswith("html"))
    comments = {part.partition("-->")[0] for content in html for part in content.split("<!--")[1:]}
    parts = (part.partition("-->") for part in others)
    return first + "".join(c if b and a in comments else f"<!--{a}{b}{c}" for a, b, c in parts)


def first_link(text: str) -> tuple[str, str]:
    """Return the address and words, as Markdown, of the first link of a line; empty if there is none."""
    children = [child for token in _parser().parse(text.lstrip()) for child in token.children or ()]
    start = next((i for i, child in enumerate(children) if child.type == "link_open"), len(children))
    end = next((i for i, child in enumerate(children) if i > start and child.type == "link_close"), start)
    url = str(children[start].attrGet("href")) if start < len(children) else ""
    return url, "".join(child.content for child in children[start:end] if child.type != "image")


@functools.lru_cache(4096)  # the pages of a site repeat their menus
def _plain_line(line: str) -> str:
    if not line.strip(" \t|:=*_-") or _SYNTAX.isdisjoint(line):
        return line.strip() if _SYNTAX.isdisjoint(line) else ""
    if line.lstrip().startswith("|"):
        return " ".join(_plain_line(cell) for cell in line.strip().strip("|").split("|")).strip()
    stripped = line.lstrip("•> \t")
    is_item = "".join(stripped.split(maxsplit=1)[:1]).lstrip("0123456789") in set("-+*.)")
    if not is_item and _INLINE.isdisjoint(stripped):
        return stripped.strip()
    parse = _parser().parse if is_item else _parser().parseInline
    tokens = parse(_BETWEEN_LETTERS.sub(r"\\*", stripped))
    # a line such as "1931. …"
    years = (token.info for token in tokens if token.type == "list_item_open" and len(token.info) > 3)
    plain = "".join(f"{year}. " for year in years) + "".join(
        child.content or ("\n" if child.type == "softbreak" else "")
        for token in tokens
        for child in token.children or ()
        if child.type not in {"image", "html_inline"}
    )
    # A remaining ``**`` was beside a letter, where Markdown does not read it as a mark.
    plain = (plain.replace("**", "") if "**" in line else plain).strip("` " if "```" in line else None)
    if tokens and tokens[0].type.endswith("list_open"):  # task lists
        plain = plain.removeprefix("[x]").removeprefix("[X]").removeprefix("[ ]")
    return plain.strip()
