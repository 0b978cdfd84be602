"""Disk cache of search results, so that no search is repeated or paid for twice."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, TypeVar

from storm_pipeline.errors import SearchError
from storm_pipeline.sources.search.result import SearchResult, read_record
from storm_pipeline.sources.sqlite_cache import SqliteCache
from storm_pipeline.text.identity import in_form
from storm_pipeline.types import Snippet

T = TypeVar("T")
CacheMode = Literal["use", "off", "refresh", "replay"]
"""``use``: search on a cache miss. ``off``: neither read nor write. ``refresh``: always search, and store the result.
``replay``: never search; a cache miss is an error."""
_FORMAT = 1


class ModeCache:
    """A cache file with a mode; values expire after ``max_age_days``, except in a replay."""

    def __init__(self, file: Path, mode: CacheMode, max_age_days: float | None = 30.0) -> None:
        self._cache, self._mode = SqliteCache(file), mode
        self._max_age_days = None if mode == "replay" else max_age_days

    @property
    def problems(self) -> tuple[str, ...]:
        """Damage of the cache and failures, one sentence each."""
        return self._cache.problems

    def load(self, key: str, kind: type[T], missing: Exception) -> T | None:
        """Return a key's record of a type; on a cache miss None, or raise ``missing`` in a replay."""
        is_read = self._mode not in {"off", "refresh"}
        known = read_record(kind, self._cache.get(key, self._max_age_days)) if is_read else None
        if known is None and self._mode == "replay":
            raise missing
        return known

    def store(self, key: str, record: Any) -> None:
        """Store the record of a key."""
        if self._mode != "off":
            self._cache.put(key, record)


class SearchCache(ModeCache):
    """A disk cache of searches. Empty results are cached; failures and partial results are not.

    ``folder``: the cache folder; results are kept in ``search/searches.sqlite`` inside it.
    """

    def __init__(self, folder: Path, mode: CacheMode = "use") -> None:
        super().__init__(Path(folder) / "search" / "searches.sqlite", mode)

    def result(
        self, query: str, k: int, engine: str, ask: Callable[[str, int], SearchResult], *, identity: str = ""
    ) -> SearchResult:
        """Return the result of a query for up to ``k`` pages, else that of ``ask``, which is stored unless partial.

        ``identity``: the engine's name with its options. Raises SearchError: a cache miss in a replay; as ``ask``.
        """
        key = json.dumps([_FORMAT, identity or engine, " ".join(in_form(query, "NFC").split()), k])
        missing = SearchError(
            f"the search for {query!r} by {engine} ({k} results) was not recorded: "
            "run once with the search cache in mode `use` or `refresh`, with the same engine and options"
        )
        if (known := self.load(key, tuple[Snippet, ...], missing)) is not None:
            return SearchResult(known)
        result = ask(query, k)
        if not result.lost:
            self.store(key, list(map(asdict, result.snippets)))
        return result
