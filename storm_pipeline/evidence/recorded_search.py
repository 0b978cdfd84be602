"""Searches and tables of contents, journalled and served from the journal when the run is resumed."""

import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from storm_pipeline.evidence.run_search import RunSearch
from storm_pipeline.run.events import Events, Excluded, Reused, adapter_of
from storm_pipeline.run.journal import Journal, current_scope, fingerprint
from storm_pipeline.run.ledger import RunControl
from storm_pipeline.settings import Settings
from storm_pipeline.sources.search import result as results
from storm_pipeline.sources.search.base import ContentsSource, TableOfContents
from storm_pipeline.text.identity import source_id
from storm_pipeline.types import Exclusion

_KEY_SETTINGS = (
    *("source_language", "region", "since", "until", "domains", "read_pages", "source_policy"),
    *("allow_sources", "deny_sources", "exclude_urls", "exclude_titles"),
)
"""Settings that affect the result of a search, besides the engine."""
_Recorded = dict[str, TableOfContents | None]  # of a look-up
_PAGE = "page"  # kind of the records of the passages of a page


class RecordedSearch:
    """A run's search that journals every result and reuses it in later sessions. Thread-safe.

    The passages of a page are journalled once, and are the same in every result that has the page.

    ``search``: the run's, kept as ``run_search``; ``spec``: the engine's name, as in the settings.
    """

    def __init__(
        self, search: RunSearch, journal: Journal, *, events: Events, control: RunControl, settings: Settings, spec: str
    ) -> None:
        self.run_search = search
        self._journal = journal
        self._events = events
        self._control = control
        self._identity = [spec, {name: getattr(settings, name) for name in _KEY_SETTINGS}]
        self._research = results.Research()
        self._passages: dict[str, tuple[results.PagePassage, ...]] = {}  # by source id
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Name of the engine."""
        return self.run_search.name

    @property
    def research(self) -> results.Research:
        """All pages found by searches so far, those of earlier sessions included."""
        return self._research

    def excluded_ids(self) -> frozenset[str]:
        """Return the source ids of all pages excluded so far, with copies that only several searches together reveal.

        Call it when no search is in flight, so that the result does not depend on their timing.
        """
        self._emit_excluded(self._collect(results.SearchResult(excluded=self.run_search.copies(self.research.seen))))
        return self.research.excluded_ids

    def search(self, query: str, k: int) -> results.SearchResult:
        """Return the recorded result, or a new one from the run's search.

        Raises SearchError: as the engine's; not journalled; StoppedError, TooManyFailuresError: the run must end.
        """
        key = fingerprint(current_scope(), self._identity, query, k)
        recorded = self._take_recorded(key)
        if recorded is not None:
            self._events.emit(Reused(self._events.stage, "search"))
            self._collect(recorded)  # its exclusions were emitted in the earlier session
            return recorded
        self._control.check()
        result = self._with_pages(self.run_search.search(query, k))
        self._emit_excluded(self._collect(result))
        self._journal.add("search", key, results.encode(_without_passages(result)))
        return result

    def _take_recorded(self, key: str) -> results.SearchResult | None:
        """Return the oldest result that was not used yet; records that cannot be decoded are skipped."""
        while (value := self._journal.take("search", key)) is not None:
            if (result := results.decode(value)) is not None:
                return self._with_pages(result)
        return None

    def _with_pages(self, result: results.SearchResult) -> results.SearchResult:
        """Return the result with its pages as the run first read them; new pages are journalled."""
        pages = tuple(replace(page, passages=self._passages_of(page)) for page in result.pages)
        texts = {page.about.source_id: page.text for page in pages}
        seen = (page if page.text else replace(page, text=texts.get(source_id(page.url), "")) for page in result.seen)
        return replace(result, pages=tuple(page for page in pages if page.passages), seen=tuple(seen))

    def _passages_of(self, page: results.WholePage) -> tuple[results.PagePassage, ...]:
        key = page.about.source_id
        with self._lock:
            known = self._passages.get(key) or results.decode_passages(self._journal.take(_PAGE, key))
            if known is None and page.passages:
                self._journal.add(_PAGE, key, [asdict(passage) for passage in page.passages])
                known = page.passages
            return self._passages.setdefault(key, known) if known else ()

    def _collect(self, result: results.SearchResult) -> tuple[Exclusion, ...]:
        with self._lock:
            known = self._research.excluded_ids
            self._research = self._research.with_result(result)
        return tuple(page for page in results.one_per_page(result.excluded) if source_id(page.url) not in known)

    def _emit_excluded(self, exclusions: Iterable[Exclusion]) -> None:
        for page in exclusions:
            self._events.emit(Excluded(self._events.stage, page.url, page.reason))


def _without_passages(result: results.SearchResult) -> results.SearchResult:
    """Return the result without the texts of whole pages, which are kept in separate records."""
    texts = {page.about.source_id: page.text for page in result.pages}
    seen = (replace(page, text="") if page.text == texts.get(source_id(page.url)) else page for page in result.seen)
    return replace(result, pages=tuple(replace(page, passages=()) for page in result.pages), seen=tuple(seen))


@dataclass(frozen=True)
class RecordedLookUps:
    """Tables of contents of a run, each looked up once. Records that cannot be read are skipped."""

    contents: ContentsSource
    journal: Journal
    events: Events

    def table_of_contents(self, title: str) -> TableOfContents | None:
        """Return the recorded table of contents, or one from the source.

        Raises SearchError: as the source's; it is not journalled.
        """
        while (recorded := self.journal.take("contents", title)) is not None:
            with suppress(ValueError):
                table: TableOfContents | None = adapter_of(_Recorded).validate_python(recorded)["found"]
                self.events.emit(Reused(self.events.stage, "contents"))
                return table
        contents = self.contents.table_of_contents(title)
        self.journal.add("contents", title, {"found": asdict(contents) if contents else None})
        return contents
