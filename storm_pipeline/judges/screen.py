"""A judge without a language model: logistic regression over embedding similarity and word overlap.

It nearly always detects a citation of another subject, usually one of another page on the same subject, but only weakly
whether *all* of a claim is supported: print its calibration (``storm_bench.calibration``) beside every number based on
it.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt

from storm_pipeline.documents.chunks import chunks
from storm_pipeline.judges.base import Parameters, Question, Verdict, label_of
from storm_pipeline.retrieval.embedder import Embedder
from storm_pipeline.text.index_terms import terms
from storm_pipeline.text.words import numbers

Features = npt.NDArray[np.float64]
"""Shape (questions, 3), each in [-1, 1], in the order of :data:`FEATURES`."""

FEATURES = ("meaning", "words", "numbers")
"""The features of a question.

- meaning: highest cosine between the claim and a part of a passage of up to 60 words;
- words: share of the claim's content words that occur in the passages;
- numbers: share of the claim's numbers that occur in the passages, 1 without numbers.

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
    """Scores a question by :data:`FEATURES` (:class:`~storm_pipeline.judges.base.Judge`).

    Args:
        embedder: texts to unit vectors; the weights were trained with all-MiniLM-L6-v2.
        weights: the regression's weights.
        threshold: minimum probability of a supported claim, in [0, 1].
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

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """As :class:`~storm_pipeline.judges.base.Judge`, without spans and reasons."""
        found = [0.0] * len(questions)
        asked = [i for i, one in enumerate(questions) if one.has_words]
        bias, *weights = astuple(self._weights)
        odds = features([questions[i] for i in asked], self._embedder) @ np.array(weights) + bias
        for i, probability in zip(asked, (1 / (1 + np.exp(-odds))).tolist(), strict=True):
            found[i] = probability
        return [Verdict(label_of(probability, self.threshold), probability) for probability in found]


def features(questions: Sequence[Question], embedder: Embedder) -> Features:
    """One row of features a question; claims and passages must contain words. Equal texts are embedded once."""
    parts = {text: chunks(text, _PART) for one in questions for text in one.passages}
    texts = list(dict.fromkeys([*(t for own in parts.values() for t in own), *(one.claim for one in questions)]))
    vectors = embedder.embed(texts)
    index = {text: i for i, text in enumerate(texts)}

    def meaning(question: Question) -> float:
        own = vectors[[index[part] for text in question.passages for part in parts[text]]]
        return float((own @ vectors[index[question.claim]]).max())

    rows = []
    for one in questions:
        passage, figures = "\n".join(one.passages), numbers(one.claim)
        shared_words = _share(set(terms(one.claim)), set(terms(passage)), empty=0.0)
        rows.append((meaning(one), shared_words, _share(figures, numbers(passage), empty=1.0)))
    return np.array(rows, dtype=np.float64).reshape(len(questions), len(FEATURES))


def _share(wanted: set[str], present: set[str], *, empty: float) -> float:
    return len(wanted & present) / len(wanted) if wanted else empty
