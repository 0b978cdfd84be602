"""The search seam: one protocol that every engine and any object of its shape satisfies."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from storm_pipeline.types import Snippet


@runtime_checkable
class SearchEngine(Protocol):
    """Anything that finds snippets for a query.

    ``name`` is a short identifier. ``search`` returns up to ``k`` hits, best first (an engine that gives
    several passages of one page may return more snippets than ``k``, ``k`` counts pages); an empty sequence
    means that nothing was found. It raises :class:`storm_pipeline.errors.SearchError` when it could not
    search, is called from several threads at once, and returns in bounded time.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    def search(self, query: str, k: int) -> Sequence[Snippet]: ...  # noqa: D102
