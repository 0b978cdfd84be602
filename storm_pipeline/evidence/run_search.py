"""The search of a run: an engine with its cache, full pages, and the filter of sources.

Searches and tables of contents are journalled, and served from the journal when the run is resumed.
"""

import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.retrieval.embedder import CountsTokens, Embedder, open_embedder
from storm_pipeline.run.assets import Progress
from storm_pipeline.run.events import Events, Excluded, Reused, adapter_of
from storm_pipeline.run.journal import Journal, current_scope, fingerprint
from storm_pipeline.run.ledger import RunControl
from storm_pipeline.settings import Settings
from storm_pipeline.sources.reliable.catalogue import pattern_of
from storm_pipeline.sources.reliable.filtering import Policy, SourceFilter, SourcePolicy, date_in_address
from storm_pipeline.sources.search import result as results
from storm_pipeline.sources.search.base import ContentsSource, Search, TableOfContents
from storm_pipeline.sources.search.edge import cut_long_texts
from storm_pipeline.sources.search.engine_info import Engine, EngineConfig, SearchOptions
from storm_pipeline.sources.search.registry import Choice, choose, is_collection, open_search
from storm_pipeline.sources.search.search_cache import SearchCache
from storm_pipeline.text.chunks import chunks, token_chunks
from storm_pipeline.text.identity import page_address, source_id
from storm_pipeline.types import Exclusion, Snippet

if TYPE_CHECKING:
    from storm_pipeline.evidence.page_reading import CachedPages, Fetch, PageReader

_SPARE_TOKENS = 72  # fewer than the embedder reads, so that ten passages fit an answer


NO_ENGINE = Engine(Search("none", lambda _query, _k: results.SearchResult()), "none", custom=True)
"""An engine that finds nothing, for work on what a run has found."""


def open_engine(
    settings: Settings,
    custom: Search | None = None,
    progress: Progress | None = None,
    check: Callable[[], None] = lambda: None,
) -> Engine:
    """Open the engine that the settings name, or choose one for ``auto``.

    ``custom``: an engine that the user passed, used instead; see
    :func:`storm_pipeline.sources.search.edge.with_checks`. ``check``: called between documents that are read; may raise
    to end it.

    Raises SettingsError: it cannot be opened as requested; see
    :func:`storm_pipeline.sources.search.registry.open_search`.
    AssetError, CorpusError: its texts could not be fetched or read.
    """
    if custom is not None:
        return Engine(custom, custom.name, custom=True)
    choice = Choice(settings.search, "")
    if settings.search == "auto":
        if settings.search_cache == "replay":
            raise SettingsError("a replay needs the engine of the recorded run: name it with --search")
        choice = choose()
    config = EngineConfig(
        cache=settings.cache,
        options=SearchOptions(
            settings.source_language,
            settings.region,
            settings.since,
            settings.until,
            settings.domains,
            tuple(place.host for place in map(pattern_of, settings.deny_sources) if place and not place.path),
        ),
        rate=settings.search_rate,
        on_progress=progress,
        searches=SearchCache(settings.cache, settings.search_cache),
        open_embedder=partial(open_embedder, cache=settings.cache, progress=progress),
        dois=settings.dois == "ask",
        check=check,
    )
    return replace(open_search(choice.spec, config), why=choice.why, offline=choice.offline)


