"""Finds equal texts, and passages that repeat each other, of which one is shown. Pure functions.

Editions of a text differ in the marks of their notes, in hyphens, and in a word here and there. A passage with another
number says something else: it may be a newer count.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from zlib import crc32

import numpy as np
import numpy.typing as npt

from storm_pipeline.text.markers import MARKS, mark_citations
from storm_pipeline.text.words import folded_words

SHINGLE = 6
"""Words of a shingle, the unit in which texts are compared."""
_CONTAINED = 0.5  # minimum share of the shorter text's shingles in a longer one that contains it
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # of the polynomial modulo 2^64 that hashes the words of a shingle
Hashes = npt.NDArray[np.uint64]


def same_texts(
    texts: Mapping[str, Iterable[str]], may_be_same: Callable[[str, str], bool] = lambda *_: True
) -> list[tuple[str, ...]]:
    """Group ids of equal texts: more than half of the shorter text's six-word shingles are in the longer one.

    This holds for every two texts of a group: two different texts in a collection stay in separate groups, and the
    collection joins the more similar one. The most similar pairs (Jaccard) are grouped first, equal ones in the order
    of their ids, so that the order of ``texts`` decides nothing.

    Args:
        texts: id → the passages of a text.
        may_be_same: whether the texts with two ids may be equal.

    Returns:
        The groups of two or more, in the order of their lowest ids. In each the text that is most like the others comes
        first; of equal ones the longer, then the lower id.
    """
    shingles_of = {name: distinct_shingles(parts) for name, parts in texts.items()}
    likeness = {pair: like for pair, like in _pairs(shingles_of) if may_be_same(*pair)}
    group_of: dict[str, frozenset[str]] = {}
    for pair in sorted(likeness, key=lambda pair: (-likeness[pair], pair)):
        first, other = (group_of.get(name, frozenset((name,))) for name in pair)
        if first != other and all((min(a, b), max(a, b)) in likeness for a in first for b in other):
            group_of |= dict.fromkeys(first | other, first | other)

    def place(name: str) -> tuple[float, int, str]:
        others = (likeness[min(name, member), max(name, member)] for member in group_of[name] if member != name)
        return -sum(sorted(others)), -len(shingles_of[name]), name

    return [tuple(sorted(group, key=place)) for group in sorted(set(group_of.values()), key=min)]


def shingles(words: Sequence[str]) -> Hashes:
    """Return the hashes of all six-word shingles of a text in order; none for fewer words."""
    known = {word: crc32(word.encode("utf-8", "surrogatepass")) for word in set(words)}
    ids = np.fromiter((known[word] for word in words), np.uint64, len(words))
    mixed = np.zeros(max(0, len(ids) - SHINGLE + 1), np.uint64)
    for offset in range(SHINGLE):
        mixed = mixed * _FACTOR + ids[offset : offset + len(mixed)] + np.uint64(1)
    return mixed


def distinct_shingles(parts: Iterable[str]) -> Hashes:
    """Return the hashes of the distinct six-word shingles of a text's passages, ascending."""
    return _distinct_of(tuple(parts))


def is_within(part: Hashes, whole: Hashes) -> bool:
    """Return whether more than half of a text's distinct shingles are in another one."""
    return bool(np.isin(part, whole, assume_unique=True).sum() > _CONTAINED * len(part))


@lru_cache(1 << 12)
def _distinct_of(parts: tuple[str, ...]) -> Hashes:
    return np.unique(np.concatenate([np.zeros(0, np.uint64), *map(_of_passage, parts)]))


@lru_cache(1 << 15)
def _of_passage(text: str) -> Hashes:
    return shingles(folded_words(text))


