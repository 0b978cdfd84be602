"""METEOR: words of an article aligned with the human article's by form, stem and synonym."""

import threading
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from storm_bench.metrics.base import Measure, Parameters, Score
from storm_bench.metrics.optional_imports import import_optional
from storm_bench.metrics.texts import generated_text
from storm_bench.metrics.wordnet import open_wordnet
from storm_bench.types import Case
from storm_pipeline.api import folded_words

_ALPHA, _BETA, _GAMMA = 0.9, 3.0, 0.5


class Meteor:
    """METEOR (Banerjee and Lavie 2005) by NLTK, over the word lists of whole articles.

    Words align if they are equal, have the same stem (Porter) or share a WordNet sense; the harmonic mean of precision
    and recall (recall weighted nine times) is reduced by up to half the more fragmented the alignment is. NLTK looks
    senses up by stem and misses words whose stem is not a word (automobile). WikiGenBench used METEOR 1.5 (other
    weights, paraphrases, function words), so its values are not comparable.

    Args:
        wordnet: folder of WordNet's files, see :func:`open_wordnet`.
    """

    name = "meteor"
    measures = (Measure("meteor"),)
    reference = "Banerjee and Lavie 2005; WikiGenBench, section 3"

    def __init__(self, wordnet: Path | None = None) -> None:
        self._score = import_optional("nltk.translate.meteor_score").single_meteor_score
        self._wordnet = open_wordnet(wordnet)
        self._lock = threading.Lock()  # NLTK's reader is not thread-safe
        self.parameters: Parameters = {
            "nltk": version("nltk"),
            "wordnet": str(self._wordnet.get_version()),
            "alpha": _ALPHA,
            "beta": _BETA,
            "gamma": _GAMMA,
        }

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score per case, in order; None if the human article has no words."""
        return [{"meteor": self._of(case)} for case in cases]

    def _of(self, case: Case) -> float | None:
        truth, produced = folded_words(case.topic.human.text()), folded_words(generated_text(case.article))
        if not truth:
            return None
        with self._lock:
            value = self._score(truth, produced, wordnet=self._wordnet, alpha=_ALPHA, beta=_BETA, gamma=_GAMMA)
        return float(value)
