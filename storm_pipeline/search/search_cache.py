"""Disk cache of search results, so that no search is repeated or paid for twice."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

from storm_pipeline.errors import SearchError
from storm_pipeline.search.base import Search
from storm_pipeline.search.result import SearchResult, checked_value
from storm_pipeline.sqlite_cache import SqliteCache
from storm_pipeline.types import Snippet

CacheMode = Literal["use", "off", "refresh", "replay"]
"""``use``: search on a cache miss. ``off``: neither read nor write. ``refresh``: always search, and store the result.
``replay``: never search; a cache miss is an error."""
_FORMAT = 1
_FIELDS = tuple(field.name for field in fields(Snippet))
"""In the order in which they are stored. New fields are added at the end: records of earlier versions lack them."""


class SearchCache:
    """A disk cache of searches. Empty results are cached; failures and partial results are not.

    Args:
        folder: the cache folder; results are kept in ``search/searches.sqlite`` inside it.
        max_age_days: age in days after which a result expires; ignored in a replay. None for no limit.
    """

    def __init__(self, folder: Path, mode: CacheMode = "use", max_age_days: float | None = 30.0) -> None:
        self._cache = SqliteCache(Path(folder) / "search" / "searches.sqlite")
        self._mode = mode
        self._max_age_days = None if mode == "replay" else max_age_days

    @property
    def problems(self) -> tuple[str, ...]:
        """What is damaged in the cache or keeps it from being used, one sentence each."""
        return self._cache.problems

    def remembering(self, engine: Search, identity: str | None = None) -> Search:
        """The engine with the cache before it, where the mode allows; a cache miss in a replay is a SearchError.

        ``identity``: cache key of the engine and its options; by default its name.
        """
        if self._mode == "off":
            return engine
        key = engine.name if identity is None else identity
        return Search(engine.name, lambda query, k: self._search(engine, key, query, k))

    def _search(self, engine: Search, identity: str, query: str, k: int) -> SearchResult:
        key = json.dumps([_FORMAT, identity, " ".join(normalize("NFC", query).split()), k])
        if self._mode != "refresh":
            known = _snippets(self._cache.get(key, self._max_age_days))
            if known is not None:
                return SearchResult(known)
        if self._mode == "replay":
            raise SearchError(
                f"the search for {query!r} by {engine.name} ({k} results) was not recorded: "
                "run once with the search cache in mode `use` or `refresh`, with the same engine and options"
            )
        found = engine.search(query, k)
        if not found.lost:
            self._cache.put(key, [[getattr(snippet, name) for name in _FIELDS] for snippet in found.snippets])
        return found


def _snippets(record: Any) -> tuple[Snippet, ...] | None:
    """The snippets of a record; None if it is malformed."""
    if not isinstance(record, list) or not all(isinstance(one, list) and len(one) <= len(_FIELDS) for one in record):
        return None
    try:
        return tuple(checked_value(Snippet, dict(zip(_FIELDS, values, strict=False))) for values in record)
    except TypeError:
        return None
