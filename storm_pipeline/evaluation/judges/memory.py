"""What judges said, kept on disk: a score that is asked for again, or after an interruption, is not bought again."""

import threading
from pathlib import Path
from typing import Any

from storm_pipeline.journal import Journal
from storm_pipeline.sqlite_cache import SqliteCache


class JudgeMemory(Journal):
    """Replies of judges by the request that they answer: model, sampling and prompt. Thread-safe.

    A reply is served once a process; who asks a second time found it wanting, and gets a fresh one, which replaces it.

    Args:
        cache: the cache folder; the replies are in ``judges.sqlite`` inside it.
        judge: the model as the settings name it, endpoint included: names alone may mean several models.
    """

    def __init__(self, cache: Path, judge: str) -> None:
        super().__init__(None)
        self._judge = judge
        self._replies = SqliteCache(cache / "judges.sqlite")
        self._served: set[tuple[str, str]] = set()
        self._serving = threading.Lock()

    def take(self, kind: str, key: str) -> Any | None:
        """The reply, unless this process had it before."""
        with self._serving:
            if (kind, key) in self._served:
                return None
            self._served.add((kind, key))
        return self._replies.get(f"{self._judge} {kind} {key}")

    def add(self, kind: str, key: str, value: Any) -> None:
        """Keep a reply in place of an earlier one; where the disk is full, nothing is kept."""
        self._replies.put(f"{self._judge} {kind} {key}", value)
