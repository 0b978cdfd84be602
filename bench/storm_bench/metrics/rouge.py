"""ROUGE: n-gram overlap and longest common subsequence of an article with the human one."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from storm_bench.metrics.base import Measure, Parameters, Score
from storm_bench.metrics.official import article_text, human_text, plain
from storm_bench.metrics.optional_imports import import_optional
from storm_bench.metrics.texts import generated_text
from storm_bench.types import Case

_KINDS = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}
_PARTS = {"": "fmeasure", "_precision": "precision", "_recall": "recall"}
_BETA = 1.2


class Rouge:
    """ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) by rouge-score, whole text against whole text.

    Texts are prepared as in the official STORM evaluation (:func:`.official.plain`): headings count, each with the word
    "section", and punctuation and characters outside ASCII are gone before words are split. The repaired variant,
    ``rouge_body``, compares lead and body as they are, without headings.

    ``rouge_1``, ``rouge_2`` and ``rouge_l`` are F1 with the tokenization of STORM's script (lower-cased ASCII letters
    and digits, Porter stemmer); precision and recall are reported too. ROUGE-L treats an article as one sequence. All
    are None if the human article has no such token (Cyrillic, Chinese …).

    ``rouge_l_wikigenbench`` is NLG-eval's ROUGE-L, which WikiGenBench reports: case-sensitive tokens split at white
    space, and F with beta 1.2, which weights recall 1.44 times as much as precision.
    """

    name = "rouge"
    suffix = ""
    measures: tuple[Measure, ...] = (
        *(Measure(kind + part) for kind in _KINDS for part in _PARTS),
        Measure("rouge_l_wikigenbench"),
    )
    reference = (
        "Lin 2004; Shao et al. 2024 (STORM), section 4.2; WikiGenBench, section 3 (NLG-eval, Sharma et al. 2017)"
    )

    def __init__(self) -> None:
        module = import_optional("rouge_score.rouge_scorer")
        self.parameters: Parameters = {
            "rouge-score": version("rouge-score"),
            "tokens": "letters and digits of ASCII",
            "stemmer": "Porter",
            "text": "official, with headings",
            "beta_wikigenbench": _BETA,
        }
        self._tokenizer: Any = import_optional("rouge_score.tokenizers").DefaultTokenizer(use_stemmer=True)
        self._scorer: Any = module.RougeScorer(list(_KINDS.values()), tokenizer=self._tokenizer)
        self._plain: Any = module.RougeScorer(["rougeL"], tokenizer=_WhitespaceTokenizer())

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score per case, in order; all values None if the human article has no text."""
        return [self._of(case) for case in cases]

    def _of(self, case: Case) -> Score:
        truth, produced = case.topic.human.text(), generated_text(case.article)
        if not truth.strip():
            return dict.fromkeys((measure.name for measure in self.measures), None)
        scores = self._scores(plain(human_text(case.topic.human)), plain(article_text(case.article)))
        split = self._plain.score(truth, produced)["rougeL"]
        return scores | {"rouge_l_wikigenbench": f_beta(split.precision, split.recall, _BETA)}

    def _scores(self, truth: str, produced: str) -> dict[str, float | None]:
        found = self._scorer.score(truth, produced) if self._tokenizer.tokenize(truth) else None
        return {
            kind + self.suffix + part: float(getattr(found[key], attribute)) if found else None
            for kind, key in _KINDS.items()
            for part, attribute in _PARTS.items()
        }


class RougeBody(Rouge):
    """:class:`Rouge` of lead and body without headings, tokenized by rouge-score as they are."""

    name = "rouge_body"
    suffix = "_body"
    measures = tuple(Measure(f"{kind}_body{part}") for kind in _KINDS for part in _PARTS)

    def __init__(self) -> None:
        super().__init__()
        self.parameters = {
            **{name: value for name, value in self.parameters.items() if name != "beta_wikigenbench"},
            "text": "lead and body, without headings",
        }

    def _of(self, case: Case) -> Score:
        truth = case.topic.human.text()
        if not truth.strip():
            return dict.fromkeys((measure.name for measure in self.measures), None)
        return self._scores(truth, generated_text(case.article))


def f_beta(precision: float, recall: float, beta: float) -> float:
    """Weighted harmonic mean with recall weighted beta² times as much as precision; 0.0 if both are 0."""
    weighted = recall + beta**2 * precision
    return float((1 + beta**2) * precision * recall / weighted) if weighted else 0.0


class _WhitespaceTokenizer:
    """NLG-eval's tokenization, as a rouge-score tokenizer."""

    def tokenize(self, text: str) -> list[str]:
        return text.split()
