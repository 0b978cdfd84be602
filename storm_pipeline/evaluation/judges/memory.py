"""What judges said, kept on disk: a score that is asked for again, or after an interruption, is not bought again."""

from pathlib import Path
from typing import Any

from storm_pipeline.run.journal import Journal
from storm_pipeline.sqlite_cache import SqliteCache


class JudgeMemory(Journal):
    """Replies of judges by the request that they answer: model, sampling and prompt. Thread-safe.

    One that does not parse is not kept: who asks again gets a fresh one.

    Args:
        cache: the cache folder; the replies are in ``judges.sqlite`` inside it.
        judge: the model as the settings name it, endpoint included: names alone may mean several models.
    """

    def __init__(self, cache: Path, judge: str) -> None:
        super().__init__(None)
        self._judge = judge
        self._replies = SqliteCache(cache / "judges.sqlite")

    def take(self, kind: str, key: str) -> Any | None:
        """The reply, as often as it is asked for."""
        return self._replies.get(f"{self._judge} {kind} {key}")

    def add(self, kind: str, key: str, value: Any) -> None:
        """Keep a reply in place of an earlier one; where the disk is full, nothing is kept."""
        self._replies.put(f"{self._judge} {kind} {key}", value)

    def reject(self, kind: str, key: str) -> None:
        """Keep the reply no longer."""
        self.add(kind, key, None)
