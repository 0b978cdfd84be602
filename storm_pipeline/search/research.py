"""What all searches of a run together told of pages."""

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter

from storm_pipeline.identity import source_id
from storm_pipeline.search.result import SearchResult, SeenPage, Unread
from storm_pipeline.types import Exclusion


@dataclass(frozen=True)
class Research:
    """The pages that the searches of a run left out, did not read, read and saw, and what they lost.

    It depends neither on the order of the searches nor on the timing of threads.
    """

    excluded: frozenset[Exclusion] = frozenset()
    unread: frozenset[Unread] = frozenset()
    read: frozenset[str] = frozenset()
    seen: frozenset[SeenPage] = frozenset()
    lost: tuple[str, ...] = ()

    def with_result(self, result: SearchResult) -> "Research":
        """The same with what one more search told."""
        return Research(
            self.excluded.union(result.excluded),
            self.unread.union(result.unread),
            self.read.union(result.read),
            self.seen.union(result.seen),
            tuple(dict.fromkeys((*self.lost, *result.lost))),
        )

    @cached_property
    def excluded_ids(self) -> frozenset[str]:
        """Source ids of the pages left out."""
        return frozenset(source_id(page.url) for page in self.excluded)

    @property
    def excluded_pages(self) -> tuple[Exclusion, ...]:
        """The pages left out, each once, sorted by address."""
        return one_per_page(self.excluded)

    @property
    def unread_pages(self) -> Mapping[str, str]:
        """Address → why the page was never read, so that only the engine's snippets are used."""
        unread = sorted((page.url, page.reason) for page in self.unread if page.url not in self.read)
        return {url: next(reasons)[1] for url, reasons in groupby(unread, key=itemgetter(0))}


def one_per_page(exclusions: Iterable[Exclusion]) -> tuple[Exclusion, ...]:
    """Deduplicate by canonical URL, sorted by URL; keeps the exclusion whose query is alphabetically first.

    Keeping the first in order of arrival would depend on thread timing.
    """
    pages: dict[str, Exclusion] = {}
    for page in sorted(exclusions, key=lambda page: (page.query, astuple(page))):
        pages.setdefault(source_id(page.url), page)
    return tuple(sorted(pages.values(), key=lambda page: page.url))
