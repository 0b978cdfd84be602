"""Which chunks of a closed corpus answer a query best: the rankers that WikiGenBen compares (v1, section 5.1).

A ranker is pure: what it gives depends on its parameters, the query and the chunks alone. It orders all chunks, those
that share nothing with the query last, in their own order.
"""

import math
import threading
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from storm_pipeline.evaluation.datasets.drawing import drawn
from storm_pipeline.retrieval.embedder import Embedder, Vectors
from storm_pipeline.retrieval.lexical import LexicalIndex
from storm_pipeline.text.index_terms import terms
from storm_pipeline.types import Snippet

Texts = tuple[str, ...]
_REMEMBERED = 2
"""Corpora of which an index is kept: that of the topic in hand, and one beside it."""


class Ranker(Protocol):
    """Orders chunks by how well they answer a query."""

    @property
    def name(self) -> str:
        """Short and stable; a column of the tables."""

    def rank(self, query: str, chunks: Sequence[Snippet], k: int) -> tuple[Snippet, ...]:
        """The ``k`` best chunks, best first; all where there are fewer, none for 0."""


class RandomRanker:
    """Chunks by chance: the floor of the comparison. The same seed, query and chunks give the same order.

    Args:
        seed: any whole number.
    """

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def rank(self, query: str, chunks: Sequence[Snippet], k: int) -> tuple[Snippet, ...]:
        """See the protocol."""
        return tuple(drawn(chunks, f"{self._seed}\n{query}", lambda chunk: chunk.id)[: max(0, k)])


class Bm25Ranker:
    """BM25 over title and text, as the package's lexical index has it, without its floor."""

    name = "bm25"

    def __init__(self) -> None:
        self._index = lru_cache(_REMEMBERED)(_lexical)

    def rank(self, query: str, chunks: Sequence[Snippet], k: int) -> tuple[Snippet, ...]:
        """See the protocol."""
        index = self._index(_texts(chunks))
        return _best(chunks, [match.position for match in index.search(query)], k)


class TfIdfRanker:
    """Cosine of TF-IDF vectors: (1 + log tf) · (1 + log((1 + n) / (1 + df))), as scikit-learn smooths it."""

    name = "tfidf"

    def __init__(self) -> None:
        self._model = lru_cache(_REMEMBERED)(_TfIdf)

    def rank(self, query: str, chunks: Sequence[Snippet], k: int) -> tuple[Snippet, ...]:
        """See the protocol."""
        return _best(chunks, _order(self._model(_texts(chunks)).cosines(query)), k)


class DenseRanker:
    """Cosine of sentence vectors. The paper's are of DPR and GTR; give whatever embedder there is.

    Args:
        embedder: its name is told with the ranker's.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.name = f"dense:{embedder.name}"
        self._embedder = embedder
        self._vectors = lru_cache(_REMEMBERED)(self._embedded)
        self._lock = threading.Lock()

    def rank(self, query: str, chunks: Sequence[Snippet], k: int) -> tuple[Snippet, ...]:
        """See the protocol."""
        if not chunks or k < 1:
            return ()
        with self._lock:  # whoever comes second finds the corpus embedded
            vectors = self._vectors(_texts(chunks))
        scores = vectors @ self._embedder.embed([query])[0]
        return _best(chunks, _order(scores.tolist(), floor=-math.inf), k)

    def _embedded(self, texts: Texts) -> Vectors:
        return self._embedder.embed(texts)


class GoldenRanker:
    """Chunks by how near they are to the human article (TF-IDF cosine), whatever the query: an oracle.

    It knows the ground truth, so it bounds what ranking can do with these documents. The paper's own ``golden`` gives
    the model chunks of the article itself instead; for that rank :func:`closed_corpus.article_chunks` by any ranker.

    Args:
        article: text of the human article.
    """

    name = "golden"

    def __init__(self, article: str) -> None:
        self._article = article
        self._nearest = TfIdfRanker()

    def rank(self, query: str, chunks: Sequence[Snippet], k: int) -> tuple[Snippet, ...]:  # noqa: ARG002 (protocol)
        """See the protocol; the query plays no part."""
        return self._nearest.rank(self._article, chunks, k)


class _TfIdf:
    """TF-IDF vectors of unit length over some texts."""

    def __init__(self, texts: Texts) -> None:
        counts = [Counter(terms(text)) for text in texts]
        frequency = Counter(term for count in counts for term in count)
        self._idf = {term: 1 + math.log((1 + len(texts)) / (1 + df)) for term, df in frequency.items()}
        self._vectors = [self._vector(count) for count in counts]

    def cosines(self, query: str) -> list[float]:
        wanted = self._vector(Counter(terms(query)))
        return [sum(weight * vector.get(term, 0.0) for term, weight in wanted.items()) for vector in self._vectors]

    def _vector(self, counts: Counter[str]) -> dict[str, float]:
        weights = {term: (1 + math.log(n)) * self._idf[term] for term, n in counts.items() if term in self._idf}
        length = math.sqrt(sum(weight * weight for weight in weights.values()))
        return {term: weight / length for term, weight in weights.items()} if length else {}


def _lexical(texts: Texts) -> LexicalIndex:
    return LexicalIndex(([(text, 1)] for text in texts), floor=0.0)


def _texts(chunks: Sequence[Snippet]) -> Texts:
    return tuple(f"{chunk.title}\n{chunk.text}" for chunk in chunks)


def _order(scores: Sequence[float], floor: float = 0.0) -> list[int]:
    """Positions by score, best first, those above the floor only; equal ones in order."""
    found = [position for position, score in enumerate(scores) if score > floor]
    return sorted(found, key=lambda position: -scores[position])


def _best(chunks: Sequence[Snippet], order: Sequence[int], k: int) -> tuple[Snippet, ...]:
    """The first ``k`` chunks of an order; what it leaves out follows behind."""
    if k < 1:
        return ()
    ranked = set(order)
    whole = [*order, *(position for position in range(len(chunks)) if position not in ranked)]
    return tuple(chunks[position] for position in whole[:k])
