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

    @classmethod
    def of_blocks(cls, blocks: Iterable[TextBlock]) -> "HeadingNode":
        """The tree of blocks; paragraphs before the first heading belong to the root."""
        return _consume(TextBlock("", -1), deque(blocks))

    @classmethod
    def of_markdown(cls, text: str, title: str) -> "HeadingNode":
        """The tree of a text without its title, one paragraph per line."""
        from storm_pipeline.documents.articles.markdown_blocks import markdown_blocks, without_title

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
