"""A search engine whose hits are read: passages of the whole pages instead of what the engine shows of them."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, islice

from storm_pipeline.documents.chunks import chunks
from storm_pipeline.documents.plain import plain_text, web_address
from storm_pipeline.errors import PageError
from storm_pipeline.pages.extract import Page
from storm_pipeline.retrieval.lexical import LexicalIndex
from storm_pipeline.search.base import Search
from storm_pipeline.search.result import SearchResult, Unread
from storm_pipeline.types import Snippet

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Reading:
    """A page cut into passages, each with its page number, and an index over them."""

    page: Page
    passages: tuple[tuple[int | None, str], ...]
    index: LexicalIndex


@dataclass(frozen=True)
class _Shown:
    """What a search shows of a page, and why it was not read, if it was to be."""

    snippets: tuple[Snippet, ...]
    unread: tuple[Unread, ...] = ()
    read: tuple[str, ...] = ()


class PageReader(Search):
    """A search that reads the pages that another finds. Thread-safe; close it after use.

    Each page is had once, however many searches find it. Where it can't be had, holds nothing of the query, or does
    not come in time, the engine's own snippets stand in for it; every snippet tells by its ``origin`` which it is, and
    the result says why. A page that comes late is there for the next search.

    Filters that go by address (:class:`storm_pipeline.sources.filtering.ReliableSearch`) belong around this engine, not
    only inside: a page that redirects bears the address that it has led to.

    Args:
        engine: finds the pages.
        fetch: address → page; raises PageError. By default a :class:`storm_pipeline.pages.web.WebPages`. It should
            return in bounded time, and is called from several threads at once.
        passages: of one page, in a search, at most; >= 1.
        seconds: that a search waits for its pages, after the engine has answered; > 0.
        workers: pages that are read at once, over all searches; >= 1.
        reads: whether the page of a hit is to be read; by default each is.
        cut: text → passages, e.g. :func:`storm_pipeline.documents.chunks.token_chunks` bound to an encoder's tokens.
    """

    def __init__(
        self,
        engine: Search,
        fetch: Callable[[str], Page] | None = None,
        *,
        passages: int = 3,
        seconds: float = 30.0,
        workers: int = 8,
        reads: Callable[[Snippet], bool] = lambda _: True,
        cut: Callable[[str], list[str]] = chunks,
    ) -> None:
        self._engine = engine
        self._fetch = fetch or _web_pages()
        self._most = passages
        self._seconds = seconds
        self._reads = reads
        self._cut = cut
        # Not parallel_map, which waits for everything: a page that is late must not hold up the search.
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="pages")
        self._readings: dict[str, Future[_Reading]] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Name of the engine that searches."""
        return self._engine.name

    def close(self) -> None:
        """Begin no further page; those being read are not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def search(self, query: str, k: int) -> SearchResult:
        """Passages of the pages that the engine finds, in its order, best passage of a page first.

        Raises:
            SearchError: as the engine's.
        """
        hit = self._engine.search(query, k)
        groups: dict[str, list[Snippet]] = {}
        for snippet in hit.snippets:
            groups.setdefault(snippet.source_id, []).append(snippet)
        deadline = time.monotonic() + self._seconds
        begun = [(tuple(hits), self._begun(hits[0])) for hits in groups.values()]
        shown = [self._shown(query, hits, reading, deadline) for hits, reading in begun]
        found: dict[str, Snippet] = {}
        for snippet in chain.from_iterable(page.snippets for page in shown):
            found.setdefault(snippet.id, snippet)
        return replace(
            hit,
            snippets=tuple(found.values()),
            unread=(*hit.unread, *chain.from_iterable(page.unread for page in shown)),
            read=(*hit.read, *chain.from_iterable(page.read for page in shown)),
        )

    def _begun(self, hit: Snippet) -> "Future[_Reading] | None":
        """The page of a hit, being read or to be read; None for what is no page of the web."""
        if not web_address(hit.url) or not self._reads(hit):
            return None
        with self._lock:
            known = self._readings.get(hit.source_id)
            if known is None or known.cancelled():
                known = self._readings[hit.source_id] = self._pool.submit(self._reading, hit.url)
            return known

    def _reading(self, url: str) -> _Reading:
        page = self._fetch(url)
        pieces = [(number, plain_text(piece)) for number, text in page.pages for piece in self._cut(text)]
        passages = tuple(dict.fromkeys((number, text) for number, text in pieces if text))
        return _Reading(page, passages, LexicalIndex([[(text, 1)] for _, text in passages], floor=0.0))

    def _shown(
        self, query: str, hits: tuple[Snippet, ...], future: "Future[_Reading] | None", deadline: float
    ) -> _Shown:
        if future is None:
            return _Shown(hits)
        url = hits[0].url
        try:
            reading = future.result(timeout=max(0.0, deadline - time.monotonic()))
        except (TimeoutError, CancelledError):
            future.cancel()  # if it has not begun; a later search may ask for it again
            return _Shown(hits, (Unread(url, f"was not read within {self._seconds:g} s"),))
        except PageError as error:
            return _Shown(hits, (Unread(url, str(error)),))
        except Exception as error:  # noqa: BLE001  (a library may fail on a damaged page in any way)
            _log.debug("reading %s failed", url, exc_info=error)
            return _Shown(hits, (Unread(url, f"could not be read ({type(error).__name__})"),))
        best = [reading.passages[match.position] for match in islice(reading.index.search(query), self._most)]
        if not best:
            return _Shown(hits, (Unread(url, "has no passage that matches the query"),))
        return _Shown(tuple(_snippet(hits[0], reading.page, number, text) for number, text in best), read=(url,))


def _snippet(hit: Snippet, page: Page, number: int | None, text: str) -> Snippet:
    return replace(
        hit,
        url=page.url,
        title=page.title or hit.title,
        text=text,
        published=page.published or hit.published,
        page=number,
        origin="page",
        author=page.author or hit.author,
        site=page.site or hit.site,
        language=page.language or hit.language,
    )


def _web_pages() -> Callable[[str], Page]:
    from storm_pipeline.pages.web import WebPages

    return WebPages()
