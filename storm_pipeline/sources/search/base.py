"""The search interface: the protocols of engines and of sources of tables of contents, and a validated engine."""

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
    """An engine whose results and errors are validated, see :func:`storm_pipeline.sources.search.edge.with_checks`."""

    name: str
    search: Callable[[str, int], SearchResult]  # query, ``k`` → up to ``k`` pages, best first; raises SearchError


@dataclass(frozen=True)
class TableOfContents:
    """Headings of an article."""

    title: str  # the article's title, after redirects
    # level (1 for a section, 2 for a subsection …) and text, in reading order; without back matter such as references
    # and see-also lists, and their subsections
    headings: tuple[tuple[int, str], ...]


class ContentsSource(Protocol):
    """Look-up of the table of contents of an encyclopedia article by its title."""

    def table_of_contents(self, title: str) -> TableOfContents | None:
        """Return the article's headings; None if there is no such article.

        Raises SearchError: the look-up itself failed.
        """
        ...


class NoContents:
    """A source without tables of contents."""

    def table_of_contents(self, _title: str) -> None:
        """Return None."""
