"""How like a sentence is to passages: shared words and cosine, of a passage's likest part.

Words are compared with all parts, which is cheap; embedded are those parts alone that words leave in doubt.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from storm_pipeline.languages import detect, scripts_of, stem_set, windows
from storm_pipeline.references.facts import recall
from storm_pipeline.references.passages import Passage
from storm_pipeline.text.words import foreign_script_share

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to unit vectors, a row a text."""
_WINDOW, _STEP = 45, 30
"""Words of a passage that are compared with a sentence at a time, and from one such window to the next."""
_LATIN = "a"
"""Latin letters stand in texts of any language."""
_FOREIGN = 0.1
"""Share of letters in other scripts from which on a passage is in another language, whatever else stands in it."""
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
        self._known = stem_set(known, language)
        self._embed = embed
        self._language = language
        self._windows: dict[int, tuple[_Window, ...]] = {}

    def is_comparable(self, i: int) -> bool:
        """Whether likeness to a passage tells anything: across languages neither words nor most encoders do."""
        if foreign_script_share(self._shown[i].text, _LATIN, scripts_of(self._language)) > _FOREIGN:
            return False
        return all(detect(window.text) in {"", self._language} for window in self._windows_of(i)[::3])

    def reaches(self, text: str, i: int, least: float) -> bool:
        """Whether any part of a passage is at least so like a sentence; that with most of its words is tried first."""
        ranked = sorted(self._shared(text, i), key=lambda one: -one.share)
        if ranked[0].share / 2 >= least:
            return True
        return any(like >= least for some in (ranked[:1], ranked[1:]) for like in self._measured(text, some))

    def likest(self, text: str, positions: Iterable[int], least: float) -> list[int]:
        """Those of the passages that are at least so like a sentence, likest first."""
        shared = [one for i in positions for one in self._shared(text, i) if (one.share + self._most(i)) / 2 >= least]
        likeness: dict[int, float] = {}
        for one, like in zip(shared, self._measured(text, shared), strict=True):
            likeness[one.passage] = max(like, likeness.get(one.passage, 0.0))
        return sorted((i for i in likeness if likeness[i] >= least), key=lambda i: (-likeness[i], i))

    def _most(self, i: int) -> float:
        return _MOST if self.is_comparable(i) else 1.0

    def _measured(self, text: str, shared: Sequence[_Shared]) -> list[float]:
        if not shared:
            return []
        vectors = self._embed([text, *(one.window.text for one in shared)])
        cosine = np.clip(vectors[1:] @ vectors[0], 0, 1)
        return [(float(own) + one.share) / 2 for own, one in zip(cosine, shared, strict=True)]

    def _shared(self, text: str, i: int) -> list[_Shared]:
        wanted = stem_set(text, self._language)
        return [_Shared(i, window, recall(wanted, window.stems)) for window in self._windows_of(i)]

    def _windows_of(self, i: int) -> tuple[_Window, ...]:
        if i not in self._windows:
            around = stem_set(self._shown[i].title, self._language) | self._known
            parts = _parts(self._shown[i].text)
            self._windows[i] = tuple(_Window(part, stem_set(part, self._language) | around) for part in parts)
        return self._windows[i]


@lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[str, ...]:
    """Overlapping parts of a text, each short enough for an encoder; the last one ends with the text."""
    return windows(text, _WINDOW, _STEP)
