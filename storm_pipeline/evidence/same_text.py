"""Groups pages with the same text: a decision on eight hosts, a press release in three newspapers. Pure functions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from zlib import crc32

import numpy as np
import numpy.typing as npt

from storm_pipeline.text.words import folded_words

SHINGLE = 6
"""Words of a shingle, the unit in which texts are compared."""
_CONTAINED = 0.5  # share of the shorter text's shingles above which the longer one contains it
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # of the polynomial modulo 2^64 that hashes the words of a shingle
Hashes = npt.NDArray[np.uint64]


def same_texts(
    texts: Mapping[str, Iterable[str]], may_be_same: Callable[[str, str], bool] = lambda *_: True
) -> list[tuple[str, ...]]:
    """Group ids of texts that are the same: over half of the shorter one's six-word shingles are in the longer one.

    This holds for every two texts of a group: two texts that a collection contains, and that have little in common, are
    not grouped, and the collection joins the more similar one. The most similar pairs (Jaccard) are grouped first, ties
    in the order of their ids, so that the order of ``texts`` decides nothing.

    Args:
        texts: id → the passages of a text.
        may_be_same: whether the texts with two ids may be one at all.

    Returns:
        The groups of two or more, in the order of their lowest ids. In each the text that is most like the others comes
        first; of equal ones the longer, then the lower id.
    """
    found = {name: distinct_shingles(parts) for name, parts in texts.items()}
    likeness = {pair: like for pair, like in _pairs(found) if may_be_same(*pair)}
    group_of: dict[str, frozenset[str]] = {}
    for pair in sorted(likeness, key=lambda pair: (-likeness[pair], pair)):
        one, other = (group_of.get(name, frozenset((name,))) for name in pair)
        if one != other and all((min(a, b), max(a, b)) in likeness for a in one for b in other):
            group_of |= dict.fromkeys(one | other, one | other)

    def place(name: str) -> tuple[float, int, str]:
        others = (likeness[min(name, own), max(name, own)] for own in group_of[name] if own != name)
        return -sum(sorted(others)), -len(found[name]), name

    return [tuple(sorted(group, key=place)) for group in sorted(set(group_of.values()), key=min)]


def shingles(words: Sequence[str]) -> Hashes:
    """Return the hashes of all six-word shingles of a text, in order; empty for fewer words."""
    known = {word: crc32(word.encode("utf-8", "surrogatepass")) for word in set(words)}
    ids = np.fromiter((known[word] for word in words), np.uint64, len(words))
    mixed = np.zeros(max(0, len(ids) - SHINGLE + 1), np.uint64)
    for offset in range(SHINGLE):
        mixed = mixed * _FACTOR + ids[offset : offset + len(mixed)] + np.uint64(1)
    return mixed


def distinct_shingles(parts: Iterable[str]) -> Hashes:
    """Return the hashes of the distinct six-word shingles of a text's passages, ascending."""
    every = [_of_passage(part) for part in parts]
    return np.unique(np.concatenate(every)) if every else np.zeros(0, np.uint64)


def is_within(part: Hashes, whole: Hashes) -> bool:
    """Return whether more than half of a text's distinct shingles are in another one."""
    return bool(np.isin(part, whole, assume_unique=True).sum() > _CONTAINED * len(part))


@lru_cache(1 << 15)
def _of_passage(text: str) -> Hashes:
    return shingles(folded_words(text))


def _pairs(found: Mapping[str, Hashes]) -> Iterator[tuple[tuple[str, str], float]]:
    """Yield the pairs of ids, the lower one first, of which one text contains the other, and their Jaccard similarity.

    An inverted index: shingles that one text alone has are left out, and each text is counted against all at once.
    """
    names = sorted(name for name, own in found.items() if len(own))
    if not names:
        return
    sizes = [len(found[name]) for name in names]
    every, columns = np.unique(np.concatenate([found[name] for name in names]), return_inverse=True)
    rows = np.repeat(np.arange(len(names)), sizes)
    is_shared = np.bincount(columns)[columns] > 1
    columns, rows = columns[is_shared], rows[is_shared]
    for i, name in enumerate(names):
        has = np.zeros(len(every), bool)
        has[columns[rows == i]] = True
        for j, both in enumerate(np.bincount(rows[has[columns]], minlength=len(names))[:i].tolist()):
            if both > _CONTAINED * min(sizes[i], sizes[j]):
                yield (names[j], name), both / (sizes[i] + sizes[j] - both)
