"""From headings with levels, and paragraphs between them, to the tree that they make."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from storm_pipeline.types import Paragraph, Section


@dataclass(frozen=True)
class Block:
    """A heading of a level from 1 on, or, of level 0, a paragraph. Plain text on one line, never empty."""

    text: str
    level: int = 0


@dataclass(frozen=True)
class Headed:
    """A heading, the paragraphs under it, and the headings below it, in order. The root has an empty heading."""

    heading: str
    paragraphs: tuple[str, ...] = ()
    subsections: tuple["Headed", ...] = ()


def headed(blocks: Iterable[Block]) -> Headed:
    """The tree of blocks; what stands before the first heading belongs to the root."""
    return _taken(Block("", -1), deque(blocks))


def _taken(own: Block, remaining: deque[Block]) -> Headed:
    """The tree under a heading; takes its blocks from the front of those that remain."""
    paragraphs: list[str] = []
    below: list[Headed] = []
    while remaining and (not remaining[0].level or remaining[0].level > own.level):
        block = remaining.popleft()
        if block.level:
            below.append(_taken(block, remaining))
        else:
            paragraphs.append(block.text)
    return Headed(own.text, tuple(paragraphs), tuple(below))


def paragraphs_of(part: Headed, read: Callable[[str], Paragraph]) -> tuple[Paragraph, ...]:
    """The paragraphs under a heading, those of its subsections not included, without those that hold no sentence."""
    return tuple(paragraph for text in part.paragraphs if (paragraph := read(text)).sentences)


def section_of(part: Headed, read: Callable[[str], Paragraph]) -> Section:
    """A part of the tree as a section of an article.

    Args:
        part: with a heading.
        read: from the text of a paragraph to its sentences.
    """
    return Section(
        part.heading, paragraphs_of(part, read), tuple(section_of(below, read) for below in part.subsections)
    )
