"""The protocol of support judges: how well a passage supports a claim, as a score and a verdict."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

_CACHED_PAIRS = 20_000
"""About the pairs of a hundred articles."""
Parameters = Mapping[str, str | int | float]
"""What a judge's answers depend on: model, threshold, prompt versions. Printed beside the scores."""


@dataclass(frozen=True)
class Pair:
    """A passage and a claim, both plain text without citation markers."""

    passage: str
    claim: str


class SupportJudge(Protocol):
    """Scores how well passages support claims. Deterministic: a pair's score does not depend on the batch.

    ``scores`` returns one number in [0, 1] per pair, in order; 1 means the passage fully supports the claim. A claim is
    *supported* if its score is at least ``threshold``.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def threshold(self) -> float: ...  # noqa: D102

    @property
    def parameters(self) -> Parameters: ...  # noqa: D102

    def scores(self, pairs: Sequence[Pair]) -> list[float]: ...  # noqa: D102


class CachingJudge:
    """A support judge that caches the scores of another one for the most recent pairs. Thread-safe.

    Sharing one among several metrics avoids judging a pair twice. The wrapped judge is called by one thread at a time.
    """

    def __init__(self, judge: SupportJudge) -> None:
        self._judge = judge
        self._known: dict[Pair, float] = {}
        self._lock = threading.Lock()

    @classmethod
    def of(cls, judge: SupportJudge) -> "CachingJudge":
        """The judge itself if it caches already, else wrapped."""
        return judge if isinstance(judge, cls) else cls(judge)

    @property
    def name(self) -> str:
        """Name of the wrapped judge."""
        return self._judge.name

    @property
    def threshold(self) -> float:
        """Minimum score of a supported claim."""
        return self._judge.threshold

    @property
    def parameters(self) -> Parameters:
        """Parameters of the wrapped judge."""
        return self._judge.parameters

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """As :class:`SupportJudge`; the wrapped judge gets all distinct uncached pairs in one batch."""
        with self._lock:
            missing = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
            if missing:
                self._known.update(zip(missing, self._judge.scores(missing), strict=True))
            found = [self._known[pair] for pair in pairs]
            for oldest in list(self._known)[: max(0, len(self._known) - _CACHED_PAIRS)]:
                del self._known[oldest]
            return found

    def supported(self, pairs: Sequence[Pair]) -> list[bool]:
        """Whether each pair's score reaches the threshold."""
        return [score >= self.threshold for score in self.scores(pairs)]
