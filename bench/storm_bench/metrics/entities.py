"""Named entities of texts: the tagger protocol, a cache, and recall over entity sets."""

import threading
from collections.abc import Iterable, Sequence
from typing import Protocol

from storm_bench.metrics.base import Score


class EntityTagger(Protocol):
    """Finds the named entities of texts. Called from several threads at once.

    ``name`` identifies library and model, because values by different taggers are not comparable. ``entities`` returns
    the distinct lower-cased mentions of each text, in order.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    def entities(self, texts: Sequence[str]) -> list[frozenset[str]]: ...  # noqa: D102


class CachingTagger:
    """Caches the entities of recent texts: a topic's human article is compared with many systems' articles.

    Args:
        tagger: the wrapped tagger, called by one thread at a time.
        size: number of cached texts, >= 1; the oldest are dropped first.
    """

    def __init__(self, tagger: EntityTagger, size: int = 1 << 16) -> None:
        self.name = tagger.name
        self._tagger = tagger
        self._size = size
        self._known: dict[str, frozenset[str]] = {}
        self._lock = threading.Lock()

    def entities(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """The entities of each text, in order; equal texts are tagged once."""
        with self._lock:
            missing = [text for text in dict.fromkeys(texts) if text not in self._known]
            self._known.update(zip(missing, self._tagger.entities(missing), strict=True))
            found = [self._known[text] for text in texts]
            while len(self._known) > self._size:
                del self._known[next(iter(self._known))]
        return found


def entity_recall(truth: Iterable[str], produced: Iterable[str]) -> float | None:
    """|G ∩ P| / |G| of two sets of entities, in [0, 1]; None if the truth is empty.

    The paper's script gives 1 in that case, which raises every system's mean by the share of such topics.
    """
    wanted = frozenset(truth)
    return len(wanted & frozenset(produced)) / len(wanted) if wanted else None


def entities_of(tagger: EntityTagger, texts: Sequence[str]) -> frozenset[str]:
    """The union of the entities of several texts."""
    return frozenset[str]().union(*tagger.entities(texts))


def recall_score(what: str, tagger: EntityTagger, truth: Sequence[str], produced: Sequence[str]) -> Score:
    """``{what}_entity_recall`` and the number of entities in the truth, ``{what}_entities``."""
    wanted, found = entities_of(tagger, truth), entities_of(tagger, produced)
    return {f"{what}_entity_recall": entity_recall(wanted, found), f"{what}_entities": len(wanted)}
