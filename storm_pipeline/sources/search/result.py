"""The result of a search: snippets, and excluded, unread, read and seen pages; and their union over a run."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, fields, replace
from functools import cached_property
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, TypeVar

from storm_pipeline.run.events import adapter_of
from storm_pipeline.text.identity import source_id
from storm_pipeline.types import Exclusion, Snippet

T = TypeVar("T")


@dataclass(frozen=True)
class Unread:
    """A page that was not read, so that the engine's snippets are used."""

    url: str  # as returned by the engine
    reason: str  # why, in one sentence


@dataclass(frozen=True)
class SeenPage:
    """A page as one search returned it."""

    url: str
    title: str  # may be empty
    text: str  # its joined passages
    query: str  # the query that found the page


@dataclass(frozen=True)
class PagePassage:
    """A passage of a page."""

    text: str  # plain text, never empty
    heading: str = ""  # the headings above it, as in :class:`storm_pipeline.types.Snippet`
    page: int | None = None  # page number within a paged document, from 1


@dataclass(frozen=True)
class WholePage:
    """A page that was read for a search, with all its passages."""

    about: Snippet  # metadata of the page
    passages: tuple[PagePassage, ...] = ()  # in the order of the page

    @cached_property
    def snippets(self) -> tuple[Snippet, ...]:
        """The passages as snippets."""
        return tuple(
            replace(self.about, text=passage.text, heading=passage.heading, page=passage.page, place=place)
            for place, passage in enumerate(self.passages)
        )

    @property
    def text(self) -> str:
        """All passages, one per line."""
        return "\n".join(passage.text for passage in self.passages)


@dataclass(frozen=True)
class SearchResult:
    """The result of a search, with the outcome for each page."""

    snippets: tuple[Snippet, ...] = ()  # best first
    excluded: tuple[Exclusion, ...] = ()  # excluded pages
    unread: tuple[Unread, ...] = ()  # unread pages
    # URLs, from the engine, of read pages with passages for this search
    read: tuple[str, ...] = ()
    # every page returned, before and after reading; empty unless pages are blocked
    seen: tuple[SeenPage, ...] = ()
    lost: tuple[str, ...] = ()  # partial failures, such as one engine of several that failed: one sentence each
    pages: tuple[WholePage, ...] = ()  # pages that were read, including those without a matching passage


def merge_results(results: Iterable[SearchResult]) -> SearchResult:
    """Merge several results into one, with their entries in order."""
    values = list(zip(*([getattr(result, field.name) for field in fields(result)] for result in results), strict=True))
    return SearchResult(*(tuple(chain.from_iterable(parts)) for parts in values))


def encode(result: SearchResult) -> dict[str, Any]:
    """Return the result as a JSON-compatible value; the inverse of :func:`decode`."""
    return asdict(result)


def decode(value: object) -> SearchResult | None:
    """Return the result of an :func:`encode` value, before or after a JSON round trip; None if it is malformed."""
    is_whole = isinstance(value, dict) and set(value) == {field.name for field in fields(SearchResult)}
    return read_record(SearchResult, value) if is_whole else None


def read_record(kind: type[T], value: object) -> T | None:
    """Return a value of a type from the values of its fields; None if one is malformed."""
    with suppress(ValueError):
        record: T = adapter_of(kind).validate_python(value)
        return record
    return None


@dataclass(frozen=True)
class Research:
    """The union of a run's search results: excluded, unread, read and seen pages, and failures.

    Independent of the order of the searches and the timing of threads.
    """

    excluded: frozenset[Exclusion] = frozenset()
    unread: frozenset[Unread] = frozenset()
    read: frozenset[str] = frozenset()
    seen: frozenset[SeenPage] = frozenset()
    lost: tuple[str, ...] = ()

    def with_result(self, result: SearchResult) -> "Research":
        """Return the research with another result."""
        return Research(
            self.excluded.union(result.excluded),
            self.unread.union(result.unread),
            self.read.union(result.read),
            self.seen.union(result.seen),
            tuple(dict.fromkeys((*self.lost, *result.lost))),
        )

    @cached_property
    def excluded_ids(self) -> frozenset[str]:
        """Source ids of the excluded pages."""
        return frozenset(source_id(page.url) for page in self.excluded)

    @property
    def excluded_pages(self) -> tuple[Exclusion, ...]:
        """The distinct excluded pages, sorted by address."""
        return one_per_page(self.excluded)

    @property
    def unread_pages(self) -> Mapping[str, str]:
        """Address → reason why the page was never read, so that only the engine's snippets are used."""
        unread = sorted((page.url, page.reason) for page in self.unread if page.url not in self.read)
        return {url: next(reasons)[1] for url, reasons in groupby(unread, key=itemgetter(0))}


def one_per_page(exclusions: Iterable[Exclusion]) -> tuple[Exclusion, ...]:
    """Deduplicate by canonical URL and sort by URL; of duplicates, the first query in the alphabet is kept."""
    pages: dict[str, Exclusion] = {}
    for page in sorted(exclusions, key=lambda page: (page.query, astuple(page))):
        pages.setdefault(source_id(page.url), page)
    return tuple(sorted(pages.values(), key=lambda page: page.url))
