"""Judges of support as the bench asks them: pairs of a passage and a claim in, scores out."""

from collections.abc import Sequence
from dataclasses import dataclass

from storm_pipeline.evidence.judges.base import Judge, Question


@dataclass(frozen=True)
class Pair:
    """A passage and a claim, both plain text without citation markers."""

    passage: str
    claim: str

    @property
    def question(self) -> Question:
        """As judges are asked."""
        return Question(self.claim, (self.passage,))


def scores_of(judge: Judge, pairs: Sequence[Pair]) -> list[float]:
    """Return a judge's probability that each passage supports its claim, in [0, 1], in order."""
    return [verdict.probability for verdict in judge.judge([pair.question for pair in pairs])]


def supported_by(judge: Judge, pairs: Sequence[Pair]) -> list[bool]:
    """Return whether each pair's score reaches the judge's threshold."""
    return [score >= judge.threshold for score in scores_of(judge, pairs)]
