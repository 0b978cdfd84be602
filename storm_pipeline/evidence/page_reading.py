"""Reading the pages that a search found: passages of whole pages instead of the engine's snippets; pages are kept."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from storm_pipeline.errors import PageError
from storm_pipeline.run.concurrency import FairThreads
from storm_pipeline.sources.documents.markup import HEADINGS, under_headings
from storm_pipeline.sources.pages.connection import Access, Limits
from storm_pipeline.sources.pages.extract import MAX_NAME_CHARS, Page, extract_isolated
from storm_pipeline.sources.pages.fetch import Politeness, fetch_page
from storm_pipeline.sources.search.papers import doi_name
from storm_pipeline.sources.search.result import PagePassage, SearchResult, Unread, WholePage, merge_results
from storm_pipeline.sources.search.search_cache import CacheMode, ModeCache
from storm_pipeline.text.chunks import chunks
from storm_pipeline.text.identity import DOI_HOSTS, canonical_url, host_of, is_elsewhere
from storm_pipeline.text.lexical import LexicalIndex
from storm_pipeline.text.plain import plain_text, web_address
from storm_pipeline.types import Snippet

if TYPE_CHECKING:
    from storm_pipeline.settings import Settings

_log = logging.getLogger(__name__)
Fetch = Callable[[str], Page]  # URL → page; raises PageError
_STATED = ("title", "published", "author", "site", "language", "publisher", "accessed")
MOST_PASSAGES = 1000  # maximum passages kept per page: its first 110,000 words


@dataclass(frozen=True)
class _IndexedPage:
    """A page cut into passages, and an index over them."""

    page: Page
    passages: tuple[PagePassage, ...]
    index: LexicalIndex
    lost: tuple[str, ...]  # a sentence on omitted passages


class PageReader:
    """Reader of search results' pages, each read once. Thread-safe; close it after use.

    A result has some passages of each page that match the query, and all up to :data:`MOST_PASSAGES` as ``pages``. If a
    page cannot be fetched, does not match the query, or is not ready in time, the engine's snippets are used; a
    snippet's ``origin`` and the result record this. A late page is ready for the next search. Filter by URL afterwards
    too: a page that redirects has its final URL.

    Args:
        passages: maximum number of passages per page in a search, >= 1.
        seconds: how long a search waits for its pages after the engine has answered, > 0.
        workers: maximum number of pages read concurrently, over all searches, >= 1; few of them of one host.
        reads: whether to read the page of a hit.
    """

    def __init__(
        self,
        fetch: Fetch,
        *,
        passages: int = 3,
        seconds: float = 30.0,
        workers: int = 8,
        reads: Callable[[Snippet], bool] = lambda _: True,
        cut: Callable[[str], list[str]] = chunks,
    ) -> None:
        self._fetch, self._reads, self._cut = fetch, reads, cut
        self._max_passages, self._seconds = passages, seconds
        # Not parallel_map, which waits for everything: a late page must not delay the search.
        self._threads = FairThreads(workers)
        self._futures: dict[str, Future[_IndexedPage]] = {}
        self._lock = threading.Lock()

    def close(self) -> None:
        """Start no further pages, without waiting for those being read."""
        self._threads.close()

    def read(self, hit: SearchResult, query: str) -> SearchResult:
        """Return passages of a result's pages, in its order, the best passage of a page first."""
        groups: dict[str, list[Snippet]] = {}
        for snippet in hit.snippets:
            groups.setdefault(snippet.source_id, []).append(snippet)
        deadline = time.monotonic() + self._seconds
        pending = [(hits, self._submit(hits[0])) for hits in groups.values()]
        results = [self._page_result(query, hits, reading, deadline) for hits, reading in pending]
        result = merge_results([replace(hit, snippets=()), *results])
        first = {snippet.id: snippet for snippet in reversed(result.snippets)}
        return replace(result, snippets=tuple(first[name] for name in dict.fromkeys(s.id for s in result.snippets)))

    def _submit(self, hit: Snippet) -> Future[_IndexedPage] | None:
        """Start reading the page of a hit, unless it has been started; return None if it is not a web page."""
        if not web_address(hit.url) or not self._reads(hit):
            return None
        with self._lock:
            known = self._futures.get(hit.source_id)
            if known is None or known.cancelled():
                known = self._threads.start(host_of(hit.url), partial(self._index_page, hit.url))
                self._futures[hit.source_id] = known
            return known

    def _index_page(self, url: str) -> _IndexedPage:
        page = self._fetch(url)
        passages_found = (
            PagePassage(plain_text(piece), _heading(above, page.title), number)
            for number, text in page.pages
            for above, part in under_headings(text)
            for piece in self._cut(part)
        )
        whole = tuple(dict.fromkeys(passage for passage in passages_found if passage.text))
        passages = whole[:MOST_PASSAGES]
        left_out = f"{url} has {len(whole):,} passages, of which the first {MOST_PASSAGES} are used"
        index = LexicalIndex([[(passage.text, 1), (passage.heading, 1)] for passage in passages], floor=0.0)
        return _IndexedPage(page, passages, index, (left_out,) if len(whole) > MOST_PASSAGES else ())

    def _page_result(
        self, query: str, hits: Sequence[Snippet], future: Future[_IndexedPage] | None, deadline: float
    ) -> SearchResult:
        """Return the matching passages of a page, or the engine's snippets and the reason why it was not read."""
        url = hits[0].url

        def unread(reason: str) -> SearchResult:
            return SearchResult(tuple(hits), unread=(Unread(url, reason),))

        if future is None:
            return SearchResult(tuple(hits))
        try:
            reading = future.result(timeout=max(0.0, deadline - time.monotonic()))
        except (TimeoutError, CancelledError):
            future.cancel()  # unless started; a later search may submit it again
            return unread(f"was not read within {self._seconds:g} s")
        except PageError as error:
            return unread(str(error))
        except Exception as error:  # noqa: BLE001  (libraries raise anything on damaged pages)
            _log.debug("reading %s failed", url, exc_info=error)
            return unread("could not be read: it is damaged")
        whole = WholePage(_about(hits[0], reading.page), reading.passages)
        best = _best([match.position for match in reading.index.search(query)], len(whole.passages), self._max_passages)
        if not best:
            return replace(unread("has no passage that matches the query"), pages=(whole,), lost=reading.lost)
        return SearchResult(tuple(whole.snippets[i] for i in best), read=(url,), pages=(whole,), lost=reading.lost)


