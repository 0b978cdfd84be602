"""Groups passages that say the same in the same words, so that one of them is shown. Pure functions.

Editions of a text differ in the marks of their notes, in hyphens, and in a word here and there. A passage with another
number says something else: it may be a newer count.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

from storm_pipeline.evidence.same_text import SHINGLE, shingles
from storm_pipeline.text.marker_forms import MARKS
from storm_pipeline.text.markers import marked
from storm_pipeline.text.words import folded_words

_OWN = 1 / 12  # most of a copy's words that the others lack, or one


def without_copies(texts: Sequence[str]) -> list[tuple[int, ...]]:
    """Group positions of passages with the same content, the one to show first; groups are ordered by lowest position.

    The first passage is shown, unless a later one has all of its content and more. A passage may also repeat several
    others together.
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
    own = own_runs(text, others)
    if any(len(run) >= SHINGLE for run in own) or sum(map(len, own)) > max(1, _OWN * len(_words(text))):
        return False
    theirs = (run for other in others for run in own_runs(other, [text]) if len(run) < SHINGLE)
    return not any(map(counts, (*own, *theirs)))


def own_runs(text: str, others: Sequence[str]) -> list[tuple[str, ...]]:
    """Find the runs of a text's words that are in no shingle of others, nor in them with other hyphens or spaces."""
    words = _words(text)
    known = frozenset[int]().union(*map(_distinct, others))
    is_own = [True] * len(words)
    for start, shingle in enumerate(_in_order(text)):
        if shingle in known:
            is_own[start : start + SHINGLE] = [False] * SHINGLE
    glued = " ".join(map(_glued, others))
    runs = [[i for i, _ in run] for own, run in groupby(enumerate(is_own), lambda one: one[1]) if own]
    around = ("".join(words[max(0, run[0] - 1) : run[-1] + 2]) for run in runs)
    return [words[run[0] : run[-1] + 1] for run, text in zip(runs, around, strict=True) if text not in glued]


def counts(words: Sequence[str]) -> frozenset[str]:
    """Return the words that begin with a digit."""
    return frozenset(word for word in words if word[0].isdigit())


@lru_cache(1 << 14)
def numbers_in(text: str) -> frozenset[str]:
    """Return the words of a passage that begin with a digit, except the numbers of its notes."""
    return counts(_words(text))


def shared_shingles(text: str, other: str) -> int:
    """Count the shingles that two texts share; if one is shorter than a shingle, return whether the other has it."""
    one, two = sorted((_words(text), _words(other)), key=len)
    if len(one) >= SHINGLE:
        return len(_distinct(text) & _distinct(other))
    return f" {' '.join(one)} " in f" {' '.join(two)} "


@lru_cache(1 << 12)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text for comparison, without note marks, whose numbers differ between editions."""
    return tuple(folded_words(MARKS.sub(" ", marked(text, 0))))


@lru_cache(1 << 12)
def _glued(text: str) -> str:
    return "".join(_words(text))


@lru_cache(1 << 12)
def _in_order(text: str) -> tuple[int, ...]:
    return tuple(shingles(_words(text)).tolist())


@lru_cache(1 << 12)
def _distinct(text: str) -> frozenset[int]:
    return frozenset(_in_order(text))
