"""Hybrid search over snippets: dense and lexical rankings, fused."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from itertools import islice

import numpy as np

from storm_pipeline.evidence.retrieval import Embed, Vector, Vectors
from storm_pipeline.text.lexical import LexicalIndex, load_bm25, rank_scores, terms
from storm_pipeline.types import Snippet

Ranking = list[int]  # indices of snippets, best first
EMBEDDED_A_QUERY = 16  # maximum texts embedded per query


def fuse(rankings: Iterable[Sequence[int]]) -> Ranking:
    """Fuse rankings by reciprocal rank; ties go to the lower index."""
    scores = rank_scores(rankings)
    return sorted(scores, key=lambda position: (-scores[position], position))


def load_libraries() -> None:
    """Import faiss and bm25s, which is slow the first time."""
    import_module("faiss")
    load_bm25()


cached_terms = lru_cache(1 << 13)(terms)
"""Index terms, cached since many indexes are built over the same snippets; not to be changed."""


def prepare_terms(snippets: Iterable[Snippet]) -> None:
    """Compute and cache the index terms of snippets before they are indexed."""
    for snippet in snippets:
        cached_terms(_index_text(snippet))


def _index_text(snippet: Snippet) -> str:
    return "\n".join(filter(None, (snippet.title, snippet.heading, snippet.text)))


class HybridIndex:
    """Exact cosine search (FAISS) and BM25 over the same snippets. Immutable, so safe for threads.

    Snippets are sorted by id, so results, ties included, do not depend on the order in which they were added.

    Args:
        vectors: snippet id → unit vector.
        embed: texts to unit vectors; the best :data:`EMBEDDED_A_QUERY` by BM25 that have no vector are
            embedded for a query, and compared in it alone, so that no search changes what another one finds.
    """

    def __init__(
        self, snippets: Sequence[Snippet], vectors: Mapping[str, Vector], dimension: int, embed: Embed
    ) -> None:
        import faiss

        self._embed = embed
        self._snippets = sorted(snippets, key=lambda snippet: snippet.id)
        embedded = [i for i, snippet in enumerate(self._snippets) if snippet.id in vectors]
        self._positions = np.array(embedded, dtype=np.int64)
        self._has_vector = frozenset(embedded)
        self._dense = faiss.IndexFlatIP(dimension)
        if embedded:
            self._dense.add(np.stack([vectors[self._snippets[i].id] for i in embedded]))
        self._lexical = LexicalIndex(([(_index_text(s), 1)] for s in self._snippets), floor=0.0, tokenize=cached_terms)

    def search(self, queries: Sequence[str], vectors: Vectors, k: int) -> list[tuple[Snippet, ...]]:
        """Return for each query the ``k`` best snippets, best first."""
        return [self._best(pair, k) for pair in self._rankings(queries, vectors, k)]

    def search_fused(self, queries: Sequence[str], vectors: Vectors, k: int) -> tuple[Snippet, ...]:
        """Return the ``k`` best snippets for several queries about one information need."""
        return self._best([ranking for pair in self._rankings(queries, vectors, k) for ranking in pair], k)

    def _rankings(self, queries: Sequence[str], vectors: Vectors, k: int) -> list[tuple[Ranking, Ranking]]:
        import faiss

        # Entries beyond this depth hardly affect the fused order.
        depth = min(len(self._snippets), max(100, 2 * k))
        near: list[list[tuple[float, int]]] = [[] for _ in queries]
        if dense_depth := min(depth, len(self._positions)):  # FAISS rejects k = 0
            # Applies to the calling thread; a search of this size takes a millisecond on one core.
            threads = faiss.omp_get_max_threads()
            faiss.omp_set_num_threads(1)
            try:
                scores, rows = self._dense.search(vectors, dense_depth)
            finally:
                faiss.omp_set_num_threads(threads)
            neighbours = zip(scores.tolist(), self._positions[rows].tolist(), strict=True)
            near = [list(zip(*row, strict=True)) for row in neighbours]
        lexical = [[match.position for match in islice(self._lexical.search(query), depth)] for query in queries]
        pairs = [[*pairs_of, *more] for pairs_of, more in zip(near, self._by_words(lexical, vectors), strict=True)]
        dense = [[position for _, position in sorted((-cosine, at) for cosine, at in row)][:depth] for row in pairs]
        return list(zip(dense, lexical, strict=True))

    def _by_words(self, lexical: Sequence[Ranking], vectors: Vectors) -> list[list[tuple[float, int]]]:
        """Return for each query the cosine and position of the best by BM25 that have no vector."""
        new = [[i for i in row if i not in self._has_vector][:EMBEDDED_A_QUERY] for row in lexical]
        places = {text: n for n, text in enumerate(dict.fromkeys(self._snippets[i].text for row in new for i in row))}
        if not places:
            return [[] for _ in lexical]
        cosines = vectors @ self._embed(list(places)).T
        return [
            [(float(row[places[self._snippets[i].text]]), i) for i in ids]
            for row, ids in zip(cosines, new, strict=True)
        ]

    def _best(self, rankings: Iterable[Ranking], k: int) -> tuple[Snippet, ...]:
        return tuple(self._snippets[position] for position in fuse(rankings)[:k])
