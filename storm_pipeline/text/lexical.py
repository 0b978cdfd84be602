"""Index terms (folded stems, bigrams of Han and kana); a BM25 index over short texts; fusion of rankings."""

import math
import re
import threading
from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from storm_pipeline.text.identity import in_form
from storm_pipeline.text.words import HAN_KANA, unify

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T", bound=Hashable)
_WORD = re.compile(rf"[{HAN_KANA}]+|[^\W_{HAN_KANA}]+")
_HAN_KANA = re.compile(f"[{HAN_KANA}]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_MAX_WORD_CHARS = 64
_stemmers = threading.local()  # a stemmer object has state


@cache
def english_stop_words() -> frozenset[str]:
    """Return the English stop words of bm25s (NLTK's list) in lower case."""
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    return frozenset(STOPWORDS_EN_PLUS)


def terms(text: str) -> list[str]:
    """Return the index terms of a text in order, with repetitions: folded English stems; bigrams of Han and kana."""
    stop, text = english_stop_words(), _fold(text)
    if not _HAN_KANA.search(text):
        return [stem(word) for word in _WORD.findall(text) if word not in stop]
    index_terms: list[str] = []
    for word in _WORD.findall(text):
        if _HAN_KANA.match(word):
            index_terms += [word[i : i + 2] for i in range(max(1, len(word) - 1))]
        elif word not in stop:
            index_terms.append(stem(word))
    return index_terms


@lru_cache(maxsize=1 << 16)
def stem(word: str, algorithm: str = "english") -> str:
    """Return the stem of a word in lower case, cut to 64 characters, by a Snowball algorithm such as ``german``."""
    if algorithm not in vars(_stemmers):
        import snowballstemmer

        vars(_stemmers)[algorithm] = snowballstemmer.stemmer(algorithm)
    return str(vars(_stemmers)[algorithm].stemWord(word[:_MAX_WORD_CHARS]))


def _fold(text: str) -> str:
    text = text.casefold()
    if text.isascii():
        return text
    # Only Latin, Greek and Cyrillic accents: the marks that distinguish が from か are in another block.
    return in_form(_ACCENTS.sub("", unify(text, "NFKD")), "NFKC").casefold()


_K1, _B = 1.2, 0.5
_RANK_CONSTANT = 60
_MAX_QUERY_TERMS = 64
_SORTED_FIRST = 1000  # matches
_NOWHERE = (array("i"), array("i"))  # postings of an unknown term


@dataclass(frozen=True)
class Match:
    """A text that matches a query."""

    position: int  # its index among the texts, from 0
    score: float  # BM25 score, > 0; comparable within one query only
    coverage: float  # share of the query's total inverse document frequency carried by terms in the text, in (0, 1]


class LexicalIndex:
    """BM25 (Lucene's variant, k1 1.2, b 0.5) over texts, which may be added and removed at any time.

    Scores are computed when a query is answered, from the texts that are then in the index, so they are those of an
    index built at once. Safe for threads while nothing is added or removed.

    Args:
        texts: the fields of each entry: text and weight (how many times its terms are counted).
        floor: minimum coverage of a match, in [0, 1]. Unknown words weigh as much as the rarest known ones, so a query
            of mostly unknown words matches nothing.
        base: added to the inverse document frequency of every word in computing coverage, >= 0. Above 0, words that
            occur in all texts count too, which is needed if all texts are about one subject.
        tokenize: text → terms; pass a cached function to share work.
    """

    def __init__(
        self,
        texts: Iterable[Sequence[tuple[str, int]]] = (),
        *,
        floor: float = 0.25,
        base: float = 0.0,
        tokenize: Callable[[str], list[str]] = terms,
    ) -> None:
        self._floor = floor
        self._base = base
        self._tokenize = tokenize
        self._lengths = array("d")  # number of terms of each entry; -1 for a removed one
        self._postings: dict[str, tuple[array[int], array[int]]] = {}  # term → positions of entries, its counts there
        for fields in texts:
            self.add(fields)

    def add(self, fields: Sequence[tuple[str, int]]) -> int:
        """Add an entry and return its position, counted from 0; positions are not used again."""
        position = len(self._lengths)
        counts = Counter(term for text, weight in fields for term in self._tokenize(text) * weight)
        for term, count in counts.items():
            if (postings := self._postings.get(term)) is None:
                self._postings[term] = postings = (array("i"), array("i"))
            positions, frequencies = postings
            positions.append(position)
            frequencies.append(count)
        self._lengths.append(counts.total())
        return position

    def remove(self, position: int) -> None:
        """Remove the entry at a position."""
        self._lengths[position] = -1

    def _term_postings(self, term: str) -> "tuple[NDArray[Any], NDArray[Any]]":
        """Return the positions of the entries that have a term, and its counts there."""
        import numpy as np

        positions, counts = self._postings.get(term, _NOWHERE)
        return np.array(positions), np.array(counts)

    def search(self, query: str, order: "NDArray[Any] | None" = None) -> Iterator[Match]:
        """Yield all matches above the floor, best first; ties by ``order``, or in the order of the texts.

        ``order``: the place of each position among equal scores.
        """
        query_terms = list(dict.fromkeys(terms(query)))[:_MAX_QUERY_TERMS]
        if not len(self._lengths) or not query_terms:
            return
        import numpy as np

        lengths = np.array(self._lengths)
        is_entry = lengths >= 0
        size = int(is_entry.sum())
        mean = lengths.sum(where=is_entry) / max(1, size)
        scores, covered = np.zeros(len(lengths), np.float32), np.zeros(len(lengths), np.float32)
        total = 0.0
        for term in query_terms:
            positions, counts = self._term_postings(term)
            kept = is_entry[positions]
            positions, counts = positions[kept], counts[kept]
            total += self._base + _rarity(size, max(1, positions.size))
            norm = counts + _K1 * (1 - _B + _B * lengths[positions] / mean) if mean else counts
            scores[positions] += (_rarity(size, positions.size) * (counts / norm)).astype(np.float32)
            covered[positions] += self._base + _rarity(size, positions.size)
        coverage = covered / total
        matching = np.flatnonzero((scores > 0) & (coverage >= self._floor))
        best = np.partition(scores[matching], -_SORTED_FIRST)[-_SORTED_FIRST] if matching.size > _SORTED_FIRST else 0
        is_first = scores[matching] >= best  # the others are sorted only for a caller that wants them
        for part in (matching[is_first], matching[~is_first]):
            ties = part if order is None else order[part]
            for i in part[np.lexsort((ties, -scores[part]))]:
                yield Match(int(i), float(scores[i]), float(min(coverage[i], 1.0)))


def _rarity(size: int, frequency: int) -> float:
    """Return the inverse document frequency of a term that ``frequency`` of ``size`` entries have."""
    return math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))


def rank_scores(rankings: Iterable[Iterable[T]]) -> dict[T, float]:
    """Fuse rankings by reciprocal rank (Cormack et al. 2009): entry → the sum of 1 / (60 + rank), ranks from 1.

    Entries are in order of first occurrence.
    """
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, entry in enumerate(ranking, start=1):
            scores[entry] = scores.get(entry, 0.0) + 1 / (_RANK_CONSTANT + rank)
    return scores
