"""Disk cache of pages by canonical URL."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from storm_pipeline.errors import PageError
from storm_pipeline.identity import canonical_url
from storm_pipeline.pages.extract import Page
from storm_pipeline.search.search_cache import CacheMode
from storm_pipeline.sqlite_cache import SqliteCache

Fetch = Callable[[str], Page]
"""URL → page; raises PageError."""


class CachedPages:
    """Fetches pages and caches them by canonical URL. Failures are not cached.

    Args:
        folder: the cache folder; pages are kept in ``pages/pages.sqlite`` inside it.
        max_age_days: age in days after which a page expires; ignored in a replay. None for no limit.
    """

    def __init__(self, fetch: Fetch, folder: Path, mode: CacheMode = "use", max_age_days: float | None = 30.0) -> None:
        self._fetch = fetch
        self._cache = SqliteCache(Path(folder) / "pages" / "pages.sqlite")
        self._mode = mode
        self._max_age_days = None if mode == "replay" else max_age_days

    @property
    def problems(self) -> tuple[str, ...]:
        """What is damaged in the cache or keeps it from being used, one sentence each."""
        return self._cache.problems

    def __call__(self, url: str) -> Page:
        """The page at a URL, from the cache where the mode allows.

        Raises PageError: as ``fetch``; or a cache miss in a replay.
        """
        if self._mode == "off":
            return self._fetch(url)
        key = canonical_url(url)
        if self._mode != "refresh" and (known := _page(self._cache.get(key, self._max_age_days))):
            return known
        if self._mode == "replay":
            raise PageError(f"{url} was not recorded")
        page = self._fetch(url)
        self._cache.put(key, asdict(page))
        return page


def _page(record: Any) -> Page | None:
    """The page of a record; None if it is malformed."""
    try:
        return Page(**{**record, "pages": tuple((number, text) for number, text in record["pages"])})
    except (TypeError, ValueError, KeyError):
        return None
