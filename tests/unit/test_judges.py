"""Judges of support: the screen, the judge that remembers, and the deciding words."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import SettingsError
from storm_pipeline.judges.base import CachingJudge, Parameters, Question, Span, Verdict, label_of
from storm_pipeline.judges.opening import open_judge
from storm_pipeline.judges.screen import ScreenJudge
from storm_pipeline.judges.spans import ExplainingJudge, deciding, lacking, quoted
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.settings import Settings

PASSAGE = "The Orrin Dam was built between 1931 and 1936. Selby took in 400 families who lost their farms."
EMBEDDER = HashingEmbedder()


def chance(claim: str, *passages: str) -> float:
    (verdict,) = ScreenJudge(EMBEDDER).judge([Question(claim, passages or (PASSAGE,))])
    return verdict.probability


def test_a_quantity_that_no_passage_has_halves_the_probability() -> None:
    right, wrong = (chance(f"The Orrin Dam was built between 1931 and {year}.") for year in (1936, 1940))
    assert wrong < right / 2 + 0.1
    assert chance(PASSAGE) == pytest.approx(1.0, abs=0.01)
    assert chance("nothing of this") < 0.3


def test_meaning_is_that_of_the_best_part_of_a_long_passage() -> None:
    padding = " ".join(f"Sentence {i} speaks of quite other matters here." for i in range(60))
    claim = "Selby took in 400 families who lost their farms."
    found = chance(claim, f"{padding} {PASSAGE} {padding}")
    assert chance(claim) > found > 0.5 > chance(claim, padding)


def test_passages_support_a_claim_together() -> None:
    screen = ScreenJudge(EMBEDDER)
    claim = "The Orrin Dam was built between 1931 and 1936, and Selby took in 400 families."
    first, second = PASSAGE.split(" Selby")
    both, one = screen.judge([Question(claim, (first, f"Selby{second}")), Question(claim, (first,))])
    assert both.probability > one.probability


def test_labels_of_probabilities() -> None:
    assert [label_of(p, 0.6) for p in (1.0, 0.6, 0.59, 0.3, 0.29, 0.0)] == [
        *["supported"] * 2,
        *["partly"] * 2,
        *["not"] * 2,
    ]


_texts = st.one_of(
    st.sampled_from(["", "…", PASSAGE, "In 1931.", "ein Satz", "大坝建于1931年。"]), st.text(max_size=40)
)
_questions = st.builds(Question, _texts, st.lists(_texts, max_size=3).map(tuple))


@given(st.lists(_questions, max_size=5))
def test_verdicts_have_probabilities_and_do_not_depend_on_the_batch(questions: list[Question]) -> None:
    screen = ScreenJudge(EMBEDDER)
    found = [verdict.probability for verdict in screen.judge(questions)]
    assert all(0 <= probability <= 1 for probability in found)
    assert found == pytest.approx([screen.judge([question])[0].probability for question in questions])
    empty = [Question("A claim.", ("", "…")), Question("A claim.", ()), Question("", (PASSAGE,))]
    assert screen.judge(empty) == [Verdict("not", 0.0)] * 3


class LengthJudge:
    """Supports claims by the length of their passages, and keeps what it is asked."""

    name, threshold = "length", 0.5

    def __init__(self) -> None:
        self.parameters: Parameters = {"threshold": 0.5}
        self.asked: list[Question] = []

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        self.asked += questions
        scores = (sum(map(len, one.passages)) % 7 / 7 for one in questions)
        return [Verdict(label_of(score, self.threshold), score) for score in scores]


@given(st.lists(st.lists(_questions, max_size=6), max_size=4))
def test_a_judge_that_remembers_gives_equal_verdicts_and_asks_once(batches: list[list[Question]]) -> None:
    judge = LengthJudge()
    remembering = CachingJudge.of(judge)
    assert CachingJudge.of(remembering) is remembering
    assert (remembering.name, remembering.threshold, remembering.parameters) == ("length", 0.5, {"threshold": 0.5})
    for batch in batches:
        assert remembering.judge(batch) == LengthJudge().judge(batch)
    assert len(judge.asked) == len(set(judge.asked))
    assert set(judge.asked) == {question for batch in batches for question in batch}


@given(_questions)
def test_spans_resolve_to_words_of_the_passages(question: Question) -> None:
    found = [*deciding(question), *quoted(question, question.claim)]
    assert all(question.passages[span.passage][span.start : span.end].strip() for span in found)
    assert all(0 <= span.start < span.end for span in found)


def test_the_sentences_with_a_claims_words_decide() -> None:
    claim = "Selby took in 400 families, and the dam was built between 1931 and 1936."
    question = Question(claim, ("Char is eaten smoked.", f"{PASSAGE} It rained."))
    spans = deciding(question)
    assert [question.passages[span.passage][span.start : span.end] for span in spans] == [
        "The Orrin Dam was built between 1931 and 1936.",
        "Selby took in 400 families who lost their farms.",
    ]
    assert deciding(Question("Char", (PASSAGE,))) == ()


def test_a_quotation_is_found_in_spite_of_white_space_and_case() -> None:
    question = Question("", ("Nothing.", "The Orrin\n Dam was built"))
    assert quoted(question, "orrin  dam") == (Span(1, 4, 14),)
    assert quoted(question, "orrin river") == quoted(question, " ") == ()


def test_an_explaining_judge_adds_spans_and_what_lacks() -> None:
    judge = ExplainingJudge(LengthJudge())
    wrong = Question("The dam was built in 1940.", (PASSAGE,))
    (verdict,) = judge.judge([wrong])
    assert verdict.spans == deciding(wrong)
    assert (verdict.label == "supported") != bool(verdict.reason)
    assert lacking(wrong) == "“1940” not found"
    assert lacking(Question("The dam was built from 1931.", (PASSAGE,))) == ""


@pytest.mark.slow
def test_judges_are_opened_by_name(tmp_path: Path) -> None:
    settings = Settings.build({"cache": tmp_path})
    judge = open_judge("screen", settings, embedder=EMBEDDER, threshold=0.4)
    assert (judge.name, judge.threshold) == ("screen:hashing-128", 0.4)
    (verdict,) = judge.judge([Question("Selby took in 400 families.", (PASSAGE,))])
    assert PASSAGE[verdict.spans[0].start :] == "Selby took in 400 families who lost their farms."
    (tmp_path / "empty").mkdir()
    with pytest.raises(SettingsError, match="cannot be loaded as a cross-encoder"):
        open_judge(str(tmp_path / "empty"), settings).judge([Question("One.", ("One.",))])
    with pytest.raises(SettingsError, match=r"'judge' cannot be 'small' \(--judge\).* use screen, model, or"):
        Settings.build({"judge": "small"})
