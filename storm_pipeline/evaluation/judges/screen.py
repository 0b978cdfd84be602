"""Support judged without a language model: an embedding's cosine and shared words, weighed by a logistic regression.

It tells a citation of another subject from a fitting one nearly always, a citation of another page on the same subject
mostly, and whether *all* of a claim is supported only weakly: print its calibration
(:mod:`storm_pipeline.evaluation.calibration`) beside every number that rests on it.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt

from storm_pipeline.documents.chunks import chunks
from storm_pipeline.evaluation.judges.base import Pair, Parameters
from storm_pipeline.references.support import numbers
from storm_pipeline.retrieval.embedder import Embedder
from storm_pipeline.text.index_terms import terms
from storm_pipeline.text.words import words

Features = npt.NDArray[np.float64]
"""Shape (pairs, 3), each in [-1, 1], in the order of :data:`FEATURES`."""

FEATURES = ("meaning", "words", "numbers")
"""What a pair is judged by.

- meaning: the best cosine of the claim with a part of the passage of up to 60 words;
- words: share of the claim's content words that the passage has;
- numbers: share of the claim's numbers that the passage has, 1 without any.

Shared names and pairs of neighbouring words were tried beside them and added nothing.
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
"""Learnt by ``python -m benchmarks.judges learn`` with all-MiniLM-L6-v2 on the claims of one half of ExpertQA's
questions, with the experts' labels, swapped citations and changed numbers; calibrated on the other half."""


class ScreenJudge:
    """Scores a pair by :data:`FEATURES`.

    Args:
        embedder: texts to unit vectors; the weights were learnt with all-MiniLM-L6-v2.
        weights: of the features.
        threshold: least score of a supported claim, in [0, 1].
    """

    def __init__(self, embedder: Embedder, *, weights: Weights = LEARNT, threshold: float = 0.5) -> None:
        self.threshold = threshold
        self._embedder = embedder
        self._weights = weights

    @property
    def name(self) -> str:
        """``screen`` and the embedder's name."""
        return f"screen:{self._embedder.name}"

    @property
    def parameters(self) -> Parameters:
        """Threshold and weights."""
        return {"threshold": self.threshold, **vars(self._weights)}

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """As :class:`~storm_pipeline.evaluation.judges.base.SupportJudge`; an empty passage or claim scores 0."""
        judged = [i for i, pair in enumerate(pairs) if words(pair.passage) and words(pair.claim)]
        found = [0.0] * len(pairs)
        bias, *weights = astuple(self._weights)
        odds = features([pairs[i] for i in judged], self._embedder) @ np.array(weights) + bias
        for i, score in zip(judged, (1 / (1 + np.exp(-odds))).tolist(), strict=True):
            found[i] = score
        return found


def features(pairs: Sequence[Pair], embedder: Embedder) -> Features:
    """The features of pairs whose passage and claim hold words, a row each; equal texts are embedded once."""
    parts = {pair.passage: chunks(pair.passage, _PART) for pair in pairs}
    texts = list(dict.fromkeys([*(t for own in parts.values() for t in own), *(pair.claim for pair in pairs)]))
    vectors = embedder.embed(texts)
    place = {text: i for i, text in enumerate(texts)}

    def meaning(pair: Pair) -> float:
        own = vectors[[place[text] for text in parts[pair.passage]]]
        return float((own @ vectors[place[pair.claim]]).max())

    rows = [(meaning(pair), *_lexical(pair.passage, pair.claim)) for pair in pairs]
    return np.array(rows, dtype=np.float64).reshape(len(pairs), len(FEATURES))


def _lexical(passage: str, claim: str) -> tuple[float, float]:
    figures = frozenset(numbers(claim))
    return (
        _share(frozenset(terms(claim)), frozenset(terms(passage)), empty=0.0),
        _share(figures, frozenset(numbers(passage)), empty=1.0),
    )


def _share(needed: frozenset[str], had: frozenset[str], *, empty: float) -> float:
    return len(needed & had) / len(needed) if needed else empty
