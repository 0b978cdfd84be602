"""Knowledge density: distinct facts per length of an article."""

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from storm_bench.metrics.base import Measure, Parameters, Score
from storm_bench.metrics.texts import generated_text
from storm_bench.types import Case
from storm_bench.vectors import Embed
from storm_pipeline import Article
from storm_pipeline.api import Embedder, numbers

ALIKE = 0.85
"""Minimum cosine (all-MiniLM-L6-v2) of two facts that count as one.

It keeps 98 to 100 % of the sentences of 14 human articles, and 70 % of an article with duplicated paragraphs.
"""
_PER = 1000
_NAMES = ("knowledge_density", "cited_density", "distinct_facts")


class FactSplitter(Protocol):
    """Splits sentences into facts. Densities by splitters of different ``name`` are not comparable."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def split(self, sentences: Sequence[str]) -> list[tuple[str, ...]]:
        """The facts of each sentence, in order; empty for a sentence without facts."""


class WholeSentences:
    """Treats each sentence as one fact: needs no model, but is coarser than atomic facts."""

    name = "sentence"

    def split(self, sentences: Sequence[str]) -> list[tuple[str, ...]]:
        """Each sentence, unchanged."""
        return [(sentence,) if sentence.strip() else () for sentence in sentences]


def first_stated(facts: Sequence[str], embed: Embed, alike: float = ALIKE) -> list[bool]:
    """For each fact, whether it is new: no earlier new fact is similar and has all of its numbers.

    Args:
        facts: in text order.
        embed: texts to unit vectors.
        alike: minimum cosine of similar facts.
    """
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


class KnowledgeDensity:
    """Number of new facts divided by the article's length.

    ``knowledge_density`` counts new facts per 1,000 characters of lead and body (the authors' script divides by
    characters); ``cited_density`` counts only those in sentences with citations; ``distinct_facts`` is the share of
    facts that are new. OmniThink uses a language model to split sentences into atomic facts and to remove repetitions;
    here the splitter is pluggable and repetition is detected by embeddings and numbers, so values are comparable only
    for equal parameters.

    Args:
        embedder: decides which facts are similar.
        splitter: splits sentences into facts.
        alike: minimum cosine of similar facts.
    """

    name = "density"
    measures = (
        *(Measure(name, high=math.inf) for name in _NAMES[:2]),
        Measure(_NAMES[2]),
    )
    reference = "Xi et al. 2025 (OmniThink), knowledge density; facts after Min et al. 2023 (FActScore)"

    def __init__(self, embedder: Embedder, splitter: FactSplitter | None = None, *, alike: float = ALIKE) -> None:
        self._splitter = splitter or WholeSentences()
        self._embed = embedder.embed
        self._alike = alike
        self.parameters: Parameters = {
            "facts": self._splitter.name,
            "embedder": embedder.name,
            "alike": alike,
            "per_characters": _PER,
        }

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score per case, in order; all values None for an article without text."""
        return [self._of(case.article) for case in cases]

    def _of(self, article: Article) -> Score:
        length = len(generated_text(article))
        sentences = list(article.sentences())
        split = self._splitter.split([sentence.text for sentence in sentences])
        facts = [(fact, bool(s.citations)) for s, parts in zip(sentences, split, strict=True) for fact in parts]
        if not length or not facts:
            return dict.fromkeys(_NAMES, None)
        new = first_stated([fact for fact, _ in facts], self._embed, self._alike)
        cited = sum(is_new and has for is_new, (_, has) in zip(new, facts, strict=True))
        return {
            "knowledge_density": _PER * sum(new) / length,
            "cited_density": _PER * cited / length,
            "distinct_facts": sum(new) / len(facts),
        }
