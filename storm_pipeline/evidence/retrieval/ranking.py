"""Hybrid search over snippets: dense and lexical rankings, fused."""

import threading
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from itertools import islice

import numpy as np

from storm_pipeline.evidence.retrieval import Embed, Vector, Vectors
from storm_pipeline.text.lexical import LexicalIndex, english_stop_words, rank_scores, terms
from storm_pipeline.types import Snippet

Ranking = list[int]  # rows of snippets, best first
EMBEDDED_A_QUERY = 16  # maximum texts embedded per query


def load_libraries() -> None:
    """Import faiss and the stop words, which is slow the first time."""
    import_module("faiss")
    english_stop_words()


cached_terms = lru_cache(1 << 13)(terms)
"""Index terms, cached since many indexes are built over the same snippets; not to be changed."""


class HybridIndex:
    """Exact cosine search (FAISS) and BM25 over the same snippets, which grows with them. Thread-safe.

    Results are those of an index built at once, and do not depend on the order in which snippets came: ties go to the
    lower id.

    ``dimension``: of the vectors. ``embed``: texts to unit vectors; the best :data:`EMBEDDED_A_QUERY` by BM25 that have
    no vector are embedded for a query, and compared in it alone, so that no search changes what another one finds.
    """

    def __init__(self, dimension: int, embed: Embed) -> None:
        import faiss

        self._embed = embed
        self._lock = threading.Lock()
        self._rows: dict[str, int] = {}  # key → row of the snippet in the index of words
        self._held: list[Snippet] = []  # by row, removed ones too
        self._order = array("Q")  # by row the first 64 bits of the snippet's id
        self._removed: set[int] = set()  # rows
        self._embedded: dict[int, None] = {}  # rows in the order of their vectors
        self._words = LexicalIndex(floor=0.0, tokenize=cached_terms)
        self._dense = faiss.IndexFlatIP(dimension)

    @property
    def is_sparse(self) -> bool:
        """Whether it holds more removed snippets than others, so that a new index takes less room."""
        return len(self._removed) > len(self._rows)

    def update(self, changed: Mapping[str, tuple[Snippet, Vector | None] | None]) -> None:
        """Replace the snippets with these keys, each by one with its vector, if it has any, or by none.

        The vector of a snippet that is there already is added, or stays.
        """
        with self._lock:
            vectors = []
            for key, new in changed.items():
                row = self._rows.get(key)
                if row is not None and not (new and self._held[row] is new[0]):
                    self._words.remove(self._rows.pop(key))
                    self._removed.add(row)
                    row = None
                if new is None:
                    continue
                snippet, vector = new
                if row is None:
                    self._rows[key] = row = self._words.add(
                        [(part, 1) for part in (snippet.title, snippet.heading, snippet.text)]
                    )
                    self._held.append(snippet)
                    self._order.append(int(snippet.id[1:17], 16))
                if vector is not None and row not in self._embedded:
                    self._embedded[row] = None
                    vectors.append(vector)
            if vectors:
                self._dense.add(np.stack(vectors))

    def search(self, queries: Sequence[str], vectors: Vectors, k: int) -> list[tuple[Snippet, ...]]:
        """Return for each query the ``k`` best snippets, best first."""
        return [self._fuse(pair, k) for pair in self._rankings(queries, vectors, k)]

    def search_fused(self, queries: Sequence[str], vectors: Vectors, k: int) -> tuple[Snippet, ...]:
        """Return the ``k`` best snippets for several queries about one information need."""
        return self._fuse((ranking for pair in self._rankings(queries, vectors, k) for ranking in pair), k)

    def _fuse(self, rankings: Iterable[Ranking], k: int) -> tuple[Snippet, ...]:
        """Return the ``k`` best snippets of rankings, fused by reciprocal rank."""
        scores = rank_scores(rankings)
        best = sorted(scores, key=lambda row: (-scores[row], self._order[row]))[:k]
        return tuple(self._held[row] for row in best)

    def _rankings(self, queries: Sequence[str], vectors: Vectors, k: int) -> list[tuple[Ranking, Ranking]]:
        """Return for each query the rows of snippets by cosine, and by BM25."""
        with self._lock:
            # Entries beyond this depth hardly affect the fused order.
            depth = min(len(self._rows), max(100, 2 * k))
            near = [self._near(vector[np.newaxis], depth) for vector in vectors]
            order = np.array(self._order)
            matches = [islice(self._words.search(query, order), depth) for query in queries]
            lexical = [[match.position for match in best] for best in matches]
            new = [[row for row in best if row not in self._embedded][:EMBEDDED_A_QUERY] for best in lexical]
        texts = list(dict.fromkeys(self._held[row].text for rows in new for row in rows))
        columns = {text: column for column, text in enumerate(texts)}
        cosines = vectors @ self._embed(texts).T if texts else vectors
        dense = []
        for ranked, of_query, more in zip(near, cosines, new, strict=True):
            ranked += [(-float(of_query[columns[self._held[row].text]]), self._order[row], row) for row in more]
            dense.append([row for *_, row in sorted(ranked)][:depth])
        return list(zip(dense, lexical, strict=True))

    def _near(self, vector: Vectors, depth: int) -> list[tuple[float, int, int]]:
        """Return negative cosine, number and row of the ``depth`` nearest snippets with a vector, and of equal ones."""
        import faiss

        embedded, ranked, most = list(self._embedded), list[tuple[float, int, int]](), depth
        # Applies to the calling thread; a search of this size takes a millisecond on one core.
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            while depth and len(ranked) < len(embedded):
                scores, places = self._dense.search(vector, min(most, len(embedded)))
                pairs = zip((-scores[0]).tolist(), places[0].tolist(), strict=True)
                ranked = [(score, self._order[embedded[place]], embedded[place]) for score, place in pairs]
                kept = [scored for scored in ranked if scored[2] not in self._removed]
                # A tie at the end goes to the lower id, which FAISS does not know.
                if len(kept) >= depth and kept[depth - 1][0] < ranked[-1][0]:
                    break
                most *= 2
        finally:
            faiss.omp_set_num_threads(threads)
        return [scored for scored in ranked if scored[2] not in self._removed]
