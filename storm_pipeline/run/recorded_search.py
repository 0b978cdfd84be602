"""Searches and tables of contents, written down in the run's journal and served from it when the run is resumed."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from storm_pipeline.identity import source_id
from storm_pipeline.run.events import Events, Excluded, Reused
from storm_pipeline.run.journal import Journal, current_place, fingerprint
from storm_pipeline.run.limits import RunControl
from storm_pipeline.run.search import RunSearch
from storm_pipeline.search.base import Search
from storm_pipeline.search.contents import ContentsSource, TableOfContents
from storm_pipeline.search.result import SearchResult, SeenPage, Unread, decoded, encoded
from storm_pipeline.settings import Settings
from storm_pipeline.sources.filtering import one_per_page
from storm_pipeline.types import Exclusion

_DECIDING = (
    *("language", "region", "since", "until", "domains", "without_domains", "read_pages", "sources"),
    *("allow_sources", "deny_sources", "exclude_urls", "exclude_titles"),
)
"""Settings on which the result of a search depends, beside the engine."""


class RecordedSearch(Search):
    """A run's search, each result of which is had once a run, whatever happens to the run. Thread-safe.

    What all searches of the run tell together, those of earlier sessions included, is gathered here and nowhere else;
    it depends neither on their order nor on the timing of threads.

    Args:
        search: asked what is not on record.
        journal: the record.
        events: told what is served from it, and of each page that is left out.
        control: asked before every search.
        settings: of the run.
        spec: what names the engine.
    """

    def __init__(
        self, search: RunSearch, journal: Journal, *, events: Events, control: RunControl, settings: Settings, spec: str
    ) -> None:
        self._search = search
        self._journal = journal
        self._events = events
        self._control = control
        self._identity = [spec, {name: getattr(settings, name) for name in _DECIDING}]
        self._excluded: set[Exclusion] = set()
        self._left_out: set[str] = set()
        self._unread: set[Unread] = set()
        self._read: set[str] = set()
        self._seen: set[SeenPage] = set()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Name of the engine."""
        return self._search.name

    @property
    def excluded(self) -> tuple[Exclusion, ...]:
        """Pages left out so far, each once, by address."""
        with self._lock:
            return one_per_page(self._excluded)

    @property
    def unread(self) -> Mapping[str, str]:
        """Address → why the engine's snippets alone stand for the page."""
        with self._lock:
            lasting = sorted((one.url, one.reason) for one in self._unread if one.url not in self._read)
        reasons: dict[str, str] = {}
        for url, reason in lasting:
            reasons.setdefault(url, reason)
        return reasons

    def keeps_out(self, title: str) -> bool:
        """As :meth:`RunSearch.keeps_out`."""
        return self._search.keeps_out(title)

    def not_to_be_used(self) -> frozenset[str]:
        """Ids of all pages left out so far, also of those that one search gave and only others show to be copies.

        To be asked when no search is under way, so that it does not depend on which of them was faster.
        """
        with self._lock:
            seen = frozenset(self._seen)
        self._tell(self._gather(SearchResult(excluded=self._search.duplicates(seen))))
        with self._lock:
            return frozenset(self._left_out)

    def search(self, query: str, k: int) -> SearchResult:
        """As the run's search.

        Raises:
            SearchError: as the engine's; it is not put on record.
            StoppedError, TooManyFailuresError: the run is to end.
        """
        key = fingerprint(current_place(), self._identity, query, k)
        known = self._on_record(key)
        if known is not None:
            self._events.emit(Reused(self._events.stage, "search"))
            self._gather(known)  # an earlier session told what was left out
            return known
        self._control.check()
        found = self._search.search(query, k)
        self._tell(self._gather(found))
        self._journal.add("search", key, encoded(found))
        return found

    def close(self) -> None:
        """As :meth:`RunSearch.close`."""
        self._search.close()

    def _on_record(self, key: str) -> SearchResult | None:
        """The oldest result that was not taken yet; records that hold none count as not there."""
        while (value := self._journal.take("search", key)) is not None:
            if (result := decoded(value)) is not None:
                return result
        return None

    def _gather(self, result: SearchResult) -> tuple[Exclusion, ...]:
        """Add a result to what is known of the run; the pages of it that no earlier result left out."""
        with self._lock:
            new = tuple(one for one in one_per_page(result.excluded) if source_id(one.url) not in self._left_out)
            self._left_out.update(source_id(one.url) for one in new)
            self._excluded.update(result.excluded)
            self._unread.update(result.unread)
            self._read.update(result.read)
            self._seen.update(result.seen)
        return new

    def _tell(self, exclusions: Iterable[Exclusion]) -> None:
        for one in exclusions:
            self._events.emit(Excluded(self._events.stage, one.url, one.reason))


class RecordedContents:
    """Tables of contents, each looked up once a run."""

    def __init__(self, contents: ContentsSource, journal: Journal, events: Events) -> None:
        self._contents = contents
        self._journal = journal
        self._events = events

    def table_of_contents(self, title: str) -> TableOfContents | None:
        """As the source's.

        Raises:
            SearchError: as the source's; it is not put on record.
        """
        known = self._journal.take("contents", title)
        if known is None:
            found = self._contents.table_of_contents(title)
            self._journal.add("contents", title, {"found": asdict(found) if found else None})
            return found
        self._events.emit(Reused(self._events.stage, "contents"))
        if (found := known["found"]) is None:
            return None
        return TableOfContents(found["title"], tuple((level, text) for level, text in found["headings"]))
