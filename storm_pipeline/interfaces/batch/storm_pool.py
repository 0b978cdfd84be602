"""A pool of ``Storm`` objects, shared by topics with equal settings."""

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from storm_pipeline.settings import Settings

if TYPE_CHECKING:
    from storm_pipeline.storm import Storm


def storm_pool(open_storm: "Callable[[Settings], Storm] | None", *, size: int) -> "Callable[[Settings], Storm]":
    """Return a thread-safe function from settings to a ``Storm``, with a cache of the last ``size`` ones.

    An evicted object lives until its runs end. ``open_storm``: factory; None: the class itself.
    """
    kept, lock = lru_cache(size)(open_storm or _default_storm), threading.Lock()

    def get(settings: Settings) -> "Storm":
        with lock:  # one object for equal settings
            return kept(settings)

    return get


def _default_storm(settings: Settings) -> "Storm":
    from storm_pipeline.storm import Storm

    return Storm(settings)
