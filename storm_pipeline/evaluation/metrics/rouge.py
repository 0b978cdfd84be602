"""ROUGE: n-gram overlap and longest common subsequence of an article with the human one."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from storm_pipeline.evaluation.metrics.base import Measure, Parameters, Score
from storm_pipeline.evaluation.metrics.optional_imports import import_optional
from storm_pipeline.evaluation.metrics.resources import Resources
from storm_pipeline.evaluation.metrics.texts import generated_text
from storm_pipeline.evaluation.types import Case

_KINDS = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}
_PARTS = {"": "fmeasure", "_precision": "precision", "_recall": "recall"}
_BETA = 1.2


class Rouge:
    """ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) by the package rouge-score, whole text against whole text.

    ``rouge_1``, ``rouge_2`` and ``rouge_l`` are F1 with the tokenization of STORM's script (lower-cased ASCII letters
    and digits, Porter stemmer); precision and recall are reported too. ROUGE-L treats an article as one sequence. All
    are None if the human article has no such token (Cyrillic, Chinese …).

    ``rouge_l_wikigenbench`` is NLG-eval's ROUGE-L, which WikiGenBench reports: case-sensitive tokens split at white
    space, and F with beta 1.2, which weights recall 1.44 times as much as precision.
    """

    name = "rouge"
    measures = (*(Measure(kind + part) for kind in _KINDS for part in _PARTS), Measure("rouge_l_wikigenbench"))
    reference = (
        "Lin 2004; Shao et al. 2024 (STORM), section 4.2; WikiGenBench, section 3 (NLG-eval, Sharma et al. 2017)"
    )

    def __init__(self) -> None:
        module = import_optional("rouge_score.rouge_scorer")
        self.parameters: Parameters = {
            "rouge-score": version("rouge-score"),
            "tokens": "letters and digits of ASCII",
            "stemmer": "Porter",
            "beta_wikigenbench": _BETA,
        }
        self._tokenizer: Any = import_optional("rouge_score.tokenizers").DefaultTokenizer(use_stemmer=True)
        self._scorer: Any = module.RougeScorer(list(_KINDS.values()), tokenizer=self._tokenizer)
        self._plain: Any = module.RougeScorer(["rougeL"], tokenizer=_WhitespaceTokenizer())

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score per case, in order; all values None if the human article has no text."""
        return [self._of(case.topic.human.text(), generated_text(case.article)) for case in cases]

    def _of(self, truth: str, produced: str) -> Score:
        if not truth.strip():
            return dict.fromkeys((measure.name for measure in self.measures), None)
        found = self._scorer.score(truth, produced) if self._tokenizer.tokenize(truth) else None
        scores = {
            kind + part: float(getattr(found[key], attribute)) if found else None
            for kind, key in _KINDS.items()
            for part, attribute in _PARTS.items()
        }
        plain = self._plain.score(truth, produced)["rougeL"]
        return scores | {"rouge_l_wikigenbench": f_beta(plain.precision, plain.recall, _BETA)}


def f_beta(precision: float, recall: float, beta: float) -> float:
    """Weighted harmonic mean with recall weighted beta² times as much as precision; 0.0 if both are 0."""
    weighted = recall + beta**2 * precision
    return float((1 + beta**2) * precision * recall / weighted) if weighted else 0.0


class _WhitespaceTokenizer:
    """NLG-eval's tokenization, as a rouge-score tokenizer."""

    def tokenize(self, text: str) -> list[str]:
        return text.split()


def make(_: Resources) -> Rouge:
    """The metric; it needs no resources."""
    return Rouge()
