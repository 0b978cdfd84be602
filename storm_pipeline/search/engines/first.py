"""A fallback chain of engines: the next is queried if one fails or finds nothing."""

from collections.abc import Iterable

from storm_pipeline.search.base import Search, SearchEngine
from storm_pipeline.search.combined import Attempt, attempt, checked_engines, merged_result, open_composite
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
    return open_composite(FirstSearch, INFO, argument, config)


class FirstSearch(Search):
    """Queries engines in order until one finds something.

    Args:
        engines: at least one, in the order to query them.

    Raises:
        SettingsError: there is no engine.
    """

    def __init__(self, engines: Iterable[SearchEngine | Search]) -> None:
        self._engines = checked_engines(INFO, engines)

    @property
    def name(self) -> str:
        """Names of the engines, as in the specification."""
        return "first:" + INFO.separator.join(engine.name for engine in self._engines)

    def search(self, query: str, k: int) -> SearchResult:
        """Up to ``k`` pages of the first engine that finds any; empty if no engine finds any.

        Raises:
            SearchError: every engine failed; names each.
        """
        attempts: list[Attempt] = []
        for engine in self._engines:
            attempts.append(attempt(engine, query, k))
            if attempts[-1].result.snippets:
                break
        return merged_result(attempts, attempts[-1].result.snippets)
