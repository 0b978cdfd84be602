"""Overlap with the human article: ROUGE, BLEU and METEOR, by the libraries that define them."""

import io
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from storm_bench.errors import MetricError
from storm_bench.metrics.base import CaseMetric, Measure, Score, import_optional
from storm_bench.metrics.texts import article_text, generated_text, human_text, plain
from storm_bench.types import Case
from storm_pipeline.api import folded_words

_KINDS = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}
_PARTS = {"": "fmeasure", "_precision": "precision", "_recall": "recall"}
_BETA = 1.2
_REFERENCE = "Lin 2004; Shao et al. 2024 (STORM), section 4.2; WikiGenBench, section 3 (NLG-eval, Sharma et al. 2017)"
ROUGE_MEASURES = (*(Measure(kind + part) for kind in _KINDS for part in _PARTS), Measure("rouge_l_wikigenbench"))
BODY_MEASURES = tuple(Measure(f"{kind}_body{part}") for kind in _KINDS for part in _PARTS)

_ORDERS = {"bleu_1": 1, "bleu_4": 4}
BLEU_MEASURES = tuple(Measure(name) for name in _ORDERS)
METEOR_MEASURES = (Measure("meteor"),)
_WEIGHTS: dict[str, float] = {"alpha": 0.9, "beta": 3.0, "gamma": 0.5}


def rouge() -> CaseMetric:
    """Return ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) by rouge-score, whole text against whole text.

    Texts are prepared as in the official STORM evaluation (:func:`.texts.plain`): headings count, each with the word
    "section", and punctuation and characters outside ASCII are gone before words are split. The repaired variant,
    :func:`rouge_body`, compares lead and body as they are, without headings.

    ``rouge_1``, ``rouge_2`` and ``rouge_l`` are F1 with the tokenization of STORM's script (lower-cased ASCII letters
    and digits, Porter stemmer); precision and recall are reported too. ROUGE-L treats an article as one sequence. All
    are None if the human article has no such token (Cyrillic, Chinese …).

    ``rouge_l_wikigenbench`` is NLG-eval's ROUGE-L, which WikiGenBench reports: case-sensitive tokens split at white
    space, and F with beta 1.2, which weights recall 1.44 times as much as precision.
    """
    scores = _scorer("")

    def score(case: Case) -> Score:
        truth, produced = case.topic.human.text(), generated_text(case.article)
        if not truth.strip():
            return {measure.name: None for measure in ROUGE_MEASURES}
        split = _in_order(truth.split(), produced.split())
        official = scores(plain(human_text(case.topic.human)), plain(article_text(case.article)))
        return official | {"rouge_l_wikigenbench": f_beta(split.precision, split.recall, _BETA)}

    text: dict[str, str | int | float] = {"text": "official, with headings", "beta_wikigenbench": _BETA}
    return CaseMetric("rouge", ROUGE_MEASURES, _REFERENCE, score, _parameters() | text)


def rouge_body() -> CaseMetric:
    """Return :func:`rouge` of lead and body without headings, tokenized by rouge-score as they are."""
    scores = _scorer("_body")

    def score(case: Case) -> Score:
        return scores(case.topic.human.text(), generated_text(case.article))

    text: dict[str, str | int | float] = {"text": "lead and body, without headings"}
    return CaseMetric("rouge_body", BODY_MEASURES, _REFERENCE, score, _parameters() | text)


def _parameters() -> dict[str, str | int | float]:
    return {"rouge-score": version("rouge-score"), "tokens": "letters and digits of ASCII", "stemmer": "Porter"}


def _scorer(suffix: str) -> Callable[[str, str], dict[str, float | None]]:
    """From truth and produced text to F1, precision and recall of each kind; None where the truth has no token."""
    tokenizer: Any = import_optional("rouge_score.tokenizers").DefaultTokenizer(use_stemmer=True)
    scorer = import_optional("rouge_score.rouge_scorer").RougeScorer(["rouge1", "rouge2"], tokenizer=tokenizer)

    def scores(truth: str, produced: str) -> dict[str, float | None]:
        words = tokenizer.tokenize(truth)
        found = scorer.score(truth, produced) if words else None
        if found:
            found["rougeL"] = _in_order(words, tokenizer.tokenize(produced))
        return {
            kind + suffix + part: float(getattr(found[key], attribute)) if found else None
            for kind, key in _KINDS.items()
            for part, attribute in _PARTS.items()
        }

    return scores


