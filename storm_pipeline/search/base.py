"""The search interface: the protocol that engines implement, and the base classes of the searches of a run."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from storm_pipeline.search.result import SearchResult
from storm_pipeline.types import Snippet


@runtime_checkable
class SearchEngine(Protocol):
    """Anything that finds snippets for a query.

    ``name`` is a short identifier. ``search`` returns up to ``k`` hits, best first (an engine that gives
    several passages of one page may return more snippets than ``k``, ``k`` counts pages); an empty sequence
    means that nothing was found. It raises :class:`storm_pipeline.errors.SearchError` when the search
    fails, is called from several threads at once, and returns in bounded time.

    :mod:`storm_pipeline.search.edge` validates what it returns and raises, and accepts dicts too.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    def search(self, query: str, k: int) -> Sequence[Snippet]: ...  # noqa: D102


@runtime_checkable
class AsyncSearchEngine(Protocol):
    """A :class:`SearchEngine` whose ``search`` is a coroutine function.

    It runs in the event loop that awaits the run (``awrite``, ``astream`` …), so that clients made there work; of a
    run that nobody awaits, in a loop in a thread of its own, the same for every search of the process.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    async def search(self, query: str, k: int) -> Sequence[Snippet]: ...  # noqa: D102


class Search(ABC):
    """A search of a run: a validated engine, or a filter, cache or page reader that wraps one."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the engine that searches."""

    @abstractmethod
    def search(self, query: str, k: int) -> SearchResult:
        """Search for a query: up to ``k`` pages, best first.

        Raises:
            SearchError: the search failed.
        """


class WrappingSearch(Search):
    """A search that changes what another one returns, and has its name.

    Args:
        engine: where to search.
    """

    def __init__(self, engine: Search) -> None:
        self._engine = engine

    @property
    def name(self) -> str:
        """Name of the engine that searches."""
        return self._engine.name
