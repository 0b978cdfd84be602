"""The search seam: one protocol that every engine and any object of its shape satisfies, and what stands behind it."""

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
    means that nothing was found. It raises :class:`storm_pipeline.errors.SearchError` when it could not
    search, is called from several threads at once, and returns in bounded time.

    What it returns and raises is checked by :mod:`storm_pipeline.search.edge`, which takes dicts too.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    def search(self, query: str, k: int) -> Sequence[Snippet]: ...  # noqa: D102


class Search(ABC):
    """A search of a run: an engine behind the edge, or filters, memories and readers around one."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the engine that searches."""

    @abstractmethod
    def search(self, query: str, k: int) -> SearchResult:
        """What is found for a query, up to ``k`` pages, best first.

        Raises:
            SearchError: it could not search.
        """
