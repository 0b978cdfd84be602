"""The seam of support judges: how far a passage supports a claim, as a score and a verdict."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

_REMEMBERED = 20_000
"""Pairs: those of a hundred articles or so."""
Parameters = Mapping[str, str | int | float]
"""What a judge's answers depend on: model, threshold, versions of prompts. Printed beside the scores."""


@dataclass(frozen=True)
class Pair:
    """A passage and a claim that it may support; both plain text without citation markers."""

    passage: str
    claim: str


class SupportJudge(Protocol):
    """Says how far passages support claims. Deterministic: a pair has one score, whatever it is asked with.

    ``scores`` gives one number in [0, 1] for each pair, in order: 1 where the passage surely supports all of the
    claim. A claim is *supported* when its score is at least ``threshold``.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def threshold(self) -> float: ...  # noqa: D102

    @property
    def parameters(self) -> Parameters: ...  # noqa: D102

    def scores(self, pairs: Sequence[Pair]) -> list[float]: ...  # noqa: D102


class Remembering:
    """A support judge that asks another one each pair once, as long as it is among the last thousands. Thread-safe.

    Give one to several metrics, and what they share of an article is judged once. The other judge is asked by one
    thread at a time.
    """

    def __init__(self, judge: SupportJudge) -> None:
        self._judge = judge
        self._known: dict[Pair, float] = {}
        self._lock = threading.Lock()

    @classmethod
    def of(cls, judge: SupportJudge) -> "Remembering":
        """The judge itself where it remembers already, else one that does."""
        return judge if isinstance(judge, cls) else cls(judge)

    @property
    def name(self) -> str:
        """Name of the judge that is asked."""
        return self._judge.name

    @property
    def threshold(self) -> float:
        """Least score of a supported claim."""
        return self._judge.threshold

    @property
    def parameters(self) -> Parameters:
        """Parameters of the judge that is asked."""
        return self._judge.parameters

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """As :class:`SupportJudge`; the other judge gets the distinct pairs it has not judged yet, in one batch."""
        with self._lock:
            missing = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
            if missing:
                self._known.update(zip(missing, self._judge.scores(missing), strict=True))
            found = [self._known[pair] for pair in pairs]
            for forgotten in list(self._known)[: max(0, len(self._known) - _REMEMBERED)]:
                del self._known[forgotten]
            return found

    def supported(self, pairs: Sequence[Pair]) -> list[bool]:
        """The verdicts: whether each score reaches the threshold."""
        return [score >= self.threshold for score in self.scores(pairs)]
