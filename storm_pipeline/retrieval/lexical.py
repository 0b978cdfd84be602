"""An in-memory lexical index (BM25) over short texts, with a floor under which nothing counts as found."""

import logging
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from storm_pipeline.text.index_terms import terms

_K1, _B = 1.2, 0.5
_MOST_QUERY_TERMS = 64
_import_lock = threading.Lock()


@dataclass(frozen=True)
class Match:
    """A text that matches a query.

    Attributes:
        position: its index among the texts, from 0.
        score: BM25 score, > 0; comparable within one query only.
        coverage: share of the query's information (inverse document frequency) whose terms the text holds, in
            (0, 1].
    """

    position: int
    score: float
    coverage: float


class LexicalIndex:
    """BM25 (Lucene's variant, k1 1.2, b 0.5) over texts. Immutable once built, so safe for threads.

    Args:
        texts: for each entry its fields, each a text and the weight its terms get (times that they are
            counted).
        floor: least coverage of a match, in [0, 1]. Unknown words count as the rarest known ones, so a query
            that is mostly gibberish finds nothing even where one of its words is known.
        base: added to the information of every word where coverage is reckoned, >= 0. Above 0 a word that all texts
            share counts for something too, as it must where all of them are about one subject.
        find: the terms of a text; for who remembers them.
    """

    def __init__(
        self,
        texts: Iterable[Sequence[tuple[str, int]]],
        *,
        floor: float = 0.25,
        base: float = 0.0,
        find: Callable[[str], list[str]] = terms,
    ) -> None:
        tokens = [[term for text, weight in fields for term in find(text) * weight] for fields in texts]
        self._size = len(tokens)
        self._floor = floor
        self._base = base
        self._bm25 = _built(tokens) if any(tokens) else None

    def __len__(self) -> int:
        return self._size

    def search(self, query: str) -> Iterator[Match]:
        """All matches above the floor, best first; equal scores in the order of the texts. Lazy."""
        wanted = list(dict.fromkeys(terms(query)))[:_MOST_QUERY_TERMS]
        if self._bm25 is None or not wanted:
            return
        import numpy as np

        scores, covered = np.zeros(self._size, np.float32), np.zeros(self._size, np.float32)
        total = 0.0
        for term in wanted:
            found = self._bm25.get_scores([term])
            holds = found > 0
            rarity = self._base + self._rarity(max(1, int(holds.sum())))
            total += rarity
            scores += found
            covered += rarity * holds
        coverage = covered / total
        matching = np.flatnonzero((scores > 0) & (coverage >= self._floor))
        for i in matching[np.argsort(-scores[matching], kind="stable")]:
            yield Match(int(i), float(scores[i]), float(min(coverage[i], 1.0)))

    def _rarity(self, frequency: int) -> float:
        return math.log1p((self._size - frequency + 0.5) / (frequency + 0.5))


def load_bm25() -> Any:
    """Import what indexes are built with, which takes a while the first time."""
    with _import_lock:
        import bm25s
    # The library sets its logger to DEBUG when imported; that must not reach a user's log by surprise.
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    return bm25s


def _built(tokens: list[list[str]]) -> Any:
    bm25s = load_bm25()
    index = bm25s.BM25(method="lucene", k1=_K1, b=_B, backend="numpy")
    index.index(tokens, create_empty_token=False, show_progress=False)
    return index
