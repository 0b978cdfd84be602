"""Counts: cost, interviews, the form of an article, and its knowledge density."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.metrics.texts import body_headings, generated_text
from storm_bench.types import Case
from storm_pipeline.api import folded_words, numbers
from storm_pipeline.evidence.retrieval import Vectors
from storm_pipeline.evidence.retrieval.embedder import Embedder
from storm_pipeline.types import READERS

_COSTS = ("dollars", "calls", "tokens_in", "tokens_cached", "tokens_out", "seconds")


def _cost(case: Case) -> Score:
    usage = case.article.usage
    if not usage.rows:
        return dict.fromkeys(_COSTS, None)
    return {
        "dollars": usage.cost,
        "calls": usage.calls,
        "tokens_in": usage.tokens_in,
        "tokens_cached": sum(row.tokens_cached for row in usage.rows),
        "tokens_out": usage.tokens_out,
        "seconds": usage.seconds,
    }


COST = CaseMetric(
    "cost",
    tuple(Measure(name, high=math.inf, better="neither" if name == "tokens_cached" else "lower") for name in _COSTS),
    "the run's own record",
    _cost,
)
"""Cost as recorded by the run.

``dollars`` is None if any model's price is unknown. ``tokens_in`` counts prompt tokens, including ``tokens_cached``
(served from a prefix cache); ``seconds`` is wall time. All are None for an article without a record, such as another
system's.
"""


def _research(case: Case) -> Score:
    asked = (c for c in case.article.conversations if c.perspective.focus not in READERS)
    turns = [turn for own in asked for turn in own.turns]
    if not turns:
        return {"questions": None, "references_researched": None}
    collected = {snippet.source_id for turn in turns for snippet in turn.snippets}
    return {"questions": len(turns), "references_researched": len(collected)}


RESEARCH = CaseMetric(
    "research",
    (Measure("questions", high=math.inf, better="neither"), Measure("references_researched", high=math.inf)),
    "Shao et al. 2024 (STORM), section 5.2 and Table 5",
    _research,
)
"""Counts of the interviews, before anything is written; both are None without interviews.

``questions`` asked in all: the paper keeps them equal for STORM and its ablations (section 5.2), while a simulated
writer may end an interview early. ``references_researched``: |R|, distinct sources shown to the experts (Algorithm 1,
Table 5). Neither counts what ``storm-iterative`` looks up for thin sections, nor what it looks up once a draft is
written.
"""


_N = 4


def repeated_ngrams(words: Sequence[str], n: int = _N) -> float | None:
    """Return the share of n-grams that occurred earlier in the text, in [0, 1); None if it has none.

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


ALIKE = 0.85
"""Minimum cosine (all-MiniLM-L6-v2) of two facts that count as one.

It keeps 98 to 100 % of the sentences of 14 human articles, and 70 % of an article with duplicated paragraphs.
"""
_PER = 1000
_DENSITIES = ("knowledge_density", "cited_density", "distinct_facts")


DENSITY_MEASURES = (*(Measure(name, high=math.inf) for name in _DENSITIES[:2]), Measure(_DENSITIES[2]))


def first_stated(facts: Sequence[str], embed: Callable[[Sequence[str]], Vectors], alike: float = ALIKE) -> list[bool]:
    """Return for each fact, whether it is new: no earlier new fact is similar and has all of its numbers."""
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
    """Return the number of new facts divided by the article's length.

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
            return dict.fromkeys(_DENSITIES, None)
        new = first_stated([fact for fact, _ in facts], embedder.embed)
        cited = sum(is_new and has for is_new, (_, has) in zip(new, facts, strict=True))
        values = (_PER * sum(new) / length, _PER * cited / length, sum(new) / len(facts))
        return dict(zip(_DENSITIES, values, strict=True))

    return CaseMetric(
        "density",
        DENSITY_MEASURES,
        "Xi et al. 2025 (OmniThink), knowledge density; facts after Min et al. 2023 (FActScore)",
        score,
        {"facts": "sentence", "embedder": embedder.name, "alike": ALIKE, "per_characters": _PER},
    )
