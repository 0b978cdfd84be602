"""The judge that scores by similarity."""

import pytest

from storm_bench.judges.screen import SimilarityJudge
from storm_pipeline.evidence.judges.base import Question
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder

PASSAGE = "The Orrin Dam was built between 1931 and 1936. Selby took in 400 families who lost their farms."
EMBEDDER = HashingEmbedder()


def chance(claim: str, *passages: str) -> float:
    (verdict,) = SimilarityJudge(EMBEDDER).judge([Question(claim, passages or (PASSAGE,))])
    return verdict.probability


def test_a_quantity_that_no_passage_has_halves_the_probability() -> None:
    right, wrong = (chance(f"The Orrin Dam was built between 1931 and {year}.") for year in (1936, 1940))
    assert wrong < right / 2 + 0.1
    assert chance(PASSAGE) == pytest.approx(1.0, abs=0.01)
    assert chance("nothing of this") < 0.3


def test_passages_support_a_claim_together() -> None:
    screen = SimilarityJudge(EMBEDDER)
    claim = "The Orrin Dam was built between 1931 and 1936, and Selby took in 400 families."
    first, second = PASSAGE.split(" Selby")
    both, one = screen.judge([Question(claim, (first, f"Selby{second}")), Question(claim, (first,))])
    assert both.probability > one.probability
