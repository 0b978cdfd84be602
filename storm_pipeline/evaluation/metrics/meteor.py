"""METEOR: words of an article aligned with those that people wrote, by form, by stem and by meaning."""

import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from storm_pipeline.evaluation.metrics.base import Measure, Parameters, Score
from storm_pipeline.evaluation.metrics.optional import needed
from storm_pipeline.evaluation.metrics.resources import Resources
from storm_pipeline.evaluation.metrics.texts import generated_text
from storm_pipeline.evaluation.metrics.wordnet import open_wordnet
from storm_pipeline.evaluation.types import Case
from storm_pipeline.text.words import folded_words

_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5


class Meteor:
    """METEOR (Banerjee and Lavie 2005) by NLTK: whole article against whole article, as lists of words.

    Words are aligned when they are equal, have one stem (Porter) or share a sense of WordNet; the harmonic mean
    of precision and recall, recall weighing nine times as much, is lessened by up to a half the more the aligned
    words are scattered. NLTK looks for shared senses by stem, and so misses those of words whose stem is no word
    (car and automobile). WikiGenBench's figures are by METEOR 1.5 (other weights, paraphrases, function words) and
    do not compare with these.

    Args:
        wordnet: folder of WordNet's files, see :func:`open_wordnet`.
    """

    name = "meteor"
    measures = (Measure("meteor"),)
    reference = "Banerjee and Lavie 2005; WikiGenBench, section 3"

    def __init__(self, wordnet: Path | None = None) -> None:
        self._score = needed("nltk.translate.meteor_score").single_meteor_score
        self._wordnet = open_wordnet(wordnet)
        self._lock = threading.Lock()  # the reader seeks in what it shares
        self.parameters: Parameters = {
            "nltk": version("nltk"),
            "wordnet": str(self._wordnet.get_version()),
            "alpha": _ALPHA,
            "beta": _BETA,
            "gamma": _GAMMA,
        }

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score a case, in order; None where people's article has no word."""
        return [{"meteor": self._of(case)} for case in cases]

    def _of(self, case: Case) -> float | None:
        truth, produced = folded_words(case.topic.human.text()), folded_words(generated_text(case.article))
        if not truth:
            return None
        with self._lock:
            value = self._score(truth, produced, wordnet=self._wordnet, alpha=_ALPHA, beta=_BETA, gamma=_GAMMA)
        return float(value)


def make(resources: Resources) -> Meteor:
    """The metric with the WordNet of an evaluation."""
    return Meteor(resources.wordnet)
