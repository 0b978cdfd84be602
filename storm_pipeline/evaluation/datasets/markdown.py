"""Parses Markdown as written by language models and page readers into headings and plain-text paragraphs.

Not a full Markdown parser. Tables, code and lists are kept as text; raw HTML is removed.
"""

import re
from collections.abc import Sequence

from storm_pipeline.documents.plain import plain_text
from storm_pipeline.evaluation.datasets.heading_tree import TextBlock
from storm_pipeline.sources.mirrors import folded_title

_IMAGE = re.compile(r"!\[[^\]]{0,1000}\](?:\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\s*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\[\]]{0,1000})\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\s*\)")
_TAG = re.compile(r"(?<!\\)</?[a-z][^<>\n]*>", re.I)
_EMPHASIS = re.compile(r"(?<!\\)(\*{1,3}|(?<!\w)_{1,3}|`+)(?=\S)(.{1,300}?)(?<=\S)\1(?!\w)")
_MARKS = re.compile(r"[*_`]")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s*)?")
_QUOTE = re.compile(r"^\s*(?:>\s?)+")
_RULE = re.compile(r"^[\s|:=*_-]*$")
_ATX = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$")
_BOLD_LINE = re.compile(r"^\s*(?:\*\*|__)([^*_]+?)(?:\*\*|__):?\s*$")
_LEVEL_OF_BOLD = 7
_LONGEST_BOLD = 12
"""Maximum words of a bold line that counts as a heading."""


def plain_markdown(text: str) -> str:
    """Strip Markdown syntax (images, URLs, emphasis, list and quote marks, rules), line by line."""
    return "\n".join(map(_plain_line, text.splitlines()))


def markdown_blocks(text: str) -> tuple[TextBlock, ...]:
    """Headings and paragraphs in order, one paragraph per line. A short bold line is a heading of the lowest level."""
    return tuple(block for line in text.splitlines() if (block := _block(line)).text)


def without_title(blocks: Sequence[TextBlock], title: str) -> tuple[TextBlock, ...]:
    """Remove an opening heading that is the title: it has the title's name, or is the only first-level heading."""
    if not blocks or not blocks[0].level:
        return tuple(blocks)
    only = blocks[0].level == 1 and sum(block.level == 1 for block in blocks) == 1
    return tuple(blocks[1:] if only or folded_title(blocks[0].text) == folded_title(title) else blocks)


def _block(line: str) -> TextBlock:
    if found := _ATX.match(line):
        return TextBlock(plain_text(_plain_line(found[2])), len(found[1]))
    bold = _BOLD_LINE.match(line)
    if bold and len(bold[1].split()) <= _LONGEST_BOLD:
        return TextBlock(plain_text(_plain_line(bold[1])).rstrip(":"), _LEVEL_OF_BOLD)
    return TextBlock(plain_text(_plain_line(line)))


def _plain_line(line: str) -> str:
    if _RULE.match(line):
        return ""
    line = _LIST_MARK.sub("", _QUOTE.sub("", line))
    if "](" in line or "![" in line:
        line = _LINK.sub(r"\1", _LINK.sub(r"\1", _IMAGE.sub("", line)))  # twice, for images inside links
    if "<" in line:
        line = _TAG.sub("", line)
    if _MARKS.search(line):
        line = _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", line))
    if line.lstrip().startswith("|"):
        line = " ".join(cell.strip() for cell in line.strip().strip("|").split("|"))
    return _ESCAPE.sub(r"\1", line).strip()
