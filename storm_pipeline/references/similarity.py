"""Similarity of a sentence to passages: shared words and cosine, maximised over windows of the passage.

Words are compared with all windows, which is cheap; only windows that this leaves in doubt are embedded.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from storm_pipeline.languages import detect, scripts_of, stem_set, windows
from storm_pipeline.references.facts import recall
from storm_pipeline.references.passages import Passage
from storm_pipeline.text.words import foreign_script_share

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Texts to unit vectors, shape (texts, dimension)."""
_WINDOW, _STEP = 45, 30  # size and stride of the windows of a passage, in words
_LATIN = "a"  # Latin letters occur in texts of any language
_FOREIGN = 0.1  # share of letters in other scripts above which a passage counts as being in another language
_AT_ONCE = 8  # maximum windows measured in one call
_LIKELY = 0.25
"""Maximum gap to the first window's share of words at which another one is measured with it: its cosine will rarely be
high enough to rule the other one out."""
_MOST = 0.8  # upper bound assumed for the cosine of a window in the sentence's language; 1 for other languages


@dataclass(frozen=True)
class _Shared:
    """A window of a passage, and the share of a sentence's stems that it contains."""

    passage: int
    text: str  # of the window
    share: float


class Similarity:
    """Compares sentences with passages; the similarity is the mean of cosine and share of words, in [0, 1].

    Args:
        known: text whose words count as words of every passage.
    """

    def __init__(self, shown: Sequence[Passage], *, known: str, embed: Embed, language: str) -> None:
        self._shown = shown
        self._known = stem_set(known, language)
        self._embed = embed
        self._language = language
        # of each passage the windows, with their stems and those of title and known text
        self._windows: dict[int, tuple[tuple[str, frozenset[str]], ...]] = {}
        self._comparable: dict[int, bool] = {}
        self._vectors: dict[str, npt.NDArray[np.float32]] = {}

    def is_comparable(self, i: int) -> bool:
        """Whether similarity to a passage is meaningful: across languages, words and most encoders fail."""
        if i not in self._comparable:
            foreign = foreign_script_share(self._shown[i].text, _LATIN, scripts_of(self._language)) > _FOREIGN
            some = self._windows_of(i)[::3]
            self._comparable[i] = not foreign and all(detect(text) in {"", self._language} for text, _ in some)
        return self._comparable[i]

    def reaches(self, text: str, i: int, least: float) -> bool:
        """Whether a sentence's similarity to a passage is at least ``least``; the best window by words goes first."""
        ranked = sorted(self._shared(text, i), key=lambda one: -one.share)
        if ranked[0].share / 2 >= least:
            return True
        return any(like >= least for some in (ranked[:1], ranked[1:]) for like in self._measured(text, some))

    def parts(self, i: int) -> list[str]:
        """The windows of a passage."""
        return [text for text, _ in self._windows_of(i)]

    def prepare(self, texts: Iterable[str], least: float) -> None:
        """Embed sentences and the first windows that :meth:`most_similar` compares them with, all in one call."""
        wanted: dict[str, None] = {}
        for text in texts:
            first = _together(self._candidates(text, range(len(self._shown)), least))
            wanted |= dict.fromkeys([text, *(one.text for one in first)] if first else ())
        self._vectors_of(list(wanted))

    def most_similar(self, text: str, positions: Iterable[int], least: float) -> Iterator[int]:
        """The passages whose similarity to a sentence is at least ``least``, most similar first; embedded on demand."""
        waiting = self._candidates(text, positions, least)
        similarity: dict[int, float] = {}
        while waiting or similarity:
            best = min(similarity, key=lambda i: (-similarity[i], i), default=-1)
            if waiting and similarity.get(best, 0.0) < (waiting[0].share + 1) / 2:  # it may be more similar
                first = _together(waiting)
                del waiting[: len(first)]
                for one, like in zip(first, self._measured(text, first), strict=True):
                    similarity[one.passage] = max(like, similarity.get(one.passage, 0.0))
            elif similarity.pop(best) >= least:
                waiting = [one for one in waiting if one.passage != best]
                yield best
            else:
                return

    def _candidates(self, text: str, positions: Iterable[int], least: float) -> list[_Shared]:
        """The windows that may be similar enough to a sentence, those with most of its words first."""
        shared = (one for i in positions for one in self._shared(text, i) if (one.share + self._most(i)) / 2 >= least)
        return sorted(shared, key=lambda one: -one.share)

    def _most(self, i: int) -> float:
        return _MOST if self.is_comparable(i) else 1.0

    def _measured(self, text: str, shared: Sequence[_Shared]) -> list[float]:
        if not shared:
            return []
        vectors = self._vectors_of([text, *(one.text for one in shared)])
        cosine = np.clip(vectors[1:] @ vectors[0], 0, 1)
        return [(float(cos) + one.share) / 2 for cos, one in zip(cosine, shared, strict=True)]

    def _vectors_of(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if missing:
            self._vectors.update(zip(missing, self._embed(missing), strict=True))
        return np.stack([self._vectors[text] for text in texts]) if texts else np.zeros((0, 0), np.float32)

    def _shared(self, text: str, i: int) -> list[_Shared]:
        wanted = stem_set(text, self._language)
        return [_Shared(i, part, recall(wanted, stems)) for part, stems in self._windows_of(i)]

    def _windows_of(self, i: int) -> tuple[tuple[str, frozenset[str]], ...]:
        if i not in self._windows:
            around = stem_set(self._shown[i].title, self._language) | self._known
            parts = _parts(self._shown[i].text)
            self._windows[i] = tuple((part, stem_set(part, self._language) | around) for part in parts)
        return self._windows[i]


def _together(waiting: Sequence[_Shared]) -> Sequence[_Shared]:
    """The first windows, which are measured in one call; ``waiting`` is sorted."""
    return [one for one in waiting[:_AT_ONCE] if one.share > waiting[0].share - _LIKELY]


@lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[str, ...]:
    """Overlapping windows of a text, each short enough for an encoder; the last one ends with the text."""
    return windows(text, _WINDOW, _STEP)
