"""Hybrid search over snippets: dense and lexical rankings, fused."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from itertools import islice

import numpy as np

from storm_pipeline.evidence.retrieval import Embed, Vector, Vectors
from storm_pipeline.text.lexical import LexicalIndex, english_stop_words, rank_scores, terms
from storm_pipeline.types import Snippet

Ranking = list[int]  # indices of snippets, best first
EMBEDDED_A_QUERY = 16  # maximum texts embedded per query


def fuse(rankings: Iterable[Sequence[int]]) -> Ranking:
    """Fuse rankings by reciprocal rank; ties go to the lower index."""
    scores = rank_scores(rankings)
    return sorted(scores, key=lambda position: (-scores[position], position))


def load_libraries() -> None:
    """Import faiss and the stop words, which is slow the first time."""
    import_module("faiss")
    english_stop_words()


cached_terms = lru_cache(1 << 13)(terms)
"""Index terms, cached since many indexes are built over the same snippets; not to be changed."""


def prepare_terms(snippets: Iterable[Snippet]) -> None:
    """Compute and cache the index terms of snippets before they are indexed."""
    for snippet in snippets:
        cached_terms(_index_text(snippet))


def _index_text(snippet: Snippet) -> str:
    return "\n".join(filter(None, (snippet.title, snippet.heading, snippet.text)))


class HybridIndex:
    """Exact cosine search (FAISS) and BM25 over the same snippets, which grows with them. Thread-safe.

    Results are those of an index built at once, and do not depend on the order in which snippets came: ties go to the
    lower id.

    Args:
        dimension: of the vectors.
        embed: texts to unit vectors; the best :data:`EMBEDDED_A_QUERY` by BM25 that have no vector are
            embedded for a query, and compared in it alone, so that no search changes what another one finds.
    """

    def __init__(self, dimension: int, embed: Embed) -> None:
        self._dimension, self._embed = dimension, embed
        self._lock = threading.Lock()
        self._start()

    def _start(self) -> None:
        import faiss

        self._rows: dict[str, int] = {}  # snippet id → row in the index of words
        self._held: list[Snippet] = []  # by row, removed ones too
        self._embedded: dict[int, None] = {}  # rows in the order of their vectors
        self._words = LexicalIndex(floor=0.0, tokenize=cached_terms)
        self._dense = faiss.IndexFlatIP(self._dimension)
        self._describe()

    def update(self, snippets: Sequence[Snippet], vectors: Mapping[str, Vector]) -> None:
        """Hold these snippets and no others. ``vectors``: snippet id → unit vector; those once given stay."""
        with self._lock:
            known = {snippet.id: snippet for snippet in snippets}
            gone = [row for name, row in self._rows.items() if known.get(name) is not self._held[row]]
            if 2 * (len(self._held) - len(self._rows) + len(gone)) > len(self._held):
                self._start()
                gone = []
            for row in gone:
                del self._rows[self._held[row].id]
                self._words.remove(row)
            for snippet in snippets:
                if snippet.id not in self._rows:
                    self._rows[snippet.id] = self._words.add([(_index_text(snippet), 1)])
                    self._held.append(snippet)
            new = [row for name, row in self._rows.items() if name in vectors and row not in self._embedded]
            if new:
                self._dense.add(np.stack([vectors[self._held[row].id] for row in new]))
                self._embedded.update(dict.fromkeys(new))
            self._describe()

    def _describe(self) -> None:
        """Order the snippets by id, which decides ties."""
        rows = [self._rows[name] for name in sorted(self._rows)]
        self._snippets = [self._held[row] for row in rows]
        self._places = np.full(len(self._held), -1)  # row → number; -1 if removed
        self._places[rows] = np.arange(len(rows))
        self._dense_places = self._places[list(self._embedded)]  # the same for each vector

    def search(self, queries: Sequence[str], vectors: Vectors, k: int) -> list[tuple[Snippet, ...]]:
        """Return for each query the ``k`` best snippets, best first."""
        snippets, pairs = self._rankings(queries, vectors, k)
        return [tuple(snippets[place] for place in fuse(pair)[:k]) for pair in pairs]

    def search_fused(self, queries: Sequence[str], vectors: Vectors, k: int) -> tuple[Snippet, ...]:
        """Return the ``k`` best snippets for several queries about one information need."""
        snippets, pairs = self._rankings(queries, vectors, k)
        return tuple(snippets[place] for place in fuse(ranking for pair in pairs for ranking in pair)[:k])

    def _rankings(
        self, queries: Sequence[str], vectors: Vectors, k: int
    ) -> tuple[list[Snippet], list[tuple[Ranking, Ranking]]]:
        """Return the snippets by id, and for each query their places there: by cosine, and by BM25."""
        with self._lock:
            snippets, places = self._snippets, self._places
            # Entries beyond this depth hardly affect the fused order.
            depth = min(len(snippets), max(100, 2 * k))
            has_vector = frozenset(self._dense_places.tolist())
            near = [self._near(vector[np.newaxis], depth) for vector in vectors]
            matches = [islice(self._words.search(query, places), depth) for query in queries]
            lexical = [[int(places[match.position]) for match in best] for best in matches]
        new = [[place for place in row if place not in has_vector][:EMBEDDED_A_QUERY] for row in lexical]
        texts = list(dict.fromkeys(snippets[place].text for row in new for place in row))
        columns = {text: column for column, text in enumerate(texts)}
        cosines = vectors @ self._embed(texts).T if texts else vectors
        dense = []
        for pairs, row, more in zip(near, cosines, new, strict=True):
            pairs += [(-float(row[columns[snippets[place].text]]), place) for place in more]
            dense.append([place for _, place in sorted(pairs)][:depth])
        return snippets, list(zip(dense, lexical, strict=True))

    def _near(self, vector: Vectors, depth: int) -> list[tuple[float, int]]:
        """Return negative cosine and number of the ``depth`` nearest snippets that have a vector, and of equal ones."""
        import faiss

        pairs: list[tuple[float, int]] = []
        most = depth
        # Applies to the calling thread; a search of this size takes a millisecond on one core.
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            while depth and len(pairs) < self._dense.ntotal:
                scores, rows = self._dense.search(vector, min(most, self._dense.ntotal))
                pairs = list(zip((-scores[0]).tolist(), self._dense_places[rows[0]].tolist(), strict=True))
                kept = [pair for pair in pairs if pair[1] >= 0]
                # A tie at the end goes to the lower id, which FAISS does not know.
                if len(kept) >= depth and kept[depth - 1][0] < pairs[-1][0]:
                    break
                most *= 2
        finally:
            faiss.omp_set_num_threads(threads)
        return [pair for pair in pairs if pair[1] >= 0]
