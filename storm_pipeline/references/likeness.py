"""How like a sentence is to passages: shared words and cosine, of a passage's likest part.

Words are compared with all parts, which is cheap; embedded are those parts alone that words leave in doubt.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from storm_pipeline.languages import detect
from storm_pipeline.references.facts import recall, stem_set
from storm_pipeline.references.passages import Passage

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to unit vectors, a row a text."""
_WINDOW, _STEP = 45, 30
"""Words of a passage that are compared with a sentence at a time, and from one such window to the next."""
_MOST = 0.8
"""Cosine that a window is not above which shares few words with a sentence; in another language it may be."""


@dataclass(frozen=True)
class _Window:
    """A part of a passage, with the stems that it and what surrounds it have."""

    text: str
    stems: frozenset[str]


@dataclass(frozen=True)
class _Shared:
    """A window of a passage, and the share of a sentence's words that it has."""

    passage: int
    window: _Window
    share: float


class Likeness:
    """Compares sentences with passages; a likeness is the mean of cosine and share of words, in [0, 1].

    Args:
        shown: the passages.
        known: what a passage need not say: its words count as words of every passage.
        embed: texts to unit vectors.
        language: ISO 639-1 code of the sentences.
    """

    def __init__(self, shown: Sequence[Passage], *, known: str, embed: Embed, language: str) -> None:
        self._shown = shown
        self._known = stem_set(known)
        self._embed = embed
        self._language = language
        self._windows: dict[int, tuple[_Window, ...]] = {}
        self._comparable: dict[int, bool] = {}

    def is_comparable(self, i: int) -> bool:
        """Whether likeness to a passage tells anything: across languages neither words nor most encoders do."""
        if i not in self._comparable:
            sample = (window.text for window in self._windows_of(i)[::3])
            self._comparable[i] = all(detect(part) in {"", self._language} for part in sample)
        return self._comparable[i]

    def reaches(self, text: str, i: int, least: float) -> bool:
        """Whether any part of a passage is at least so like a sentence; that with most of its words is tried first."""
        ranked = sorted(self._shared(text, i), key=lambda one: -one.share)
        if ranked[0].share / 2 >= least:
            return True
        return any(like >= least for some in (ranked[:1], ranked[1:]) for like in self._measured(text, some))

    def likest(self, text: str, positions: Iterable[int], least: float) -> Iterator[int]:
        """Those of the passages that are at least so like a sentence, likest first; embedded as they are asked for."""
        shared = (one for i in positions for one in self._shared(text, i) if (one.share + self._most(i)) / 2 >= least)
        waiting = sorted(shared, key=lambda one: -one.share)
        likeness: dict[int, float] = {}
        while waiting or likeness:
            best = min(likeness, key=lambda i: (-likeness[i], i), default=-1)
            if waiting and likeness.get(best, 0.0) < (waiting[0].share + 1) / 2:  # it may be likelier yet
                one = waiting.pop(0)
                (like,) = self._measured(text, [one])
                likeness[one.passage] = max(like, likeness.get(one.passage, 0.0))
            elif likeness.pop(best) >= least:
                waiting = [one for one in waiting if one.passage != best]
                yield best
            else:
                return

    def _most(self, i: int) -> float:
        return _MOST if self.is_comparable(i) else 1.0

    def _measured(self, text: str, shared: Sequence[_Shared]) -> list[float]:
        if not shared:
            return []
        vectors = self._embed([text, *(one.window.text for one in shared)])
        cosine = np.clip(vectors[1:] @ vectors[0], 0, 1)
        return [(float(own) + one.share) / 2 for own, one in zip(cosine, shared, strict=True)]

    def _shared(self, text: str, i: int) -> list[_Shared]:
        wanted = stem_set(text)
        return [_Shared(i, window, recall(wanted, window.stems)) for window in self._windows_of(i)]

    def _windows_of(self, i: int) -> tuple[_Window, ...]:
        if i not in self._windows:
            around = stem_set(self._shown[i].title) | self._known
            self._windows[i] = tuple(_Window(part, stem_set(part) | around) for part in _parts(self._shown[i].text))
        return self._windows[i]


@lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[str, ...]:
    """Overlapping parts of a text, each short enough for an encoder; the last one ends with the text."""
    words = text.split()
    starts = range(0, max(1, len(words) - _WINDOW + _STEP), _STEP)
    return tuple(" ".join(words[start : start + _WINDOW]) for start in starts)
