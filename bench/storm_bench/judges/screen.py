"""A support judge without a language model: logistic regression over embedding similarity and word overlap.

It nearly always detects a citation of another subject, usually one of another page on the same subject, but only weakly
whether *all* of a claim is supported: print its calibration (:mod:`storm_bench.calibration`) beside every
number based on it.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt

from storm_bench.judges.base import Pair, Parameters
from storm_pipeline.api import chunks, numbers, terms, words
from storm_pipeline.retrieval.embedder import Embedder

Features = npt.NDArray[np.float64]
"""Shape (pairs, 3), each in [-1, 1], in the order of :data:`FEATURES`."""

FEATURES = ("meaning", "words", "numbers")
"""The features of a pair.

- meaning: highest cosine between the claim and a part of the passage of up to 60 words;
- words: share of the claim's content words that occur in the passage;
- numbers: share of the claim's numbers that occur in the passage, 1 without numbers.

Shared names and shared bigrams were tried as well and did not help.
"""

_PART = 60


@dataclass(frozen=True)
class Weights:
    """A logistic regression: the log-odds of support are ``bias`` plus each feature times its weight."""

    bias: float
    meaning: float
    words: float
    numbers: float


LEARNT = Weights(bias=-5.833, meaning=3.505, words=2.279, numbers=3.16)
"""Trained by ``python -m storm_benchmarks.judges learn`` with all-MiniLM-L6-v2 on one half of ExpertQA's
questions (expert labels, swapped citations, changed numbers); calibrated on the other half."""


class ScreenJudge:
    """Scores a pair by :data:`FEATURES`.

    Args:
        embedder: texts to unit vectors; the weights were trained with all-MiniLM-L6-v2.
        weights: the regression's weights.
        threshold: minimum score of a supported claim, in [0, 1].
    """

    def __init__(self, embedder: Embedder, *, weights: Weights = LEARNT, threshold: float = 0.5) -> None:
        self.threshold = threshold
        self._embedder = embedder
        self._weights = weights

    @property
    def name(self) -> str:
        """``screen:`` and the embedder's name."""
        return f"screen:{self._embedder.name}"

    @property
    def parameters(self) -> Parameters:
        """Threshold and weights."""
        return {"threshold": self.threshold, **vars(self._weights)}

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """As :class:`~storm_bench.judges.base.SupportJudge`; an empty passage or claim scores 0."""
        judged = [i for i, pair in enumerate(pairs) if words(pair.passage) and words(pair.claim)]
        found = [0.0] * len(pairs)
        bias, *weights = astuple(self._weights)
        odds = features([pairs[i] for i in judged], self._embedder) @ np.array(weights) + bias
        for i, score in zip(judged, (1 / (1 + np.exp(-odds))).tolist(), strict=True):
            found[i] = score
        return found


def features(pairs: Sequence[Pair], embedder: Embedder) -> Features:
    """One row of features per pair; passages and claims must contain words. Equal texts are embedded once."""
    parts = {pair.passage: chunks(pair.passage, _PART) for pair in pairs}
    texts = list(dict.fromkeys([*(t for own in parts.values() for t in own), *(pair.claim for pair in pairs)]))
    vectors = embedder.embed(texts)
    index = {text: i for i, text in enumerate(texts)}

    def meaning(pair: Pair) -> float:
        own = vectors[[index[text] for text in parts[pair.passage]]]
        return float((own @ vectors[index[pair.claim]]).max())

    rows = [(meaning(pair), *_lexical(pair.passage, pair.claim)) for pair in pairs]
    return np.array(rows, dtype=np.float64).reshape(len(pairs), len(FEATURES))


def _lexical(passage: str, claim: str) -> tuple[float, float]:
    figures = frozenset(numbers(claim))
    return (
        _share(frozenset(terms(claim)), frozenset(terms(passage)), empty=0.0),
        _share(figures, frozenset(numbers(passage)), empty=1.0),
    )


def _share(wanted: frozenset[str], present: frozenset[str], *, empty: float) -> float:
    return len(wanted & present) / len(wanted) if wanted else empty
