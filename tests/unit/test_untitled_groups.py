"""Headings for articles that are written without an outline."""

from collections.abc import Mapping
from typing import Any

from contexts import run
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.types import Citation, Paragraph, Sentence
from storm_pipeline.writers.small.headings import even_groups, with_headings

TEXTS = ["It rose in 1950.", "It fell in 1960.", "Eels live there.", "Trout live there."]
PARAGRAPHS = [Paragraph((Sentence(text, (Citation("a", "b"),)),)) for text in TEXTS]


@given(st.integers(0, 40), st.integers(1, 9))
def test_groups_are_even_and_keep_all_paragraphs_in_order(number: int, most: int) -> None:
    paragraphs = [Paragraph((Sentence(str(i)),)) for i in range(number)]
    groups = even_groups(paragraphs, most)
    assert [paragraph for group in groups for paragraph in group] == paragraphs
    assert len(groups) == min(number, most)
    sizes = [len(group) for group in groups]
    assert not sizes or max(sizes) - min(sizes) <= 1


def test_a_group_without_a_usable_heading_joins_what_is_before_it_and_equal_headings_are_one_section() -> None:
    suggested = {"rose": "Orrin Dam", "fell": "Decay", "Eels": "animals", "Trout": "Animals"}

    def name(inputs: Mapping[str, Any]) -> dict[str, str]:
        return {"heading": next(heading for word, heading in suggested.items() if word in inputs["sentences"])}

    with run([], {"NameSection": name}) as (ctx, _):
        body = with_headings(ctx, "Orrin Dam", [[own] for own in PARAGRAPHS])
    assert body.lead == (PARAGRAPHS[0],)
    assert [(own.heading.casefold(), own.paragraphs) for own in body.sections] == [
        ("decay", (PARAGRAPHS[1],)),
        ("animals", (PARAGRAPHS[2], PARAGRAPHS[3])),
    ]
