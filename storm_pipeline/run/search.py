"""How a run finds its sources: an engine, its memory, whole pages, and which sources may be used."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from storm_pipeline.assets import Progress
from storm_pipeline.documents.chunks import chunks, token_chunks
from storm_pipeline.errors import SettingsError
from storm_pipeline.pages.cache import CachedPages, Fetch
from storm_pipeline.pages.reading import PageReader
from storm_pipeline.pages.web import WebPages
from storm_pipeline.retrieval.embedder import CountsTokens, Embedder
from storm_pipeline.search.addresses import page_address
from storm_pipeline.search.base import Search
from storm_pipeline.search.cache import CachedSearch
from storm_pipeline.search.choosing import choose
from storm_pipeline.search.contents import ContentsSource
from storm_pipeline.search.opening import EngineConfig, SearchOptions
from storm_pipeline.search.registry import engines, open_search
from storm_pipeline.search.result import SearchResult, SeenPage
from storm_pipeline.settings import Settings
from storm_pipeline.sources.catalogue import load_catalogue
from storm_pipeline.sources.duplicates import duplicates
from storm_pipeline.sources.filtering import ReliableSearch
from storm_pipeline.sources.ground_truth import GroundTruth
from storm_pipeline.sources.judging import Policy, SourcePolicy
from storm_pipeline.types import Exclusion

_ENDS = 2
"""Tokens that mark the ends of a text."""


@dataclass(frozen=True)
class Engine:
    """An engine as all runs share it.

    Attributes:
        search: the engine, with its memory.
        spec: what names it.
        why: why it was chosen, as the end of a sentence; empty where the user chose.
        is_own: whether it is an object of the user's own, of which nothing is known.
        problems: what of it could not be read, such as files of one's own documents.
        contents: its tables of contents, where it has such.
    """

    search: Search
    spec: str
    why: str = ""
    is_own: bool = False
    problems: tuple[str, ...] = ()
    contents: ContentsSource | None = None


def open_engine(settings: Settings, own: Search | None = None, progress: Progress | None = None) -> Engine:
    """The engine that the settings name or leave to be chosen.

    Args:
        settings: of the runs.
        own: an engine of the user's own, which is used as it is; see :func:`storm_pipeline.search.edge.checked`.
        progress: told about a download.

    Raises:
        SettingsError: it cannot be opened as asked; see :func:`storm_pipeline.search.registry.open_search`.
        AssetError, CorpusError: its texts could not be fetched or read.
    """
    if own is not None:
        return Engine(own, own.name, is_own=True)
    spec, why = settings.search, ""
    if spec == "auto":
        if settings.search_cache == "replay":
            raise SettingsError("a replay needs the engine of the run that was recorded: name it with --search")
        spec, why = choose()
    mode, days = settings.search_cache, settings.search_cache_days
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
        remember=lambda engine, identity: CachedSearch(engine, settings.cache, mode, days, identity),
    )
    opened = open_search(spec, config)
    return Engine(opened.engine, spec, why, problems=opened.problems, contents=opened.contents)


class RunSearch(Search):
    """The search of one run: what the engine finds, without sources that may not be used, read where that helps.

    Sources are judged before their pages are fetched, and pages once more when they have been read: one may lead
    elsewhere, or turn out to repeat what is to be kept out.

    Args:
        engine: shared by all runs.
        settings: of the run.
        fetch: address → page; by default the web, within limits.
        embedder: what passages are cut for, if it tells how much of a text it takes.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        *,
        fetch: Fetch | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        collections = _not_of_the_web()
        trusted = collections if settings.sources == "auto" else frozenset[str]()
        by_default: Policy = "any" if engine.is_own else "standard"
        catalogue = load_catalogue(settings.cache)
        policy = SourcePolicy(
            by_default if settings.sources == "auto" else settings.sources,
            allow=settings.allow_sources,
            deny=settings.deny_sources,
            catalogue=catalogue,
        )
        truth = settings.exclude_urls, settings.exclude_titles
        self._kept_out = GroundTruth(*truth, catalogue=catalogue) if any(truth) else None
        filtering = partial(ReliableSearch, policy=policy, kept_out=self._kept_out, trusted=trusted)
        self._search: Search = filtering(engine.search)
        self._reader: PageReader | None = None
        if settings.read_pages == "always" or (settings.read_pages == "auto" and not engine.is_own):
            unread = frozenset[str]() if settings.read_pages == "always" else collections
            self._reader = PageReader(
                self._search,
                CachedPages(fetch or WebPages(), settings.cache, settings.search_cache, settings.search_cache_days),
                reads=lambda snippet: snippet.engine not in unread,
                cut=_cut_for(embedder),
            )
            self._search = filtering(self._reader, spare=False)

    @property
    def name(self) -> str:
        """Name of the engine."""
        return self._search.name

    def keeps_out(self, title: str) -> bool:
        """Whether the Wikipedia article of this title is one that the run may not know."""
        return self._kept_out is not None and self._kept_out.recognise_by_name(page_address(title), title) is not None

    def duplicates(self, seen: Collection[SeenPage]) -> tuple[Exclusion, ...]:
        """The pages to keep out by all that was seen: see :func:`storm_pipeline.sources.duplicates.duplicates`."""
        return duplicates(seen, self._kept_out) if self._kept_out else ()

    def search(self, query: str, k: int) -> SearchResult:
        """As the engine's; see the class.

        Raises:
            SearchError: as the engine's.
        """
        return self._search.search(query, k)

    def close(self) -> None:
        """Begin no further page."""
        if self._reader:
            self._reader.close()


def _cut_for(embedder: object) -> Callable[[str], list[str]]:
    """Cuts texts to passages that the embedder reads to their end; to 150 words where it does not tell."""

    def cut(text: str) -> list[str]:
        # Looked at when the first page is cut: even to ask an embedder what it takes may load its model.
        if isinstance(embedder, CountsTokens):
            return token_chunks(text, embedder.longest - _ENDS, embedder.count_tokens)
        return chunks(text)

    return cut


def _not_of_the_web() -> frozenset[str]:
    """Engines over collections that somebody has chosen."""
    return frozenset(info.base_name for info in engines() if not info.open_web)
