"""A fallback chain of engines: the next is queried if one fails or finds nothing."""

from collections.abc import Iterable

from storm_pipeline.search.base import Search, SearchEngine
from storm_pipeline.search.combined import attempt, checked_engines, composite_name, merged_result, open_composite
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, OpenedEngine
from storm_pipeline.search.result import SearchResult

INFO = EngineInfo(
    "first:A>B",
    needs="what the engines A, B … need; quote it in a shell",
    free=True,
    returns="results of the first engine, or of the next if it fails or finds nothing",
    separator=">",
)


def open_engine(argument: str, config: EngineConfig) -> OpenedEngine:
    """Open the engine for ``first:A>B``, with two or more engine specifications."""
    return open_composite(first, INFO, argument, config)


def first(engines: Iterable[SearchEngine | Search]) -> Search:
    """A search that queries engines in order until one finds something; a SearchError of all of them names each.

    ``engines``: at least one, in the order to query them. Raises SettingsError: there is no engine.
    """
    parts = checked_engines(INFO, engines)

    def search(query: str, k: int) -> SearchResult:
        attempts = [attempt(parts[0], query, k)]
        for engine in parts[1:]:
            if not attempts[-1].result.snippets:
                attempts.append(attempt(engine, query, k))
        return merged_result(attempts, attempts[-1].result.snippets)

    return Search(composite_name(INFO, parts), search)
