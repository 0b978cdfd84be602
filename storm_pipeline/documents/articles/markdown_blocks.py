"""Parses Markdown as written by language models and page readers into headings and plain-text paragraphs.

Not a full Markdown parser. Tables, code and lists are kept as text; raw HTML is removed.
"""

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from storm_pipeline.documents.plain import plain_text
from storm_pipeline.sources.ground_truth import folded_title
from storm_pipeline.types import Paragraph, Section

_IMAGE = re.compile(r"!\[[^\]]{0,1000}\](?:\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\s*\)|\[[^\]]*\])")
_LINK = re.compile(r"\[([^\[\]]{0,1000})\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\s*\)")
_TAG = re.compile(r"(?<!\\)</?[a-z][^<>\n]*>", re.I)
_EMPHASIS = re.compile(r"(?<!\\)(\*{2,3}|(?<![A-Za-z\d])\*|(?<!\w)_{1,3}|`{1,3})(?=\S)(.{1,300}?)(?<=\S)\1(?!\w)")
_MARKS = re.compile(r"[*_`]")
_MOST_MARKS = 1000
"""A line with more marks of emphasis keeps them: it is no prose, and looking for their ends takes long."""
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s*)?")
_STARTS_PARAGRAPH = re.compile(rf"{_LIST_MARK.pattern}|^\s*[>|]")
_QUOTE = re.compile(r"^\s*(?:>\s?)+")
_RULE = re.compile(r"^[\s|:=*_-]*$")
_ATX = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$")
_BOLD_LINE = re.compile(r"^\s*(?:\*\*|__)([^*_]+?)(?:\*\*|__):?\s*$")
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
        """The tree of blocks; paragraphs before the first heading belong to the root."""
        return _consume(TextBlock("", -1), deque(blocks))

    @classmethod
    def of_markdown(cls, text: str, title: str) -> "HeadingNode":
        """The tree of a text without its title, one paragraph per line."""
        return cls.of_blocks(without_title(markdown_blocks(text), title))

    def read(self, read: Callable[[str], Paragraph]) -> tuple[tuple[Paragraph, ...], tuple[Section, ...]]:
        """The non-empty paragraphs directly under the heading, and the sections below it; ``read`` parses a text."""
        paragraphs = tuple(paragraph for text in self.paragraphs if (paragraph := read(text)).sentences)
        return paragraphs, tuple(Section(part.heading, *part.read(read)) for part in self.subsections)


def _consume(own: TextBlock, remaining: deque[TextBlock]) -> HeadingNode:
    """Build the tree under a heading, consuming its blocks from the queue."""
    paragraphs: list[str] = []
    below: list[HeadingNode] = []
    while remaining and (not remaining[0].level or remaining[0].level > own.level):
        block = remaining.popleft()
        if block.level:
            below.append(_consume(block, remaining))
        else:
            paragraphs.append(block.text)
    return HeadingNode(own.text, tuple(paragraphs), tuple(below))


def plain_markdown(text: str) -> str:
    """Strip Markdown syntax (images, URLs, emphasis, list and quote marks, rules), line by line."""
    return "\n".join(map(_plain_line, text.splitlines()))


def markdown_blocks(text: str) -> tuple[TextBlock, ...]:
    """Headings and paragraphs in order, one paragraph per line. A short bold line is a heading of the lowest level."""
    return tuple(block for line in text.splitlines() if (block := markdown_block(line)).text)


def paragraph_blocks(text: str) -> tuple[TextBlock, ...]:
    """As :func:`markdown_blocks`, but lines without a blank one between them are one paragraph, as Markdown has it.

    The lines of a paragraph stay apart. List items, quotations and rows of tables are paragraphs of their own.
    """
    blocks: list[tuple[int, list[str]]] = []
    continues = False
    for line in text.splitlines():
        block = markdown_block(line)
        if not block.text:
            continues = False
        elif continues and not block.level and not _STARTS_PARAGRAPH.match(line):
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
    """A line as a heading or plain text; its text is empty where only marks stand."""
    if found := _ATX.match(line):
        return TextBlock(plain_text(_plain_line(found[2])), len(found[1]))
    bold = _BOLD_LINE.match(line)
    if bold and len(bold[1].split()) <= _LONGEST_BOLD:
        return TextBlock(plain_text(_plain_line(bold[1])).rstrip(":"), _LEVEL_OF_BOLD)
    return TextBlock(plain_text(_plain_line(line)))


def _plain_line(line: str) -> str:
    if not line or line.isspace() or _RULE.match(line):
        return ""
    line = _LIST_MARK.sub("", _QUOTE.sub("", line))
    if "](" in line or "![" in line:
        line = _LINK.sub(r"\1", _LINK.sub(r"\1", _IMAGE.sub("", line)))  # twice, for images inside links
    if "<" in line:
        line = _TAG.sub("", line)
    if ("*" in line or "_" in line or "`" in line) and len(_MARKS.findall(line)) <= _MOST_MARKS:
        line = _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", line))
    if line.lstrip().startswith("|"):
        line = " ".join(cell.strip() for cell in line.strip().strip("|").split("|"))
    return (_ESCAPE.sub(r"\1", line) if "\\" in line else line).strip()
