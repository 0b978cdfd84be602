"""The form of an article: length, headings, references, repetition."""

import math
from collections.abc import Sequence

from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.metrics.texts import body_headings, generated_text
from storm_bench.types import Case
from storm_pipeline.api import folded_words

_N = 4


def repeated_ngrams(words: Sequence[str], n: int = _N) -> float | None:
    """Share of n-grams that occurred earlier in the text, in [0, 1); None if it has none.

    ``n``: length of an n-gram, >= 1.
    """
    grams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else None


def _shape(case: Case) -> Score:
    article, human_words = case.article, len(folded_words(case.topic.human.text()))
    words = folded_words(generated_text(article))
    cited, collected = len(article.references), len(article.sources)
    return {
        "words": len(words),
        "length_ratio": len(words) / human_words if human_words else None,
        "sentences": sum(1 for sentence in article.sentences() if sentence.text.strip()),
        "sections": len(article.sections),
        "headings": len(body_headings(article)),
        "references": cited,
        "references_collected": collected,
        "bibliography_cited": cited / collected if collected else None,
        "repeated_4grams": repeated_ngrams(words),
    }


SHAPE = CaseMetric(
    "shape",
    (
        *(
            Measure(name, high=math.inf, better="neither")
            for name in ("words", "length_ratio", "sentences", "sections", "headings")
        ),
        Measure("references", high=math.inf),
        Measure("references_collected", high=math.inf),
        Measure("bibliography_cited"),
        Measure("repeated_4grams", better="lower"),
    ),
    "Shao et al. 2024 (STORM), appendix A, table 7",
    _shape,
    {"n": _N, "headings": "of an undivided body none"},
)
"""Descriptive counts, as in STORM's table 7.

``words`` of lead and body without headings, ``length_ratio`` to the human article, ``sentences``, ``sections``
(first level), ``headings`` (all levels of the body; 0 for an undivided body), ``references`` (distinct cited
sources), ``references_collected`` (distinct sources found by the whole run; with the recipe ``storm-iterative`` by its
gap searches too), ``bibliography_cited`` (``references`` / ``references_collected``; None without sources),
``repeated_4grams`` (share of 4-grams that occurred before).
"""
