"""BLEU-1 and BLEU-4 of an article against the human one."""

from importlib.metadata import version

from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.metrics.optional_imports import import_optional
from storm_bench.metrics.texts import generated_text
from storm_bench.types import Case

_ORDERS = {"bleu_1": 1, "bleu_4": 4}


MEASURES = tuple(Measure(name) for name in _ORDERS)


def bleu() -> CaseMetric:
    """BLEU (Papineni et al. 2002) by sacrebleu; an article is one segment with one reference.

    BLEU-n is the geometric mean of the clipped precisions of 1-grams to n-grams times the brevity penalty:
    ``bleu_1`` is the clipped unigram precision times the penalty, not the first factor of ``bleu_4``. Tokenization is
    mteval 13a, case-sensitive; no smoothing: without a common 4-gram ``bleu_4`` is 0.

    Values are in [0, 1], None if the human article has no text; sacrebleu and the paper show them times 100. NLG-eval,
    which WikiGenBench used, splits at white space instead, so that punctuation sticks to words.
    """
    metric = import_optional("sacrebleu.metrics").BLEU
    scorers = {
        name: metric(max_ngram_order=order, tokenize="13a", smooth_method="none", lowercase=False)
        for name, order in _ORDERS.items()
    }

    def score(case: Case) -> Score:
        truth, produced = case.topic.human.text(), generated_text(case.article)
        if not truth.strip():
            return dict.fromkeys(_ORDERS, None)
        return {name: float(own.corpus_score([produced], [[truth]]).score) / 100 for name, own in scorers.items()}

    return CaseMetric(
        "bleu",
        MEASURES,
        "Papineni et al. 2002; WikiGenBen, section 3.2",
        score,
        {"sacrebleu": version("sacrebleu"), "tokenize": "13a", "case": "mixed", "smooth": "none"},
    )
