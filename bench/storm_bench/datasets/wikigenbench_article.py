"""Reconstructs the human article of a WikiGenBench page from its two incomplete representations.

``text`` has clean sentences, but its headings are unmarked lines; ``outlines`` and ``contents`` have headings with
levels (one first-level heading each, ``### `` and deeper inside), but words run together at links, and lists and tables
are missing. So headings come from the latter and text from the former.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storm_bench.types import HumanSection
from storm_pipeline.api import folded_words, overlap
from storm_pipeline.output.articles.markdown_blocks import HeadingNode, TextBlock

_SUBHEADING = re.compile(r"(#{3,6}) +(.*)")
_RUN_TOGETHER = re.compile(r"(?<=[a-z\d)\]][.,;:!?])(?=[A-Z])")
_SAME_TEXT = 0.3
_FIRST_LEVEL = 2


@dataclass
class _Node:
    """A heading with its wikitext level (2 for a section) and its own text."""

    heading: str
    level: int
    rest: str
    text: str = ""


def article_tree(text: str, outlines: Sequence[str], contents: Sequence[str]) -> tuple[str, tuple[HumanSection, ...]]:
    """Return the lead and the sections, including back matter.

    A heading missing from the text (the two come from different revisions) gets its text from ``contents``, unless most
    of that occurs elsewhere in the text. ``outlines``: first-level headings, words joined by underscores.
    """
    nodes = [node for heading, rest in zip(outlines, contents, strict=False) for node in _nodes(heading, rest)]
    lines = text.splitlines()
    starts = list(_heading_lines(lines, nodes))
    lead = _paragraphs(lines[: next((start for start in starts if start is not None), len(lines))])
    for i, (node, start) in enumerate(zip(nodes, starts, strict=True)):
        if start is not None:
            end = next((later for later in starts[i + 1 :] if later is not None), len(lines))
            node.text = _paragraphs(lines[start + 1 : end])
        elif overlap(node.rest, text) < _SAME_TEXT:
            node.text = _paragraphs(_RUN_TOGETHER.sub(" ", node.rest).splitlines())
    blocks = (block for node in nodes for block in (TextBlock(node.heading, node.level), TextBlock(node.text)))
    return lead, _sections(HeadingNode.of_blocks(blocks))


def _nodes(heading: str, rest: str) -> Iterator[_Node]:
    node = _Node(_spaced(heading), _FIRST_LEVEL, "")
    for line in rest.splitlines():
        if found := _SUBHEADING.match(line):
            yield node
            node = _Node(_spaced(found[2]), len(found[1]), "")
        else:
            node.rest += line + "\n"
    yield node


def _heading_lines(lines: Sequence[str], nodes: Sequence[_Node]) -> Iterator[int | None]:
    """Yield for each heading, in order, the index of its line in the text; None if no later line matches."""
    names = ["".join(folded_words(line)) for line in lines]
    position = 0
    for node in nodes:
        name = "".join(folded_words(node.heading))
        found = names.index(name, position) if name and name in names[position:] else None
        if found is not None:
            position = found + 1
        yield found


def _sections(part: HeadingNode) -> tuple[HumanSection, ...]:
    below = part.subsections
    return tuple(HumanSection(own.heading, own.paragraphs[0], _sections(own)) for own in below if own.heading)


def _paragraphs(lines: Sequence[str]) -> str:
    return "\n\n".join(paragraph for line in lines if (paragraph := _spaced(line)))


def _spaced(text: str) -> str:
    return " ".join(text.replace("_", " ").split())
