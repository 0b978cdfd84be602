"""Polite crawling: robots.txt and rate limits per site."""

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from storm_pipeline.concurrency import in_own_thread
from storm_pipeline.documents.decoding import decoded
from storm_pipeline.errors import PageError
from storm_pipeline.net.gates import Limiter
from storm_pipeline.pages.address_checks import Access
from storm_pipeline.pages.connection import Limits
from storm_pipeline.pages.fetch import followed

if TYPE_CHECKING:
    from protego import Protego

ROBOT = "storm-pipeline"
"""The user agent name of this package in robots.txt."""
_CONCURRENT = 2
_MAX_BYTES = 512_000  # RFC 9309 requires at least 500 KiB


@dataclass(frozen=True)
class _Site:
    """A site's rate limiter and rules, or why it may not be fetched from (``closed``)."""

    limiter: Limiter
    rules: "Protego | None" = None
    closed: str = ""


class Politeness:
    """Checks a site's robots.txt before its pages, and limits the requests to it. Thread-safe.

    As in RFC 9309: a client error (4xx) on robots.txt allows everything; if it is unreachable (a server error, no
    connection) nothing is allowed, for the lifetime of this object. It is fetched once per site, with the same safety
    checks as any page. ``longest_delay``: maximum crawl delay in seconds; a longer one is capped.
    """

    def __init__(
        self, limits: Limits | None = None, access: Access | None = None, *, longest_delay: float = 5.0
    ) -> None:
        self._limits, self._access, self._longest_delay = limits, access, longest_delay
        self._sites: dict[str, Future[_Site]] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def visit(self, url: str) -> Iterator[None]:
        """Context in which to request and read one page; raises PageError if robots.txt forbids it."""
        parts = urlsplit(url)
        site = self._site(f"{parts.scheme}://{parts.netloc}")
        if site.closed:
            raise PageError(f"{parts.netloc} is closed for now: {site.closed}")
        if site.rules is not None and not site.rules.can_fetch(url, ROBOT):
            raise PageError(f"the robots.txt of {parts.netloc} forbids {parts.path[:200]}; the page was not fetched")
        with site.limiter:
            yield

    def _site(self, origin: str) -> _Site:
        """Return what is known of a site: the first who asks reads its robots.txt, and all wait for that."""
        with self._lock:
            if origin not in self._sites:
                self._sites[origin] = in_own_thread(lambda: self._read(origin), "robots")
            site = self._sites[origin]
        return site.result()

    def _read(self, origin: str) -> _Site:
        limiter = Limiter(concurrent=_CONCURRENT)
        try:
            text = self._robots_text(f"{origin}/robots.txt")
        except PageError as error:
            return _Site(limiter, closed=f"its robots.txt could not be fetched ({error})")
        if text is None:
            return _Site(limiter)
        from protego import Protego

        rules = Protego.parse(text)
        delay = min(rules.crawl_delay(ROBOT) or 0.0, self._longest_delay)
        if delay > 0:
            limiter.set_rate(1 / delay)
        return _Site(limiter, rules)

    def _robots_text(self, url: str) -> str | None:
        """Return the text of a robots.txt; None if there is none."""
        with followed(url, self._limits, self._access) as answer:
            status = answer.response.status
            if status >= 500:
                raise PageError(f"{answer.url} answered {status}; try again later")
            if status != 200:
                return None
            bounded = replace(answer.limits, max_bytes=_MAX_BYTES)
            return decoded(replace(answer, limits=bounded).body(truncate=True))
