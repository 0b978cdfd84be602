"""Pages remembered on disk by their address."""

from pathlib import Path
from typing import Any

from storm_pipeline.identity import canonical_url
from storm_pipeline.sqlite_cache import SqliteCache


class PageCache:
    """What was read from pages, as JSON values; the spellings of one address are one page.

    Args:
        folder: the cache folder; pages are kept in ``pages/pages.sqlite`` inside it.
        max_age_days: age after which a page counts as unknown; None for no limit.
    """

    def __init__(self, folder: Path, max_age_days: float | None = 30.0) -> None:
        self._cache = SqliteCache(Path(folder) / "pages" / "pages.sqlite")
        self._max_age_days = max_age_days

    def get(self, url: str) -> Any:
        """What is known of a page; None where nothing is."""
        return self._cache.get(canonical_url(url), self._max_age_days)

    def put(self, url: str, value: Any) -> None:
        """Remember a value that JSON can hold, other than None."""
        self._cache.put(canonical_url(url), value)
