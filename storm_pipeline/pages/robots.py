"""Politeness towards the sites that pages are read from: what their robots.txt says, and few requests at once."""

import contextlib
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from storm_pipeline.documents.decoding import decoded
from storm_pipeline.errors import PageError
from storm_pipeline.net.limiter import Limiter
from storm_pipeline.pages.addresses import Access
from storm_pipeline.pages.fetch import followed
from storm_pipeline.pages.single_flight import SingleFlight

if TYPE_CHECKING:
    from protego import Protego

    from storm_pipeline.pages.connection import Limits

ROBOT = "storm-pipeline"
"""The name by which a robots.txt can address this package."""

_MOST_BYTES = 512_000  # RFC 9309 asks for 500 KiB at least


@dataclass(frozen=True)
class _Site:
    """What a site's robots.txt says, or why nobody may enter; its pages pass the limiter."""

    limiter: Limiter
    rules: "Protego | None" = None
    closed: str = ""


class Politeness:
    """Asks a site's robots.txt before its pages, and keeps the requests to it few. Thread-safe.

    As RFC 9309 has it: where robots.txt is answered with a client error (4xx) everything is allowed; where it can't be
    had (a server error, no connection) nothing is, for as long as this object lives. It is fetched once a site, by
    the same rules of safety as any page.

    Args:
        limits: of fetching a robots.txt; its size is bounded on its own, the rest of a longer file is not looked at.
        access: which addresses may be connected to.
        robots: whether robots.txt is asked for and heeded.
        concurrent: pages of one site at once.
        longest_delay: seconds to which a crawl delay is heeded; a longer one is cut to this.
    """

    def __init__(
        self,
        limits: "Limits | None" = None,
        access: Access | None = None,
        *,
        robots: bool = True,
        concurrent: int = 2,
        longest_delay: float = 5.0,
    ) -> None:
        self._limits = limits
        self._access = access
        self._robots = robots
        self._concurrent = concurrent
        self._longest_delay = longest_delay
        self._sites = SingleFlight(self._site)

    @contextlib.contextmanager
    def visit(self, url: str) -> Iterator[None]:
        """Enter before a page is asked for, leave when it was read.

        Raises:
            PageError: the site's robots.txt forbids the page, or could not be had.
        """
        parts = urlsplit(url)
        site = self._sites(f"{parts.scheme}://{parts.netloc}")
        if site.closed:
            raise PageError(f"{parts.netloc} is closed for now: {site.closed}")
        if site.rules is not None and not site.rules.can_fetch(url, ROBOT):
            raise PageError(f"the robots.txt of {parts.netloc} forbids {parts.path[:200]}; the page was not fetched")
        with site.limiter:
            yield

    def _site(self, origin: str) -> _Site:
        limiter = Limiter(concurrent=self._concurrent)
        if not self._robots:
            return _Site(limiter)
        try:
            text = self._robots_text(f"{origin}/robots.txt")
        except PageError as error:
            return _Site(limiter, closed=f"its robots.txt could not be had ({error})")
        if text is None:
            return _Site(limiter)
        from protego import Protego

        rules = Protego.parse(text)
        delay = min(rules.crawl_delay(ROBOT) or 0.0, self._longest_delay)
        if delay > 0:
            limiter.set_rate(1 / delay)
        return _Site(limiter, rules)

    def _robots_text(self, url: str) -> str | None:
        """The text of a robots.txt; None where there is none.

        Raises:
            PageError: nobody knows whether there is one.
        """
        with followed(url, self._limits, self._access) as answer:
            if answer.status >= 500:
                raise PageError(f"{answer.url} answered {answer.status}; try again later")
            if answer.status != 200:
                return None
            bounded = dataclasses.replace(answer.limits, max_bytes=_MOST_BYTES)
            return decoded(dataclasses.replace(answer, limits=bounded).body(cut=True))
