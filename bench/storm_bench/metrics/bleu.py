"""BLEU-1 and BLEU-4 of an article against the human one."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from storm_bench.metrics.base import Measure, Parameters, Score
from storm_bench.metrics.optional_imports import import_optional
from storm_bench.metrics.texts import generated_text
from storm_bench.types import Case

_ORDERS = {"bleu_1": 1, "bleu_4": 4}


class Bleu:
    """BLEU (Papineni et al. 2002) by sacrebleu; an article is one segment with one reference.

    BLEU-n is the geometric mean of the clipped precisions of 1-grams to n-grams times the brevity penalty:
    ``bleu_1`` is the clipped unigram precision times the penalty, not the first factor of ``bleu_4``. Tokenization is
    mteval 13a, case-sensitive; no smoothing: without a common 4-gram ``bleu_4`` is 0.

    Values are in [0, 1]; sacrebleu and the paper show them times 100. NLG-eval, which WikiGenBench used, splits at
    white space instead, so that punctuation sticks to words.
    """

    name = "bleu"
    measures = tuple(Measure(name) for name in _ORDERS)
    reference = "Papineni et al. 2002; WikiGenBen, section 3.2"

    def __init__(self) -> None:
        metric = import_optional("sacrebleu.metrics").BLEU
        self.parameters: Parameters = {
            "sacrebleu": version("sacrebleu"),
            "tokenize": "13a",
            "case": "mixed",
            "smooth": "none",
        }
        self._metrics: dict[str, Any] = {
            name: metric(max_ngram_order=order, tokenize="13a", smooth_method="none", lowercase=False)
            for name, order in _ORDERS.items()
        }

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score per case, in order; None if the human article has no text."""
        return [self._of(case.topic.human.text(), generated_text(case.article)) for case in cases]

    def _of(self, truth: str, produced: str) -> Score:
        if not truth.strip():
            return dict.fromkeys(_ORDERS, None)
        return {
            name: float(metric.corpus_score([produced], [[truth]]).score) / 100
            for name, metric in self._metrics.items()
        }
