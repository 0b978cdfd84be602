"""How a run finds its sources: an engine, its memory, whole pages, and which sources may be used."""

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from storm_pipeline.assets import Progress
from storm_pipeline.documents.chunks import chunks, token_chunks
from storm_pipeline.errors import PageError, SettingsError
from storm_pipeline.pages.extract import Page
from storm_pipeline.pages.reading import PageReader
from storm_pipeline.pages.web import WebPages
from storm_pipeline.references.embedder import CountsTokens, Embedder
from storm_pipeline.search.base import SearchEngine
from storm_pipeline.search.cache import CachedSearch
from storm_pipeline.search.choosing import choose
from storm_pipeline.search.contents import ContentsSource
from storm_pipeline.search.engines.wiki_leads import page_address
from storm_pipeline.search.losses import gathering
from storm_pipeline.search.opening import Opening, SearchOptions
from storm_pipeline.search.page_cache import PageCache
from storm_pipeline.search.registry import engines, open_search
from storm_pipeline.settings import Settings
from storm_pipeline.sources.catalogue import load_catalogue
from storm_pipeline.sources.copies import Sighting, copies
from storm_pipeline.sources.filtering import ReliableSearch, each_page_once
from storm_pipeline.sources.ground_truth import GroundTruth
from storm_pipeline.sources.judging import Judge, Policy
from storm_pipeline.types import Exclusion, Snippet

_ENDS = 2
"""Tokens that mark the ends of a text."""
Fetch = Callable[[str], Page]
"""An address to its page; raises PageError."""


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

    search: SearchEngine
    spec: str
    why: str = ""
    is_own: bool = False
    problems: tuple[str, ...] = ()
    contents: ContentsSource | None = None


def open_engine(settings: Settings, own: SearchEngine | None = None, progress: Progress | None = None) -> Engine:
    """The engine that the settings name or leave to be chosen.

    Args:
        settings: of the runs.
        own: an engine of the user's own, which is used as it is.
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
    opening = Opening(
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
    with gathering() as problems:
        engine = open_search(spec, opening)
    return Engine(engine, spec, why, problems=tuple(problems), contents=getattr(engine, "contents", None))


class RunSearch:
    """The search of one run: what the engine finds, without sources that may not be used, read where that helps.

    Sources are judged before their pages are fetched, and pages once more when they have been read: one may lead
    elsewhere, or turn out to repeat what is to be kept out.

    Args:
        engine: shared by all runs.
        settings: of the run.
        on_exclusion: told of each page left out.
        fetch: address → page; by default the web, within limits.
        embedder: what passages are cut for, if it tells how much of a text it takes.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        *,
        on_exclusion: Callable[[Exclusion], None] | None = None,
        fetch: Fetch | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        collections = _not_of_the_web()
        trusted = collections if settings.sources == "auto" else frozenset[str]()
        by_default: Policy = "any" if engine.is_own else "standard"
        catalogue = load_catalogue(settings.cache)
        judge = Judge(
            by_default if settings.sources == "auto" else settings.sources,
            allow=settings.allow_sources,
            deny=settings.deny_sources,
            catalogue=catalogue,
        )
        truth = settings.exclude_urls, settings.exclude_titles
        self._kept_out = GroundTruth(*truth, catalogue=catalogue) if any(truth) else None
        filtering = partial(
            ReliableSearch, judge=judge, kept_out=self._kept_out, trusted=trusted, on_exclusion=on_exclusion
        )
        first = filtering(engine.search)
        self._filters = [first]
        self._search: SearchEngine = first
        self._reader: PageReader | None = None
        if settings.read_pages == "always" or (settings.read_pages == "auto" and not engine.is_own):
            unread = frozenset[str]() if settings.read_pages == "always" else collections
            self._reader = PageReader(
                first,
                _remembered(fetch or WebPages(), settings),
                reads=lambda snippet: snippet.engine not in unread,
                cut=_cut_for(embedder),
            )
            last = filtering(self._reader, spare=False)
            self._filters.append(last)
            self._search = last

    @property
    def name(self) -> str:
        """Name of the engine."""
        return self._search.name

    @property
    def excluded(self) -> tuple[Exclusion, ...]:
        """Pages left out so far, each once, by address."""
        return each_page_once(one for search in self._filters for one in search.excluded)

    @property
    def sightings(self) -> frozenset[Sighting]:
        """Every page that a search showed so far, before and after it was read; none where none is to be kept out."""
        return frozenset[Sighting]().union(*(search.sightings for search in self._filters))

    @property
    def unread(self) -> Mapping[str, str]:
        """Address → why the engine's snippet stands in for the page."""
        return self._reader.problems if self._reader else {}

    @property
    def read(self) -> frozenset[str]:
        """Addresses whose pages were read and had passages for a search."""
        return self._reader.served if self._reader else frozenset()

    def keeps_out(self, title: str) -> bool:
        """Whether the Wikipedia article of this title is one that the run may not know."""
        return self._kept_out is not None and self._kept_out.named(page_address(title), title) is not None

    def copies(self, seen: Collection[Sighting]) -> tuple[Exclusion, ...]:
        """The pages that are to be kept out by all that was seen; see :func:`storm_pipeline.sources.copies.copies`."""
        return copies(seen, self._kept_out) if self._kept_out else ()

    def search(self, query: str, k: int) -> Sequence[Snippet]:
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
    return frozenset(info.spoken for info in engines() if not info.of_the_web)


def _remembered(fetch: Fetch, settings: Settings) -> Fetch:
    """The fetch with the memory that the settings ask for. What cannot be had is not remembered."""
    if settings.search_cache == "off":
        return fetch
    cache = PageCache(settings.cache, None if settings.search_cache == "replay" else settings.search_cache_days)

    def remembered(url: str) -> Page:
        if settings.search_cache != "refresh" and (known := _page(cache.get(url))):
            return known
        if settings.search_cache == "replay":
            raise PageError(f"{url} was not recorded")
        page = fetch(url)
        cache.put(url, dataclasses.asdict(page))
        return page

    return remembered


def _page(record: Any) -> Page | None:
    """The page of a record; None where it is none."""
    try:
        return Page(**{**record, "pages": tuple((number, text) for number, text in record["pages"])})
    except (TypeError, ValueError, KeyError):
        return None