def f_beta(precision: float, recall: float, beta: float) -> float:
    """Return the weighted harmonic mean with recall weighted beta² times as much as precision; 0.0 if both are 0."""
    weighted = recall + beta**2 * precision
    return float((1 + beta**2) * precision * recall / weighted) if weighted else 0.0


def _in_order(truth: Sequence[str], produced: Sequence[str]) -> Any:
    """Return ROUGE-L as rouge-score does, which keeps a table of all pairs of words: gigabytes for long articles."""
    scoring, common = import_optional("rouge_score.scoring"), longest_common(truth, produced)
    precision, recall = common / max(1, len(produced)), common / max(1, len(truth))
    return scoring.Score(precision, recall, scoring.fmeasure(precision, recall))


def longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, in linear memory.

    Bits of an integer are a row of the table: 0 where the row grows by one (Hyyrö 2004).
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(first):
        places.setdefault(word, []).append(place)

    @lru_cache(1024)
    def where(word: str) -> int:
        found = np.zeros(len(first), np.uint8)
        found[places[word]] = 1
        return int.from_bytes(np.packbits(found, bitorder="little").tobytes(), "little")

    whole = row = (1 << len(first)) - 1
    for word in second:
        if word in places:
            met = row & where(word)
            row = (row + met | row - met) & whole
    return len(first) - row.bit_count()


def bleu() -> CaseMetric:
    """Return BLEU (Papineni et al. 2002) by sacrebleu; an article is one segment with one reference.

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
        BLEU_MEASURES,
        "Papineni et al. 2002; WikiGenBen, section 3.2",
        score,
        {"sacrebleu": version("sacrebleu"), "tokenize": "13a", "case": "mixed", "smooth": "none"},
    )


def _in_memory(reader: type[Any]) -> type[Any]:
    """Return a corpus reader that reads each file at once, for NLTK's leaves its files open."""
    streams = import_optional("nltk.data").SeekableUnicodeStreamReader

    class InMemory(reader):
        def open(self, file: str) -> Any:
            with super().open(file) as source:
                return streams(io.BytesIO(source.read().encode()), "utf-8")

    return InMemory


def meteor(wordnet: Path | None = None) -> CaseMetric:
    """Return METEOR (Banerjee and Lavie 2005) by NLTK, over the word lists of whole articles; needs NLTK's WordNet.

    Words align if they are equal, have the same stem (Porter) or share a WordNet sense; the harmonic mean of precision
    and recall (recall weighted nine times) is reduced by up to half the more fragmented the alignment is. NLTK looks
    senses up by stem and misses words whose stem is not a word (automobile). None if the human article has no words.
    WikiGenBench used METEOR 1.5 (other weights, paraphrases, function words), so its values are not comparable.

    ``wordnet``: the folder ``nltk_data``; None: where NLTK looks. Raises MetricError: there is no WordNet.
    """
    aligned = import_optional("nltk.translate.meteor_score").single_meteor_score
    data, corpora = import_optional("nltk.data"), import_optional("nltk.corpus.reader")
    if wordnet is not None and str(wordnet) not in data.path:
        data.path.append(str(wordnet))  # NLTK reads no corpus outside
    lock = threading.Lock()  # NLTK's reader is not thread-safe
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # missing multilingual data
            senses = _in_memory(corpora.WordNetCorpusReader)(
                data.find("corpora/wordnet", None if wordnet is None else [str(wordnet)]), None
            )
    except (LookupError, OSError, ValueError) as error:
        raise MetricError("METEOR needs WordNet: run `python -m nltk.downloader wordnet`") from error

    def score(case: Case) -> Score:
        truth, produced = folded_words(case.topic.human.text()), folded_words(generated_text(case.article))
        if not truth:
            return {"meteor": None}
        with lock:
            return {"meteor": float(aligned(truth, produced, wordnet=senses, **_WEIGHTS))}

    facts: dict[str, str | int | float] = {"nltk": version("nltk"), "wordnet": str(senses.get_version())}
    reference = "Banerjee and Lavie 2005; WikiGenBench, section 3"
    return CaseMetric("meteor", METEOR_MEASURES, reference, score, facts | _WEIGHTS)
