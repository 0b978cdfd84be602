"""Knowledge density: distinct facts per length of an article."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.metrics.texts import generated_text
from storm_bench.types import Case
from storm_pipeline.api import numbers
from storm_pipeline.retrieval.embedder import Embedder, Vectors

ALIKE = 0.85
"""Minimum cosine (all-MiniLM-L6-v2) of two facts that count as one.

It keeps 98 to 100 % of the sentences of 14 human articles, and 70 % of an article with duplicated paragraphs.
"""
_PER = 1000
_NAMES = ("knowledge_density", "cited_density", "distinct_facts")


MEASURES = (*(Measure(name, high=math.inf) for name in _NAMES[:2]), Measure(_NAMES[2]))


def first_stated(facts: Sequence[str], embed: Callable[[Sequence[str]], Vectors], alike: float = ALIKE) -> list[bool]:
    """For each fact, whether it is new: no earlier new fact is similar and has all of its numbers."""
    if not facts:
        return []
    vectors = np.asarray(embed(facts), dtype=np.float64)
    figures = [numbers(fact) for fact in facts]
    new: list[int] = []
    for i, vector in enumerate(vectors):
        alikes = vectors[new] @ vector >= alike
        if not any(figures[i] <= figures[j] for j, is_alike in zip(new, alikes, strict=True) if is_alike):
            new.append(i)
    kept = set(new)
    return [i in kept for i in range(len(facts))]


def density(embedder: Embedder) -> CaseMetric:
    """Number of new facts divided by the article's length.

    ``knowledge_density`` counts new facts per 1,000 characters of lead and body (the authors' script divides by
    characters); ``cited_density`` counts only those in sentences with citations; ``distinct_facts`` is the share of
    facts that are new. All are None for an article without text. OmniThink uses a language model to split sentences
    into atomic facts and to remove repetitions; here each sentence is a fact, and repetition is detected by embeddings
    and numbers, so values are comparable only for equal parameters.
    """

    def score(case: Case) -> Score:
        length = len(generated_text(case.article))
        facts = [(s.text, bool(s.citations)) for s in case.article.sentences() if s.text.strip()]
        if not length or not facts:
            return dict.fromkeys(_NAMES, None)
        new = first_stated([fact for fact, _ in facts], embedder.embed)
        cited = sum(is_new and has for is_new, (_, has) in zip(new, facts, strict=True))
        values = (_PER * sum(new) / length, _PER * cited / length, sum(new) / len(facts))
        return dict(zip(_NAMES, values, strict=True))

    return CaseMetric(
        "density",
        MEASURES,
        "Xi et al. 2025 (OmniThink), knowledge density; facts after Min et al. 2023 (FActScore)",
        score,
        {"facts": "sentence", "embedder": embedder.name, "alike": ALIKE, "per_characters": _PER},
    )
