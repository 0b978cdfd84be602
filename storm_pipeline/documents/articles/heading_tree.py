"""Builds a tree from a flat list of headings with levels and paragraphs."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from storm_pipeline.types import Paragraph, Section


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


def build_tree(blocks: Iterable[TextBlock]) -> HeadingNode:
    """Build the tree of blocks; paragraphs before the first heading belong to the root."""
    return _consume(TextBlock("", -1), deque(blocks))


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


def paragraphs_of(part: HeadingNode, read: Callable[[str], Paragraph]) -> tuple[Paragraph, ...]:
    """The non-empty paragraphs directly under a heading."""
    return tuple(paragraph for text in part.paragraphs if (paragraph := read(text)).sentences)


def section_of(part: HeadingNode, read: Callable[[str], Paragraph]) -> Section:
    """Convert a node and its subsections to an article section.

    Args:
        part: a node with a heading.
        read: parses a paragraph's text.
    """
    return Section(
        part.heading, paragraphs_of(part, read), tuple(section_of(below, read) for below in part.subsections)
    )
