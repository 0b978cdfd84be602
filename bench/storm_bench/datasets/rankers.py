"""Rankers of a closed corpus's chunks, as compared in WikiGenBen (v1, section 5.1).

Rankers are pure functions of their parameters, the query and the chunks. They rank all chunks; those without any match
come last, in input order.
"""

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache

from storm_bench.datasets.dataset import shuffled
from storm_pipeline import Snippet
from storm_pipeline.api import LexicalIndex, terms
from storm_pipeline.evidence.retrieval.embedder import Embedder

Texts = tuple[str, ...]
_CACHED_CORPORA = 2  # corpora whose indexes are cached


class Ranker(ABC):
    """Ranks chunks by relevance to a query; ``name`` is short and stable."""

    name: str

    def rank(self, query: str, chunks: Sequence[Snippet], k: int) -> tuple[Snippet, ...]:
        """Return the ``k`` best chunks, best first; all if there are fewer."""
        if not chunks or k < 1:
            return ()
        order = self._order(query, chunks)
        ranked = set(order)
        full_ranking = [*order, *(position for position in range(len(chunks)) if position not in ranked)]
        return tuple(chunks[position] for position in full_ranking[:k])

    @abstractmethod
    def _order(self, query: str, chunks: Sequence[Snippet]) -> Sequence[int]:
        """Return the positions of the chunks that match, best first."""


class RandomRanker(Ranker):
    """Random order: the lower bound of the comparison. Reproducible for equal seed, query and chunks."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def _order(self, query: str, chunks: Sequence[Snippet]) -> Sequence[int]:
        return shuffled(range(len(chunks)), f"{self._seed}\n{query}", lambda position: chunks[position].id)


class Bm25Ranker(Ranker):
    """BM25 over title and text by the package's lexical index, without its score floor."""

    name = "bm25"

    def __init__(self) -> None:
        self._index = lru_cache(_CACHED_CORPORA)(_lexical)

    def _order(self, query: str, chunks: Sequence[Snippet]) -> Sequence[int]:
        return [match.position for match in self._index(_texts(chunks)).search(query)]


class TfIdfRanker(Ranker):
    """Cosine of TF-IDF vectors over title and text: (1 + log tf) · (1 + log((1 + n) / (1 + df)))."""

    name = "tfidf"

    def __init__(self) -> None:
        self._model = lru_cache(_CACHED_CORPORA)(_tfidf)

    def _order(self, query: str, chunks: Sequence[Snippet]) -> Sequence[int]:
        return _ranking(self._model(_texts(chunks))(query))


class DenseRanker(Ranker):
    """Cosine of sentence embeddings; the paper uses DPR, whose queries have an encoder of their own, and GTR."""

    def __init__(self, embedder: Embedder, of_query: Embedder | None = None) -> None:
        self.name = f"dense:{f'{of_query.name}+' if of_query else ''}{embedder.name}"
        self._of_query = of_query or embedder
        self._vectors = lru_cache(_CACHED_CORPORA)(embedder.embed)
        self._lock = threading.Lock()

    def _order(self, query: str, chunks: Sequence[Snippet]) -> Sequence[int]:
        with self._lock:  # a second thread waits for the cached embeddings
            vectors = self._vectors(_texts(chunks))
        scores = vectors @ self._of_query.embed([query])[0]
        return _ranking(scores.tolist(), floor=-math.inf)


def _tfidf(texts: Texts) -> Callable[[str], list[float]]:
    """Return a function from a query to the cosine of each text, 0 without a shared index term."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    model = TfidfVectorizer(analyzer=terms, sublinear_tf=True)
    try:
        vectors = model.fit_transform(texts)
    except ValueError:  # no text has an index term
        return lambda _: [0.0] * len(texts)
    return lambda query: (vectors @ model.transform([query]).T).toarray().ravel().tolist()


def _lexical(texts: Texts) -> LexicalIndex:
    return LexicalIndex(([(text, 1)] for text in texts), floor=0.0)


def _texts(chunks: Sequence[Snippet]) -> Texts:
    return tuple(f"{chunk.title}\n{chunk.text}" for chunk in chunks)


def _ranking(scores: Sequence[float], floor: float = 0.0) -> list[int]:
    """Return the positions with scores above the floor, best first; ties in order."""
    found = [position for position, score in enumerate(scores) if score > floor]
    return sorted(found, key=lambda position: -scores[position])
