"""Markdown down to headings and plain text, and the tree that they make."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.output.articles.markdown_blocks import (
    HeadingNode,
    TextBlock,
    markdown_blocks,
    plain_markdown,
    without_title,
)


def test_headings_and_paragraphs() -> None:
    text = "# Lake Orrin #\n\nA lake.\n---\n## *History*\nIt was dug.\n**Later years:**\nIt grew.\n**It** stayed."
    assert markdown_blocks(text) == (
        *(TextBlock("Lake Orrin", 1), TextBlock("A lake."), TextBlock("History", 2), TextBlock("It was dug.")),
        *(TextBlock("Later years", 7), TextBlock("It grew."), TextBlock("It stayed.")),
    )


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("# Lake Orrin\nA lake.", "A lake."),
        ("## lake orrin\nA lake.\n## History", "A lake."),
        ("# Orrin, a lake\nA lake.\n## History", "A lake."),
        ("# Overview\nA lake.\n# History", "Overview"),
        ("A lake.\n# Lake Orrin", "A lake."),
    ],
)
def test_an_opening_title_is_no_section(text: str, first: str) -> None:
    assert without_title(markdown_blocks(text), "Lake Orrin")[0].text == first


BLOCKS = st.lists(st.builds(TextBlock, st.sampled_from("abc"), st.integers(0, 7)), max_size=30)


@given(BLOCKS)
def test_a_tree_holds_every_block_in_order(blocks: list[TextBlock]) -> None:
    def walk(part: HeadingNode, level: int) -> list[tuple[str, bool]]:
        found = [(part.heading, True)] if level else []
        found += [(text, False) for text in part.paragraphs]
        return found + [one for below in part.subsections for one in walk(below, level + 1)]

    assert walk(HeadingNode.of_blocks(blocks), 0) == [(block.text, block.level > 0) for block in blocks]


@given(st.text('ab1 #*_`[]()!<>|\\-\n"', max_size=80))
def test_no_text_breaks_the_reading(text: str) -> None:
    for block in markdown_blocks(text):
        assert block.text == " ".join(block.text.split()) != ""
    assert len(plain_markdown(text).split("\n")) <= max(1, len(text.split("\n")))
