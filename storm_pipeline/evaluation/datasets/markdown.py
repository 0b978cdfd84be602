"""Markdown as language models and page readers write it: headings and paragraphs of plain text.

Not a whole Markdown parser. Tables, code and lists stay as their text; raw HTML goes.
"""

import re
from collections.abc import Sequence

from storm_pipeline.documents.plain import plain_text
from storm_pipeline.evaluation.datasets.headed import Block
from storm_pipeline.sources.mirrors import folded_title

_IMAGE = re.compile(r"!\[[^\]]{0,1000}\](?:\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\s*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\[\]]{0,1000})\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\s*\)")
_TAG = re.compile(r"</?[a-z][^<>\n]*>", re.I)
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
"""Words of a bold line that stands for a heading; a longer one is a sentence."""


def plain_markdown(text: str) -> str:
    """The text without images, addresses, emphasis, marks of lists and quotations, and rules; a line stays a line."""
    return "\n".join(map(_plain_line, text.splitlines()))


def markdown_blocks(text: str) -> tuple[Block, ...]:
    """Headings and paragraphs in order, a line a paragraph. A short line of bold type is a heading below all others."""
    return tuple(block for line in text.splitlines() if (block := _block(line)).text)


def without_title(blocks: Sequence[Block], title: str) -> tuple[Block, ...]:
    """The blocks without an opening heading that is the title: of this name, or the only one of the first level."""
    if not blocks or not blocks[0].level:
        return tuple(blocks)
    only = blocks[0].level == 1 and sum(block.level == 1 for block in blocks) == 1
    return tuple(blocks[1:] if only or folded_title(blocks[0].text) == folded_title(title) else blocks)


def _block(line: str) -> Block:
    if found := _ATX.match(line):
        return Block(plain_text(_plain_line(found[2])), len(found[1]))
    bold = _BOLD_LINE.match(line)
    if bold and len(bold[1].split()) <= _LONGEST_BOLD:
        return Block(plain_text(_plain_line(bold[1])).rstrip(":"), _LEVEL_OF_BOLD)
    return Block(plain_text(_plain_line(line)))


def _plain_line(line: str) -> str:
    if _RULE.match(line):
        return ""
    line = _LIST_MARK.sub("", _QUOTE.sub("", line))
    if "](" in line or "![" in line:
        line = _LINK.sub(r"\1", _LINK.sub(r"\1", _IMAGE.sub("", line)))  # twice: a link may have stood around an image
    if "<" in line:
        line = _TAG.sub("", line)
    if _MARKS.search(line):
        line = _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", line))
    if line.lstrip().startswith("|"):
        line = " ".join(cell.strip() for cell in line.strip().strip("|").split("|"))
    return _ESCAPE.sub(r"\1", line).strip()
