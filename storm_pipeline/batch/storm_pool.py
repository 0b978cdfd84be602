"""A pool of ``Storm`` objects, shared by topics with equal settings."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from storm_pipeline.settings import Settings

if TYPE_CHECKING:
    from storm_pipeline.storm import Storm


class StormPool:
    """An LRU cache of ``Storm`` objects by settings. Thread-safe.

    Args:
        open_storm: makes a ``Storm``; default: the class itself.
        size: number of objects kept; an evicted one lives until its runs end.
    """

    def __init__(self, open_storm: "Callable[[Settings], Storm] | None" = None, *, size: int) -> None:
        self._open = open_storm or _default_storm
        self._size = size
        self._cache: OrderedDict[Settings, Storm] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, settings: Settings) -> "Storm":
        """The ``Storm`` with these settings."""
        with self._lock:
            storm = self._cache.pop(settings, None) or self._open(settings)
            self._cache[settings] = storm
            while len(self._cache) > self._size:
                self._cache.popitem(last=False)
            return storm


def _default_storm(settings: Settings) -> "Storm":
    from storm_pipeline.storm import Storm

    return Storm(settings)