def _pairs(shingles_of: Mapping[str, Hashes]) -> Iterator[tuple[tuple[str, str], float]]:
    """Find the pairs of ids, the lower one first, with a text that contains the other, and their Jaccard similarity.

    Uses an inverted index without shingles of a single text.
    """
    names = sorted(name for name, distinct in shingles_of.items() if len(distinct))
    if not names:
        return
    sizes = np.array([len(shingles_of[name]) for name in names])
    every, columns = np.unique(np.concatenate([shingles_of[name] for name in names]), return_inverse=True)
    rows = np.repeat(np.arange(len(names)), sizes)
    is_shared = np.bincount(columns)[columns] > 1
    columns, rows = columns[is_shared], rows[is_shared]
    for i, shared in enumerate(np.split(columns, np.searchsorted(rows, np.arange(1, len(names))))):
        has = np.zeros(len(every), bool)
        has[shared] = True
        both = np.bincount(rows[has[columns]], minlength=len(names))[:i]
        for j in np.flatnonzero(both > _CONTAINED * np.minimum(sizes[i], sizes[:i])).tolist():
            yield (names[j], names[i]), float(both[j] / (sizes[i] + sizes[j] - both[j]))


_OWN = 1 / 12  # maximum share of a copy's words that the others lack, or one word


def without_duplicates(texts: Sequence[str]) -> list[tuple[int, ...]]:
    """Group positions of passages with the same content, the one to show first; groups are ordered by lowest position.

    The first passage is shown, unless a later one has all of its content and more. A passage may also repeat several
    others.
    """
    shown: dict[int, list[int]] = {}
    for i, text in enumerate(texts):
        shared = {j: count for j in shown if (count := shared_shingles(text, texts[j]))}
        if shared and repeats(text, [texts[j] for j in shared]):
            shown[max(shared, key=lambda j: shared[j])].append(i)
            continue
        repeated = [j for j in shared if repeats(texts[j], [text])]
        shown[i] = [i, *(k for j in repeated for k in shown.pop(j))]
    return [tuple(group) for group in sorted(shown.values(), key=min)]


def repeats(text: str, others: Sequence[str]) -> bool:
    """Return whether ``others`` together contain a passage's content: all but a few words, and all of its numbers."""
    runs = unshared_runs(text, others)
    if any(len(run) >= SHINGLE for run in runs) or sum(map(len, runs)) > max(1, _OWN * len(_words(text))):
        return False
    theirs = (run for other in others for run in unshared_runs(other, [text]) if len(run) < SHINGLE)
    return not any(map(figures, (*runs, *theirs)))


def unshared_runs(text: str, others: Sequence[str]) -> list[tuple[str, ...]]:
    """Find the runs of a text's words that are in no shingle of others, also with other hyphens or spaces."""
    words = _words(text)
    known = frozenset[int]().union(*map(_distinct, others))
    is_own = [True] * len(words)
    for start, shingle in enumerate(_in_order(text)):
        if shingle in known:
            is_own[start : start + SHINGLE] = [False] * SHINGLE
    glued = " ".join(map(_glue, others))
    runs = [[i for i, _ in run] for is_run, run in groupby(enumerate(is_own), lambda pair: pair[1]) if is_run]
    around = ("".join(words[max(0, run[0] - 1) : run[-1] + 2]) for run in runs)
    return [words[run[0] : run[-1] + 1] for run, text in zip(runs, around, strict=True) if text not in glued]


def figures(words: Sequence[str]) -> frozenset[str]:
    """Return the words that begin with a digit."""
    return frozenset(word for word in words if word[0].isdigit())


@lru_cache(1 << 14)
def numbers_in(text: str) -> frozenset[str]:
    """Return the words of a passage that begin with a digit, except the numbers of its notes."""
    return figures(_words(text))


def shared_shingles(text: str, other: str) -> int:
    """Count the shingles that two texts share; if one is shorter than a shingle, return whether the other has it."""
    shorter, two = sorted((_words(text), _words(other)), key=len)
    if len(shorter) >= SHINGLE:
        return len(_distinct(text) & _distinct(other))
    return f" {' '.join(shorter)} " in f" {' '.join(two)} "


@lru_cache(1 << 12)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text for comparison, without note marks, whose numbers differ between editions."""
    return tuple(folded_words(MARKS.sub(" ", mark_citations(text, 0))))


@lru_cache(1 << 12)
def _glue(text: str) -> str:
    return "".join(_words(text))


@lru_cache(1 << 12)
def _in_order(text: str) -> tuple[int, ...]:
    return tuple(shingles(_words(text)).tolist())


@lru_cache(1 << 12)
def _distinct(text: str) -> frozenset[int]:
    return frozenset(_in_order(text))
