"""ROUGE: n-gram overlap and longest common subsequence of an article with the human one."""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.metrics.official import article_text, human_text, plain
from storm_bench.metrics.optional_imports import import_optional
from storm_bench.metrics.texts import generated_text
from storm_bench.types import Case

_KINDS = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}
_PARTS = {"": "fmeasure", "_precision": "precision", "_recall": "recall"}
_BETA = 1.2
_REFERENCE = "Lin 2004; Shao et al. 2024 (STORM), section 4.2; WikiGenBench, section 3 (NLG-eval, Sharma et al. 2017)"
MEASURES = (*(Measure(kind + part) for kind in _KINDS for part in _PARTS), Measure("rouge_l_wikigenbench"))
BODY_MEASURES = tuple(Measure(f"{kind}_body{part}") for kind in _KINDS for part in _PARTS)


def rouge() -> CaseMetric:
    """ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) by rouge-score, whole text against whole text.

    Texts are prepared as in the official STORM evaluation (:func:`.official.plain`): headings count, each with the word
    "section", and punctuation and characters outside ASCII are gone before words are split. The repaired variant,
    :func:`rouge_body`, compares lead and body as they are, without headings.

    ``rouge_1``, ``rouge_2`` and ``rouge_l`` are F1 with the tokenization of STORM's script (lower-cased ASCII letters
    and digits, Porter stemmer); precision and recall are reported too. ROUGE-L treats an article as one sequence. All
    are None if the human article has no such token (Cyrillic, Chinese …).

    ``rouge_l_wikigenbench`` is NLG-eval's ROUGE-L, which WikiGenBench reports: case-sensitive tokens split at white
    space, and F with beta 1.2, which weights recall 1.44 times as much as precision.
    """
    scores = _scorer("")
    at_spaces = import_optional("rouge_score.rouge_scorer").RougeScorer(["rougeL"], tokenizer=_WhitespaceTokenizer())

    def score(case: Case) -> Score:
        truth, produced = case.topic.human.text(), generated_text(case.article)
        if not truth.strip():
            return {measure.name: None for measure in MEASURES}
        split = at_spaces.score(truth, produced)["rougeL"]
        official = scores(plain(human_text(case.topic.human)), plain(article_text(case.article)))
        return official | {"rouge_l_wikigenbench": f_beta(split.precision, split.recall, _BETA)}

    text: dict[str, str | int | float] = {"text": "official, with headings", "beta_wikigenbench": _BETA}
    return CaseMetric("rouge", MEASURES, _REFERENCE, score, _parameters() | text)


def rouge_body() -> CaseMetric:
    """:func:`rouge` of lead and body without headings, tokenized by rouge-score as they are."""
    scores = _scorer("_body")

    def score(case: Case) -> Score:
        truth = case.topic.human.text()
        return (
            scores(truth, generated_text(case.article))
            if truth.strip()
            else {measure.name: None for measure in BODY_MEASURES}
        )

    text: dict[str, str | int | float] = {"text": "lead and body, without headings"}
    return CaseMetric("rouge_body", BODY_MEASURES, _REFERENCE, score, _parameters() | text)


def _parameters() -> dict[str, str | int | float]:
    return {"rouge-score": version("rouge-score"), "tokens": "letters and digits of ASCII", "stemmer": "Porter"}


def _scorer(suffix: str) -> Callable[[str, str], dict[str, float | None]]:
    """From truth and produced text to F1, precision and recall of each kind; None where the truth has no token."""
    tokenizer: Any = import_optional("rouge_score.tokenizers").DefaultTokenizer(use_stemmer=True)
    scorer = import_optional("rouge_score.rouge_scorer").RougeScorer(list(_KINDS.values()), tokenizer=tokenizer)

    def scores(truth: str, produced: str) -> dict[str, float | None]:
        found = scorer.score(truth, produced) if tokenizer.tokenize(truth) else None
        return {
            kind + suffix + part: float(getattr(found[key], attribute)) if found else None
            for kind, key in _KINDS.items()
            for part, attribute in _PARTS.items()
        }

    return scores


def f_beta(precision: float, recall: float, beta: float) -> float:
    """Weighted harmonic mean with recall weighted beta² times as much as precision; 0.0 if both are 0."""
    weighted = recall + beta**2 * precision
    return float((1 + beta**2) * precision * recall / weighted) if weighted else 0.0


class _WhitespaceTokenizer:
    """NLG-eval's tokenization, as a rouge-score tokenizer."""

    def tokenize(self, text: str) -> list[str]:
        return text.split()
