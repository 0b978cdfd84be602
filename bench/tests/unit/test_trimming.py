"""An article cut to a number of words from its shortest sections on."""

from articles import section
from hypothesis import given
from hypothesis import strategies as st
from scored_articles import case

from storm_bench.trimming import SectionText, as_text, parts_of, trimmed
from storm_pipeline.types import Sentence


def words(n: int) -> str:
    return " ".join(["word"] * n) + "."


def test_the_shortest_section_goes_first_sentence_by_sentence() -> None:
    parts = (
        SectionText(0, "", (("one.",),)),
        SectionText(1, "Long", ((words(10), words(10)),)),
        SectionText(1, "Short", ((words(3), words(2)), (words(4),))),
    )
    cut = trimmed(parts, 25)
    assert cut[:2] == parts[:2]
    assert cut[2] == SectionText(1, "Short", ((words(3),),), shortened=True)
    assert sum(part.length for part in trimmed(parts, 20)) == 11
    assert [part.length for part in trimmed(parts, 0)] == [0, 0, 0]


def test_of_equally_short_sections_the_last_is_cut() -> None:
    parts = (SectionText(1, "A", ((words(4),),)), SectionText(1, "B", ((words(4),),)))
    assert [part.length for part in trimmed(parts, 5)] == [4, 0]


def test_an_article_as_text() -> None:
    judged = case(
        section("History", "It is old.", "Very.", below=(section("Dam", "Built in 1931."),)),
        lead=(Sentence("A lake."),),
    )
    parts = parts_of(judged.article)
    assert [(part.level, part.heading) for part in parts] == [(0, ""), (1, "History"), (2, "Dam")]
    assert as_text(parts) == "A lake.\n\n# History\n\nIt is old. Very.\n\n## Dam\n\nBuilt in 1931."
    assert as_text(trimmed(parts, 7)) == "A lake.\n\n# History\n\nIt is old. Very.\n\n## Dam\n\n[shortened here]"
    assert parts_of(case(section("Empty")).article) == (SectionText(1, "Empty"),)


_parts = st.lists(
    st.builds(
        SectionText,
        level=st.integers(1, 3),
        heading=st.sampled_from(["A", "B"]),
        paragraphs=st.lists(st.lists(st.integers(0, 9).map(words), min_size=1, max_size=3).map(tuple), max_size=3).map(
            tuple
        ),
    ),
    max_size=6,
)


def flat(part: SectionText) -> list[str]:
    return [own for paragraph in part.paragraphs for own in paragraph]


@given(_parts, st.integers(0, 120))
def test_properties(parts: list[SectionText], budget: int) -> None:
    cut = trimmed(parts, budget)
    total = sum(part.length for part in parts)
    assert sum(part.length for part in cut) <= budget
    assert [(part.level, part.heading) for part in cut] == [(part.level, part.heading) for part in parts]
    for before, after in zip(parts, cut, strict=True):
        assert flat(before)[: len(flat(after))] == flat(after)
        assert after.shortened == (flat(after) != flat(before))
    if total <= budget:
        assert cut == tuple(parts)
    assert sum(1 for part in cut if part.shortened and part.length) <= 1
    assert trimmed(cut, budget) == cut
