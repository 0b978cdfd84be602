"""Rankers of a closed corpus's chunks, as compared in WikiGenBen (v1, section 5.1).

Rankers are pure functions of their parameters, the query and the chunks. They rank all chunks; those without any match
come last, in input order.
"""

import math
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from storm_bench.datasets.dataset import shuffled
from storm_pipeline import Snippet
from storm_pipeline.api import LexicalIndex, terms
from storm_pipeline.retrieval.embedder import Embedder

Texts = tuple[str, ...]
_CACHED_CORPORA = 2  # corpora whose indexes are cached


class Ranker(ABC):
    """Ranks chunks by relevance to a query.

    Attributes:
        name: short and stable; a column of the tables.
    """

    name: str

    def rank(self, query: str, chunks: Sequence[Snippet], k: int) -> tuple[Snippet, ...]:
        """The ``k`` best chunks, best first; all if there are fewer."""
        if not chunks or k < 1:
            return ()
        order = self._order(query, chunks)
        ranked = set(order)
        full_ranking = [*order, *(position for position in range(len(chunks)) if position not in ranked)]
        return tuple(chunks[position] for position in full_ranking[:k])

    @abstractmethod
    def _order(self, query: str, chunks: Sequence[Snippet]) -> Sequence[int]:
        """The positions of the chunks that match, best first."""


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
    """Cosine of TF-IDF vectors: (1 + log tf) · (1 + log((1 + n) / (1 + df))), smoothed like scikit-learn's."""

    name = "tfidf"

    def __init__(self) -> None:
        self._model = lru_cache(_CACHED_CORPORA)(_TfIdf)

    def _order(self, query: str, chunks: Sequence[Snippet]) -> Sequence[int]:
        return _ranking(self._model(_texts(chunks)).cosines(query))


class DenseRanker(Ranker):
    """Cosine of sentence embeddings, by any embedder; the paper uses DPR and GTR.

    Args:
        embedder: of the chunks; its name becomes part of the ranker's.
        of_query: of the query, where that has another encoder, as in DPR; default: the same.
    """

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


class GoldenRanker(TfIdfRanker):
    """Ranks chunks by similarity to the human article (TF-IDF cosine), ignoring the query: an oracle.

    An upper bound for ranking these documents. The paper's own ``golden`` uses chunks of the article itself; for that,
    rank :func:`closed_corpus.article_chunks` by any ranker.
    """

    name = "golden"

    def __init__(self, article: str) -> None:
        super().__init__()
        self._article = article

    def _order(self, query: str, chunks: Sequence[Snippet]) -> Sequence[int]:  # noqa: ARG002 - every ranker's
        return super()._order(self._article, chunks)


class _TfIdf:
    """Unit-length TF-IDF vectors of texts."""

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


def _ranking(scores: Sequence[float], floor: float = 0.0) -> list[int]:
    """Positions with scores above the floor, best first; ties in order."""
    found = [position for position, score in enumerate(scores) if score > floor]
    return sorted(found, key=lambda position: -scores[position])
