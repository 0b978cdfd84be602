"""Searches and tables of contents, written down in the run's journal and served from it when the run is resumed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, fields
from typing import Any

from storm_pipeline.control import RunControl
from storm_pipeline.events import Events, Excluded, Reused
from storm_pipeline.finding import RunSearch
from storm_pipeline.identity import source_id
from storm_pipeline.journal import Journal, current_place, fingerprint
from storm_pipeline.search.contents import ContentsSource, TableOfContents
from storm_pipeline.search.losses import gathering, tell
from storm_pipeline.settings import Settings
from storm_pipeline.sources.copies import Sighting
from storm_pipeline.sources.filtering import each_page_once
from storm_pipeline.types import Exclusion, Snippet

_DECIDING = (
    *("language", "region", "since", "until", "domains", "without_domains", "read_pages", "sources"),
    *("allow_sources", "deny_sources", "exclude_urls", "exclude_titles"),
)
"""Settings on which the result of a search depends, beside the engine."""
_FIELDS = tuple(field.name for field in fields(Snippet))


class RecordedSearch:
    """A run's search, each result of which is had once a run, whatever happens to the run.

    Args:
        search: asked what is not on record.
        journal: the record.
        events: told what is served from it.
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
        self._excluded: list[Exclusion] = []
        self._unread: list[tuple[str, str]] = []
        self._read: set[str] = set()
        self._sightings: set[Sighting] = set()

    @property
    def name(self) -> str:
        """Name of the engine."""
        return self._search.name

    @property
    def excluded(self) -> tuple[Exclusion, ...]:
        """Pages left out so far, each once, by address."""
        return each_page_once([*self._excluded, *self._search.excluded])

    @property
    def unread(self) -> Mapping[str, str]:
        """Address → why the engine's snippets alone stand for the page."""
        read = self._read | self._search.read
        reasons: dict[str, str] = {}
        for url, why in sorted([*self._unread, *self._search.unread.items()]):
            if url not in read:
                reasons.setdefault(url, why)
        return reasons

    def keeps_out(self, title: str) -> bool:
        """As :meth:`RunSearch.keeps_out`."""
        return self._search.keeps_out(title)

    def not_to_be_used(self) -> frozenset[str]:
        """Ids of all pages left out so far, also of those that one search gave and only others show to be copies.

        To be asked when no search is under way, so that it does not depend on which of them was faster.
        """
        known = {source_id(one.url) for one in self.excluded}
        for one in each_page_once(self._search.copies(self._sightings | self._search.sightings)):
            self._excluded.append(one)
            if source_id(one.url) not in known:
                self._events.emit(Excluded(self._events.stage, one.url, one.reason))
        return frozenset(source_id(one.url) for one in self.excluded)

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """As the engine's.

        Raises:
            SearchError: as the engine's; it is not put on record.
            StoppedError, TooManyFailuresError: the run is to end.
        """
        key = fingerprint(current_place(), self._identity, query, k)
        known = self._journal.take("search", key)
        if known is not None:
            self._events.emit(Reused(self._events.stage, "search"))
            return self._restored(known)
        self._control.check()
        seen = self._search.sightings
        # What other threads leave out meanwhile is recorded with this search too; that does no harm.
        before, unread, read = set(self._search.excluded), self._search.unread, self._search.read
        with gathering() as lost:
            snippets = tuple(self._search.search(query, k))
        for detail in lost:
            tell(detail)
        record = {
            "query": query,
            "snippets": [{name: getattr(snippet, name) for name in _FIELDS} for snippet in snippets],
            "lost": list(lost),
            "excluded": [asdict(one) for one in self._search.excluded if one not in before],
            "unread": {url: why for url, why in self._search.unread.items() if unread.get(url) != why},
            "read": sorted(self._search.read - read),
            "seen": [asdict(one) for one in sorted(self._search.sightings - seen, key=astuple)],
        }
        self._journal.add("search", key, record)
        return snippets

    def close(self) -> None:
        """As :meth:`RunSearch.close`."""
        self._search.close()

    def _restored(self, record: Mapping[str, Any]) -> tuple[Snippet, ...]:
        for detail in record["lost"]:
            tell(detail)
        self._excluded += [Exclusion(**one) for one in record["excluded"]]
        self._unread += record["unread"].items()
        self._read.update(record["read"])
        self._sightings.update(Sighting(**one) for one in record.get("seen", ()))  # runs of before have none
        return tuple(Snippet(**snippet) for snippet in record["snippets"])


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
