"""Citations that a rewording leaves without purpose."""

from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.references.verbatim import reworded
from storm_pipeline.types import Citation, Sentence

SNIPPETS = {
    "alga": "Researchers followed the trail of a toxic alga by 17 August 2022.",
    "name": "The Leibniz Institute for Freshwater Ecology (IGB) lies in Berlin.",
    "both": "Researchers of the Leibniz Institute followed an alga.",
    "german": "Im Fluss lebten zehn Arten von Muscheln.",
    "count": "There were ten kinds of mussels.",
}
WORDS = "researchers Leibniz Institute alga toxic 17 August 2022 ten mussels Arten of the a followed zehn".split()


def cited(text: str, *ids: str) -> Sentence:
    return Sentence(text, tuple(Citation(f"page-{own}", own) for own in ids))


def kept(sentence: Sentence, text: str) -> list[str]:
    after = reworded(sentence, text, SNIPPETS, "en")
    assert after.text == text
    return [citation.snippet_id for citation in after.citations]


def test_the_source_of_what_was_removed_goes() -> None:
    before = cited("By 17 August 2022 researchers of the Leibniz Institute followed an alga.", "alga", "name")
    assert kept(before, "By 17 August 2022 researchers of the IGB followed an alga.") == ["alga", "name"]
    assert kept(before, "By 17 August 2022 researchers followed an alga.") == ["alga"]


def test_a_source_that_supports_what_stays_is_kept() -> None:
    before = cited("Researchers of the Leibniz Institute followed a toxic alga.", "both", "alga")
    assert kept(before, "Researchers followed a toxic alga.") == ["alga"]
    assert kept(before, "The Leibniz Institute followed a toxic alga.") == ["both", "alga"]


def test_a_source_in_another_language_or_an_unknown_one_is_kept() -> None:
    before = cited("Ten kinds of mussels and an alga lived there.", "german", "alga", "unknown")
    assert kept(before, "Ten kinds of mussels lived there.") == ["german", "unknown"]


def test_the_only_source_of_a_number_is_kept() -> None:
    before = cited("The researchers of the institute counted 10 of them.", "count", "both")
    assert "count" in kept(before, "They counted 10 of them.")


@given(
    st.lists(st.sampled_from(WORDS), min_size=1).map(" ".join),
    st.lists(st.sampled_from(WORDS), min_size=1).map(" ".join),
    st.lists(st.sampled_from([*SNIPPETS, "unknown"]), unique=True),
)
def test_citations_only_go_and_never_all(before: str, after: str, ids: list[str]) -> None:
    left = kept(cited(before, *ids), after)
    assert left == [own for own in ids if own in left]
    assert bool(left) == bool(ids)


@given(
    st.lists(st.sampled_from(WORDS), min_size=1).map(" ".join), st.lists(st.sampled_from(list(SNIPPETS)), unique=True)
)
def test_nothing_goes_without_a_change(text: str, ids: list[str]) -> None:
    assert kept(cited(text, *ids), text) == ids