def _best(ranked: Sequence[int], number: int, most: int) -> list[int]:
    """Return positions of passages: the best one, then its neighbours, which may continue it, then the next best."""
    beside = (ranked[0] + 1, ranked[0] - 1) if ranked else ()
    return [*dict.fromkeys(i for i in (*ranked[:1], *beside, *ranked) if 0 <= i < number)][:most]


def _heading(above: str, title: str) -> str:
    """Return the headings above a passage without those that the page's title has."""
    parts = (part for part in map(plain_text, above.split(HEADINGS)) if part)
    return HEADINGS.join(part for part in parts if part.casefold() not in title.casefold())[:MAX_NAME_CHARS].strip()


def _about(hit: Snippet, page: Page) -> Snippet:
    """Return a hit with the metadata of its page; those of the hit too, unless it redirects to another host.

    An address of a DOI redirects to the page of the work that the hit describes.
    """
    if is_elsewhere(hit.url, page.url):
        hit = Snippet(page.url, "", hit.text, engine=hit.engine, accessed=hit.accessed)
    elif host_of(canonical_url(hit.url)) in DOI_HOSTS:
        hit = replace(hit, doi=hit.doi or doi_name(unquote(urlsplit(hit.url).path[1:])))
    stated = {name: getattr(page, name) or getattr(hit, name) for name in _STATED}
    return replace(hit, url=page.url, page=None, origin="page", **stated)


class WebPages:
    """URL → page: fetched from the public internet within limits, obeying robots.txt, and extracted. Thread-safe.

    ``access``: which addresses may be connected to; by default those of the public internet.
    """

    def __init__(self, limits: Limits | None = None, access: Access | None = None) -> None:
        self._limits, self._access, self._visit = limits, access, Politeness(limits, access).visit

    def __call__(self, url: str) -> Page:
        """Fetch and extract a page. Raises PageError: it was not fetched, or contains no text."""
        page = extract_isolated(fetch_page(url, self._limits, self._access, self._visit))
        return replace(page, accessed=datetime.now(UTC).date().isoformat())


class CachedPages(ModeCache):
    """A cache of fetched pages by canonical URL in ``pages/pages.sqlite``. Failures are not cached."""

    def __init__(self, fetch: Fetch, folder: Path, mode: CacheMode = "use", max_age_days: float | None = 30.0) -> None:
        super().__init__(Path(folder) / "pages" / "pages.sqlite", mode, max_age_days)
        self._fetch = fetch

    def __call__(self, url: str) -> Page:
        """Return the page at a URL, from the cache where the mode allows. Raises PageError: as ``fetch``; or a miss."""
        key = canonical_url(url)
        page = self.load(key, Page, PageError(f"{url} was not recorded"))
        if page is None:
            page = self._fetch(url)
            self.store(key, asdict(page))
        return page


def kept_pages(settings: "Settings", fetch: Fetch | None = None) -> CachedPages:
    """Return a fetcher that reads pages as a run does and keeps them as the settings say."""
    return CachedPages(fetch or WebPages(), settings.cache, settings.search_cache)
