"""The search interface: the engine protocol and a validated engine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from storm_pipeline.sources.search.result import SearchResult
from storm_pipeline.types import Snippet


@runtime_checkable
class SearchEngine(Protocol):
    """A search engine: an object that finds snippets for a query.

    ``name`` is a short identifier. ``search`` returns up to ``k`` hits, best first (an engine that gives
    several passages of one page may return more snippets than ``k``, ``k`` counts pages); an empty sequence
    means that nothing was found. It raises :class:`storm_pipeline.errors.SearchError` when the search
    fails, must be thread-safe, and returns in bounded time.

    :mod:`storm_pipeline.sources.search.edge` validates what it returns and raises, and accepts dicts too.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    def search(self, query: str, k: int) -> Sequence[Snippet]: ...  # noqa: D102


@runtime_checkable
class AsyncSearchEngine(Protocol):
    """A :class:`SearchEngine` whose ``search`` is a coroutine function.

    It runs in the event loop that awaits the run (``awrite``, ``astream`` …), so that clients made there work; without
    such a loop, in the process's own loop in a thread.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    async def search(self, query: str, k: int) -> Sequence[Snippet]: ...  # noqa: D102


@dataclass(frozen=True)
class Search:
    """An engine whose results and errors are validated, see :func:`storm_pipeline.sources.search.edge.checked`."""

    name: str
    search: Callable[[str, int], SearchResult]  # query, ``k`` → up to ``k`` pages, best first; raises SearchError
