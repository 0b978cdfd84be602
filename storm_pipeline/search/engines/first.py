"""A chain of engines: the next is asked where one fails or finds nothing."""

from collections.abc import Iterable

from storm_pipeline.search.base import Search, SearchEngine
from storm_pipeline.search.combined import Attempt, attempt, checked_parts, open_over, together
from storm_pipeline.search.opening import EngineInfo, Opened, Opening
from storm_pipeline.search.result import SearchResult

INFO = EngineInfo(
    "first:A>B",
    needs="what the engines A, B … need; quotes in a shell",
    free=True,
    returns="what the first engine finds, or where it fails or finds nothing the next",
    of_engines=True,
)


def open_engine(argument: str, opening: Opening) -> Opened:
    """The engine of ``first:A>B``; A and B are specifications of engines, as many as are wanted."""
    return open_over(FirstSearch, "first", argument, ">", opening)


class FirstSearch(Search):
    """Asks engines one after the other until one finds something.

    Args:
        engines: at least one, in the order in which they are asked.

    Raises:
        SettingsError: there is no engine.
    """

    def __init__(self, engines: Iterable[SearchEngine | Search]) -> None:
        self._engines = checked_parts("first", "first:A>B", engines)

    @property
    def name(self) -> str:
        """Names of the engines, as in the specification."""
        return "first:" + ">".join(engine.name for engine in self._engines)

    def search(self, query: str, k: int) -> SearchResult:
        """Up to ``k`` pages of the first engine that finds any; nothing where those that did not fail find nothing.

        Raises:
            SearchError: every engine failed; names each.
        """
        attempts: list[Attempt] = []
        for engine in self._engines:
            attempts.append(attempt(engine, query, k))
            if attempts[-1].result.snippets:
                break
        return together(attempts, attempts[-1].result.snippets)
