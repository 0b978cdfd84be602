"""A disk cache of judge replies: a score that is requested again is not paid for again."""

from pathlib import Path
from typing import Any

from storm_pipeline.api import Journal, SqliteCache


class JudgeReplyCache(Journal):
    """Judge replies keyed by request (model, sampling, prompt). Thread-safe.

    A reply that does not parse is removed, so that a retry gets a new one.

    Args:
        cache: the cache folder; replies are stored in its ``judges.sqlite``.
        judge: model name and endpoint; the same name may mean different models at different endpoints.
    """

    def __init__(self, cache: Path, judge: str) -> None:
        super().__init__(None)
        self._judge = judge
        self._replies = SqliteCache(cache / "judges.sqlite")

    def take(self, kind: str, key: str) -> Any | None:
        """The cached reply, or None; may be read repeatedly."""
        return self._replies.get(f"{self._judge} {kind} {key}")

    def add(self, kind: str, key: str, value: Any) -> None:
        """Store a reply, replacing an earlier one; a full disk is ignored."""
        self._replies.put(f"{self._judge} {kind} {key}", value)

    def unparsed(self, kind: str, key: str) -> None:
        """Remove the reply."""
        self.add(kind, key, None)

    def reject(self, kind: str, key: str, value: Any) -> None:  # noqa: ARG002 - the base class's contract
        """Remove the reply."""
        self.add(kind, key, None)
