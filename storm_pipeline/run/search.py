"""How a run finds its sources: an engine with its cache, full pages, and the filter of sources."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial

from storm_pipeline.assets import Progress
from storm_pipeline.documents.chunks import chunks, token_chunks
from storm_pipeline.errors import SettingsError
from storm_pipeline.pages.page_cache import CachedPages, Fetch
from storm_pipeline.pages.reading import PageReader
from storm_pipeline.pages.web import WebPages
from storm_pipeline.retrieval.embedder import CountsTokens, Embedder
from storm_pipeline.search.base import Search
from storm_pipeline.search.bounds import BoundedSearch
from storm_pipeline.search.choosing import Choice, choose
from storm_pipeline.search.engine_info import EngineConfig, SearchOptions
from storm_pipeline.search.registry import engines, open_search
from storm_pipeline.search.result import SearchResult, SeenPage
from storm_pipeline.search.search_cache import CachedSearch
from storm_pipeline.search.tables_of_contents import ContentsSource
from storm_pipeline.search.wikipedia_urls import page_address
from storm_pipeline.settings import Settings
from storm_pipeline.sources.address_dates import date_in_address
from storm_pipeline.sources.catalogue import load_catalogue
from storm_pipeline.sources.duplicates import duplicates
from storm_pipeline.sources.filtering import ReliableSearch
from storm_pipeline.sources.ground_truth import GroundTruth
from storm_pipeline.sources.policies import Policy, SourcePolicy
from storm_pipeline.types import Exclusion, Snippet

_SPECIAL_TOKENS = 2
"""Tokens that the embedder adds to a text ([CLS] and [SEP])."""


@dataclass(frozen=True)
class Engine:
    """An open search engine, shared by all runs.

    Attributes:
        search: the engine, with its cache.
        spec: its name, as in the settings.
        why: why it was chosen, as the end of a sentence; empty if the user chose it.
        custom: whether it is an object that the user passed.
        problems: what could not be read, such as files of the user's documents.
        contents: its source of tables of contents, if it has one.
        own: whether it searches texts of the user's own alone.
        offline: whether the network was found to be down when it was chosen.
        caches: the disk caches of its results.
    """

    search: Search
    spec: str
    why: str = ""
    custom: bool = False
    problems: tuple[str, ...] = ()
    contents: ContentsSource | None = None
    own: bool = False
    offline: bool = False
    caches: tuple[CachedSearch, ...] = ()


def open_engine(settings: Settings, custom: Search | None = None, progress: Progress | None = None) -> Engine:
    """Open the engine that the settings name, or choose one for ``auto``.

    Args:
        settings: settings of the runs.
        custom: an engine that the user passed, used instead; see :func:`storm_pipeline.search.edge.checked`.
        progress: called while a download is under way.

    Raises:
        SettingsError: it cannot be opened as requested; see :func:`storm_pipeline.search.registry.open_search`.
        AssetError, CorpusError: its texts could not be fetched or read.
    """
    if custom is not None:
        return Engine(custom, custom.name, custom=True)
    choice = Choice(settings.search, "")
    if settings.search == "auto":
        if settings.search_cache == "replay":
            raise SettingsError("a replay needs the engine of the recorded run: name it with --search")
        choice = choose()
    caches: list[CachedSearch] = []

    def remember(engine: Search, identity: str) -> Search:
        cached = CachedSearch(engine, settings.cache, settings.search_cache, settings.search_cache_days, identity)
        caches.append(cached)
        return cached

    config = EngineConfig(
        cache=settings.cache,
        options=SearchOptions(
            settings.language,
            settings.region,
            settings.since,
            settings.until,
            settings.domains,
            settings.without_domains,
        ),
        rate=settings.search_rate,
        on_progress=progress,
        remember=remember,
        dois=settings.dois == "ask",
    )
    opened = open_search(choice.spec, config)
    return Engine(
        opened.engine,
        choice.spec,
        choice.why,
        problems=opened.problems,
        contents=opened.contents,
        own=opened.own,
        offline=choice.offline,
        caches=tuple(caches),
    )


class RunSearch(Search):
    """The search of one run: the engine's results, filtered by source policy, with full pages where configured.

    Sources are filtered before their pages are fetched, and again afterwards: a page may redirect elsewhere, or turn
    out to copy an excluded text.

    Args:
        engine: shared by all runs.
        settings: settings of the run.
        fetch: address → page; by default from the web, within limits.
        embedder: passages are cut to its input length, if it states one.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        *,
        fetch: Fetch | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        collections = _collections()
        trusted = collections if settings.sources == "auto" else frozenset[str]()
        default_policy: Policy = "any" if engine.custom else "standard"
        catalogue = load_catalogue(settings.cache)
        policy = SourcePolicy(
            default_policy if settings.sources == "auto" else settings.sources,
            allow=settings.allow_sources,
            deny=settings.deny_sources,
            catalogue=catalogue,
        )
        truth = settings.exclude_urls, settings.exclude_titles
        self._kept_out = GroundTruth(*truth, catalogue=catalogue) if any(truth) else None
        filtering = partial(ReliableSearch, policy=policy, kept_out=self._kept_out, trusted=trusted)
        self._search: Search = filtering(BoundedSearch(engine.search))
        self._reader: PageReader | None = None
        self._caches: list[CachedSearch | CachedPages] = [*engine.caches]
        if settings.read_pages == "always" or (settings.read_pages == "auto" and not engine.custom):
            unread = frozenset[str]() if settings.read_pages == "always" else collections
            pages = CachedPages(fetch or WebPages(), settings.cache, settings.search_cache, settings.search_cache_days)
            self._caches.append(pages)
            self._reader = PageReader(
                self._search,
                pages,
                reads=lambda snippet: snippet.engine not in unread,
                cut=_cut_for(embedder),
            )
            self._search = filtering(self._reader, spare=False)

    @property
    def name(self) -> str:
        """Name of the engine."""
        return self._search.name

    @property
    def cache_problems(self) -> tuple[str, ...]:
        """What was damaged in the caches of searches and pages, or kept them from being used; one sentence each."""
        return tuple(dict.fromkeys(problem for cache in self._caches for problem in cache.problems))

    def excludes_title(self, title: str) -> bool:
        """Whether the Wikipedia article of this title is excluded as ground truth."""
        return self._kept_out is not None and self._kept_out.recognise_by_name(page_address(title), title) is not None

    def duplicates(self, seen: Collection[SeenPage]) -> tuple[Exclusion, ...]:
        """Copies of excluded texts among the pages seen: see :func:`storm_pipeline.sources.duplicates.duplicates`."""
        return duplicates(seen, self._kept_out) if self._kept_out else ()

    def search(self, query: str, k: int) -> SearchResult:
        """As the engine's; see the class. Snippets without a date get the one in their page's address, if any.

        Raises:
            SearchError: as the engine's.
        """
        found = self._search.search(query, k)
        return replace(found, snippets=tuple(map(_dated, found.snippets)))

    def close(self) -> None:
        """Stop fetching pages."""
        if self._reader:
            self._reader.close()


def _dated(snippet: Snippet) -> Snippet:
    return snippet if snippet.published else replace(snippet, published=date_in_address(snippet.url))


def _cut_for(embedder: object) -> Callable[[str], list[str]]:
    """A function that cuts texts to passages of the embedder's input length, or of 150 words if it states none."""

    def cut(text: str) -> list[str]:
        # Evaluated lazily: the attributes of an embedder may load its model.
        if isinstance(embedder, CountsTokens):
            return token_chunks(text, embedder.longest - _SPECIAL_TOKENS, embedder.count_tokens)
        return chunks(text)

    return cut


def _collections() -> frozenset[str]:
    """Names of the engines that search a curated collection, not the web."""
    return frozenset(info.base_name for info in engines() if not info.open_web)