class RunSearch:
    """The search of a run: the engine's results, filtered by source policy, with full pages if configured.

    Sources are filtered before their pages are fetched, and again afterwards: a page may redirect elsewhere, or turn
    out to copy an excluded text.

    ``engine``: shared by all runs. ``fetch``: address → page; by default from the web, within limits. ``embedder``:
    passages are cut to its input length, if it states one.
    """

    def __init__(
        self, engine: Engine, settings: Settings, *, fetch: "Fetch | None" = None, embedder: Embedder | None = None
    ) -> None:
        self._engine = engine.search
        self._caches: list[SearchCache | CachedPages] = [engine.cache] if engine.cache else []
        self._reader: PageReader | None = None
        self._sources = _source_filter(engine, settings)
        if settings.read_pages == "always" or (settings.read_pages == "auto" and not engine.custom):
            from storm_pipeline.evidence import page_reading as reading

            reads_all = settings.read_pages == "always"
            pages = reading.kept_pages(settings, fetch)
            self._caches.append(pages)
            self._reader = reading.PageReader(
                pages, reads=lambda snippet: reads_all or not is_collection(snippet.engine), cut=_cut_for(embedder)
            )

    @property
    def name(self) -> str:
        """Name of the engine."""
        return self._engine.name

    @property
    def cache_problems(self) -> tuple[str, ...]:
        """Problems of the caches of searches and pages (damaged or unusable), one sentence each."""
        return tuple(dict.fromkeys(problem for cache in self._caches for problem in cache.problems))

    def excludes_title(self, title: str) -> bool:
        """Return whether the Wikipedia article of this title is excluded as ground truth."""
        kept_out = self._sources.kept_out
        return kept_out is not None and kept_out.recognise_by_name(page_address(title), title) is not None

    def copies(self, seen: Collection[results.SeenPage]) -> tuple[Exclusion, ...]:
        """Find copies as :meth:`storm_pipeline.sources.reliable.filtering.SourceFilter.copies`."""
        return self._sources.copies(seen)

    def search(self, query: str, k: int) -> results.SearchResult:
        """Return up to ``k`` pages, best first. Snippets without a date get the one in their page's address.

        Raises SearchError: as the engine's.
        """
        if k < 1:
            return results.SearchResult()
        result = cut_long_texts(self._engine.search(query, k + self._sources.spare(k)), self.name)
        usable = self._sources.usable(result, query, k)
        if self._reader:
            usable = self._sources.usable(self._reader.read(usable, query), query, k)
        return _with_dates(usable)

    def close(self) -> None:
        """Stop fetching pages."""
        if self._reader:
            self._reader.close()


def _source_filter(engine: Engine, settings: Settings) -> SourceFilter:
    """Return the filter that the settings define; by default, collections and the user's own engine are trusted."""
    default_policy: Policy = "any" if engine.custom else "standard"
    policy = SourcePolicy(
        default_policy if settings.source_policy == "auto" else settings.source_policy,
        allow=settings.allow_sources,
        deny=settings.deny_sources,
    )
    kept_out, truth = None, (settings.exclude_urls, settings.exclude_titles)
    if any(truth):
        from storm_pipeline.sources.reliable.ground_truth import GroundTruth

        kept_out = GroundTruth(*truth)
    return SourceFilter(policy, kept_out, is_collection if settings.source_policy == "auto" else lambda _: False)


def _with_dates(result: results.SearchResult) -> results.SearchResult:
    def with_date(snippet: Snippet) -> Snippet:
        return snippet if snippet.published else replace(snippet, published=date_in_address(snippet.url))

    pages = tuple(replace(page, about=with_date(page.about)) for page in result.pages)
    return replace(result, snippets=tuple(map(with_date, result.snippets)), pages=pages)


def _cut_for(embedder: object) -> Callable[[str], list[str]]:
    """Return a function that splits texts at the embedder's input length, or at 150 words if unknown."""

    def cut(text: str) -> list[str]:
        # Evaluated lazily: the attributes of an embedder may load its model.
        if isinstance(embedder, CountsTokens):
            most = max(embedder.longest - _SPARE_TOKENS, embedder.longest // 2 - 1)  # [CLS] and [SEP] are added
            return token_chunks(text, most, embedder.count_tokens)
        return chunks(text)

    return cut


_KEY_SETTINGS = (
    *("source_language", "region", "since", "until", "domains", "read_pages", "source_policy"),
    *("allow_sources", "deny_sources", "exclude_urls", "exclude_titles"),
)
"""Settings that affect the result of a search, besides the engine."""
_Recorded = dict[str, TableOfContents | None]  # of a look-up
_Passages = tuple[results.PagePassage, ...]
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
        self._passages: dict[str, _Passages] = {}  # by source id
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

    def _passages_of(self, page: results.WholePage) -> _Passages:
        key = page.about.source_id
        with self._lock:
            # earlier versions recorded pages by 12 digits of their ids
            recorded = (self._journal.take(_PAGE, name) for name in (key, key[:13]))
            known = self._passages.get(key) or results.read_record(_Passages, next(filter(None, recorded), None))
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
