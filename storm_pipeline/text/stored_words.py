"""A BM25 index in arrays, such as files that are opened by memory map."""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from storm_pipeline.text.lexical import LexicalIndex, terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

KINDS = {"lengths": "<f8", "names": "u1", "ends": "<i8", "stops": "<i8", "entries": "<u4", "counts": "<u2"}
"""Array → type: lengths of entries; terms in order, their ends; ends of their postings; entries and counts in these."""
_TERM, _ENTRY = np.uint64(38), np.uint64(12)  # bits of a posting below the number of its term, and below its entry
_MOST = np.uint64(4095)  # count in a posting


class StoredWords(LexicalIndex):
    """A BM25 index of arrays: the postings of a term follow those of the term before it."""

    def __init__(self, *arrays: "Array") -> None:
        super().__init__(floor=0.2, base=1.0)
        self._lengths: Any
        self._lengths, self._names, self._ends, self._stops, self._entries, self._counts = arrays

    def _name(self, number: int) -> bytes:
        return self._names[self._ends[number - 1] if number else 0 : self._ends[number]].tobytes()

    def _term_postings(self, term: str) -> "tuple[Array, Array]":
        name = _encoded(term)
        number = bisect_left(range(len(self._ends)), name, key=self._name)
        is_known = number < len(self._ends) and self._name(number) == name
        postings = slice(self._stops[number - 1] if number else 0, self._stops[number]) if is_known else slice(0)
        return self._entries[postings], self._counts[postings]

    def moved(self, places: "Array", size: int, new: Iterable[tuple[int, str]]) -> "dict[str, Array]":
        """Return the arrays of an index of ``size`` entries: old ones at ``places``, -1 for none, and new ones."""
        numbers = {self._name(number): number for number in range(len(self._ends))}
        lengths = np.zeros(size)
        lengths[places[places >= 0]] = self._lengths[places >= 0]
        entries, of_term = places[self._entries], np.repeat(np.arange(len(self._ends)), np.diff(self._stops, prepend=0))
        old = of_term.astype("u8") << _TERM | entries.astype("u8") << _ENTRY | self._counts
        packed = array("Q", old[entries >= 0].tobytes())
        for place, text in new:
            counts = Counter(terms(text))
            lengths[place] = counts.total()
            for term, count in counts.items():
                number = numbers.setdefault(_encoded(term), len(numbers))
                packed.append(number << int(_TERM) | place << int(_ENTRY) | min(count, int(_MOST)))
        postings = np.array(packed, "u8")
        of_term = (postings >> _TERM).astype("i8")
        used = np.bincount(of_term, minlength=len(numbers)) > 0
        names = sorted(name for name, number in numbers.items() if used[number])
        rank = np.zeros(len(numbers), "u8")
        rank[[numbers[name] for name in names]] = np.arange(len(names))
        below = (np.uint64(1) << _TERM) - np.uint64(1)
        postings = np.sort(rank[of_term] << _TERM | postings & below)
        arrays = (
            *(lengths, np.array(bytearray(b"".join(names))), np.cumsum([len(name) for name in names])),
            np.cumsum(np.bincount((postings >> _TERM).astype("i8"), minlength=len(names))),
            *((postings & below) >> _ENTRY, postings & _MOST),
        )
        return {name: array.astype(kind) for (name, kind), array in zip(KINDS.items(), arrays, strict=True)}


NONE = StoredWords(*(np.zeros(0, kind) for kind in KINDS.values()))
"""An index without entries."""


def _encoded(term: str) -> bytes:
    return term.encode("utf-8", "surrogatepass")
