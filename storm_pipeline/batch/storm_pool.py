"""What writes the topics of a batch, shared by those with equal settings."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from storm_pipeline.settings import Settings

if TYPE_CHECKING:
    from storm_pipeline.storm import Storm


class StormPool:
    """A ``Storm`` for each of the settings that were asked for last. Safe for threads.

    Args:
        open_storm: makes one; default: ``Storm`` itself.
        most: kept at a time; those that are dropped live on only as long as a run of theirs.
    """

    def __init__(self, open_storm: "Callable[[Settings], Storm] | None" = None, *, most: int) -> None:
        self._make = open_storm or _plain_storm
        self._most = most
        self._kept: OrderedDict[Settings, Storm] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, settings: Settings) -> "Storm":
        """What writes with these settings."""
        with self._lock:
            storm = self._kept.pop(settings, None) or self._make(settings)
            self._kept[settings] = storm
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return storm


def _plain_storm(settings: Settings) -> "Storm":
    from storm_pipeline.storm import Storm

    return Storm(settings)
