"""A chain of engines: the next is asked where one fails or finds nothing."""

from collections.abc import Iterable, Sequence

from storm_pipeline.errors import SettingsError
from storm_pipeline.search.base import SearchEngine
from storm_pipeline.search.combined import Attempt, attempt, open_parts, tell_failures
from storm_pipeline.search.opening import EngineInfo, Opening
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "first:A>B",
    needs="what the engines A, B … need; quotes in a shell",
    free=True,
    returns="what the first engine finds, or where it fails or finds nothing the next",
    of_engines=True,
)


def open_engine(argument: str, opening: Opening) -> "FirstSearch":
    """The engine of ``first:A>B``; A and B are specifications of engines, as many as are wanted."""
    return FirstSearch(open_parts("first", argument, ">", opening))


class FirstSearch:
    """Asks engines one after the other until one finds something.

    Args:
        engines: at least one, in the order in which they are asked.

    Raises:
        SettingsError: there is no engine.
    """

    def __init__(self, engines: Iterable[SearchEngine]) -> None:
        self._engines = tuple(engines)
        if not self._engines:
            raise SettingsError("the search engine `first` needs at least one engine: write first:A>B")

    @property
    def name(self) -> str:
        """Names of the engines, as in the specification."""
        return "first:" + ">".join(engine.name for engine in self._engines)

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` pages of the first engine that finds any; nothing where those that did not fail find nothing.

        Raises:
            SearchError: every engine failed; names each.
        """
        attempts: list[Attempt] = []
        for engine in self._engines:
            attempts.append(attempt(engine, query, k))
            if attempts[-1].snippets:
                break
        tell_failures(attempts)
        return attempts[-1].snippets
