"""Judges of support as the bench asks them: pairs of a passage and a claim in, scores out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from storm_bench.caching import BatchCache
from storm_pipeline.evidence.judges.base import Judge, Question, Verdict

Parameters = Mapping[str, str | int | float]
"""The parameters of a judge's verdicts: model, threshold, hash of the prompt. Printed with its figures."""
_CACHED = 20_000  # cached verdicts: about those of a hundred articles


class ScoringJudge(Judge, Protocol):
    """A judge whose probabilities are scores; ``threshold``: the minimum of a supported claim, in [0, 1]."""

    @property
    def threshold(self) -> float: ...  # noqa: D102

    @property
    def parameters(self) -> Parameters: ...  # noqa: D102


@dataclass(frozen=True)
class Pair:
    """A passage and a claim, both plain text without citation markers."""

    passage: str
    claim: str

    @property
    def question(self) -> Question:
        """As judges are asked."""
        return Question(self.claim, (self.passage,))


class CachingJudge:
    """A judge that caches another one's latest verdicts and asks it in one thread at a time."""

    def __init__(self, judge: ScoringJudge) -> None:
        self.name, self.threshold, self.parameters = judge.name, judge.threshold, judge.parameters
        self._cached = BatchCache[Question, Verdict](judge.judge, _CACHED)

    @classmethod
    def of(cls, judge: ScoringJudge) -> "CachingJudge":
        """Return the judge itself if it is a caching one, else wrap it."""
        return judge if isinstance(judge, cls) else cls(judge)

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """Judge as :meth:`Judge.judge`."""
        return self._cached(questions)


def scores_of(judge: Judge, pairs: Sequence[Pair]) -> list[float]:
    """Return a judge's probability that each passage supports its claim, in [0, 1], in order."""
    return [verdict.probability for verdict in judge.judge([pair.question for pair in pairs])]


def supported_by(judge: ScoringJudge, pairs: Sequence[Pair]) -> list[bool]:
    """Return whether each pair's score reaches the judge's threshold."""
    return [score >= judge.threshold for score in scores_of(judge, pairs)]
