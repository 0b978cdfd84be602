"""The small judge: what it knows, what it does not, and what holds for every claim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline import Settings
from storm_pipeline.judges.base import Question
from storm_pipeline.judges.mismatches import mismatches
from storm_pipeline.judges.opening import open_judge
from storm_pipeline.judges.small import FEATURES, SmallJudge

PASSAGE = (
    "The Orrin Dam stands near Selby. It was built between 1931 and 1936 by two thousand men of the Orrin Company, and "
    "it has 41 gates. Some villages were flooded."
)
TRUE = "The Orrin Dam near Selby was built between 1931 and 1936 by the Orrin Company."
WRONG = {
    "year": "The Orrin Dam near Selby was built between 1931 and 1947 by the Orrin Company.",
    "number": "The Orrin Dam near Selby, which has 42 gates, was built by the Orrin Company.",
    "name": "The Valmere Dam near Brae was built between 1931 and 1936 by the Tarn Company.",
    "denial": "The Orrin Dam near Selby was not built between 1931 and 1936 by the Orrin Company.",
    "another subject": "Smoked char is eaten at weddings with boiled barley and sour cream.",
}


def chance(claim: str, *passages: str) -> float:
    (verdict,) = SmallJudge().judge([Question(claim, passages or (PASSAGE,))])
    assert verdict.label == ("supported" if verdict.probability >= 0.5 else verdict.label)
    return verdict.probability


@pytest.mark.parametrize("claim", WRONG.values(), ids=WRONG)
def test_what_no_passage_says_is_doubted(claim: str) -> None:
    assert chance(TRUE) >= 0.5 > chance(claim)


def test_names_of_the_same_passage_that_are_swapped_are_not_known() -> None:
    assert chance("The Orrin Company near Selby was built between 1931 and 1936 by the Orrin Dam.") >= 0.5


def test_across_languages_figures_alone_count() -> None:
    german = "Der Damm von Orrin bei Selby wurde zwischen 1931 und 1936 von zweitausend Arbeitern der Firma gebaut."
    assert chance(TRUE, german) >= 0.5
    assert chance(WRONG["year"], german) < chance(TRUE, german)
    assert mismatches(Question(WRONG["denial"], (german,))).denied == 0


def test_across_languages_figures_are_looked_for_in_all_of_the_passages_in_their_language() -> None:
    claim = "About thirty men were arrested on 25 April 2011, and 500 houses fell."
    french = (
        "Un long récit de la région, de ses rivières et de ses habitants. " * 12,
        "Une trentaine d'hommes ont été arrêtés le 25 avril 2011, et 500 maisons sont tombées.",
    )
    assert mismatches(Question(claim, french)).figures == 0
    assert chance(claim, *french) >= 0.5 > chance(claim.replace("500", "700"), *french)


def test_links_stress_and_order_are_looked_for_in_the_nearest_sentences() -> None:
    found = mismatches(Question("All villages were flooded after 1936 because of the dam.", (PASSAGE,)))
    assert (found.linked > 0, found.ordered > 0, found.stressed > 0) == (True, True, True)
    found = mismatches(Question("Some villages were flooded.", (PASSAGE,)))
    assert (found.words, found.linked, found.ordered, found.stressed) == (0, 0, 0, 0)


def test_it_is_opened_by_name_and_explains_itself() -> None:
    judge = open_judge("small", Settings())
    (verdict,) = judge.judge([Question(WRONG["year"], (PASSAGE,))])
    assert "1947" in verdict.reason
    assert verdict.spans
    assert judge.name == "small"
    assert set(judge.parameters) == {"threshold", "bias", *FEATURES}
    assert open_judge("small", Settings(), threshold=0.9).threshold == 0.9


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=3))
def test_every_question_gets_a_verdict_of_its_own(claim: str, passages: list[str]) -> None:
    question, other = Question(claim, tuple(passages)), Question(TRUE, (PASSAGE,))
    alone, together = SmallJudge().judge([question]), SmallJudge().judge([other, question])
    assert alone[0] == together[1]
    assert 0 <= alone[0].probability <= 1
    assert all(0 <= value <= 1 for value in vars(mismatches(question)).values())


def test_without_words_nothing_is_supported() -> None:
    assert [chance("", PASSAGE), chance(TRUE, "", "…")] == [0, 0]
