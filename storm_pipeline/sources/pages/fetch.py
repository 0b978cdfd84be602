"""Polite fetching of pages: checks each redirect, and keeps time and size limits."""

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import quote, urljoin, urlsplit

from protego import Protego
from urllib3.response import BaseHTTPResponse

from storm_pipeline.errors import PageError
from storm_pipeline.run.concurrency import in_own_thread
from storm_pipeline.sources.documents.decoding import decode
from storm_pipeline.sources.pages.connection import Access, Limits, Target, exchange, target_of
from storm_pipeline.sources.transport.gates import Limiter

Visit = Callable[[str, float], AbstractContextManager[float]]
"""URL, seconds left → context manager around a request and reading its response; yields the seconds left then.

Raises PageError to forbid the request.
"""

HTML = frozenset({"text/html", "application/xhtml+xml"})
TEXT = "text/plain"
PDF = "application/pdf"
# Uninformative or archive content types, to be replaced by detection from the bytes.
_UNINFORMATIVE = frozenset(
    {"", "binary/octet-stream"}
    | {f"application/{name}" for name in ("octet-stream", "unknown", "download", "force-download", "gzip")}
    | {f"application/x-{name}" for name in ("download", "force-download", "gzip", "pdf")}
)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ENCODINGS = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})
_ROBOT = "storm-pipeline"  # this package's user agent in robots.txt
_CONCURRENT = 2
_MOST_ROBOTS = 512_000  # bytes of a robots.txt; RFC 9309 requires at least 500 KiB
_rules = lru_cache(4)(Protego.parse)  # those of a hostile robots.txt take 50 MB
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.I)


@dataclass(frozen=True)
class FetchedPage:
    """A fetched page."""

    url: str
    final_url: str  # the URL after redirects, without fragment
    content_type: str  # as stated by the server
    body: bytes  # the bytes, decompressed
    charset: str | None = None  # the character set in the ``Content-Type`` header


def fetch_page(
    url: str, limits: Limits | None = None, access: Access | None = None, visit: Visit | None = None
) -> FetchedPage:
    """Fetch a page whose header allows HTML, plain text or PDF.

    Ignores the environment's proxies and netrc, and keeps no cookies. ``access``: by default the public internet;
    ``visit``: entered around every request, including redirects. Raises PageError: it was not fetched.
    """
    with follow_redirects(url, limits, access, visit) as answer:
        if answer.response.status != 200:
            message = f"{answer.url} answered {answer.response.status}; the page cannot be fetched"
            raise PageError(message, is_gone=answer.response.status in {404, 410})
        kind = answer.response.headers.get("Content-Type", "")
        content_type = kind.partition(";")[0].partition(",")[0].strip().lower()
        if content_type not in {*HTML, TEXT, PDF, *_UNINFORMATIVE}:
            kind = content_type[:80]
            raise PageError(f"{answer.url} has the content type {kind!r}; only HTML, plain text and PDF are read")
        charset = _CHARSET.search(kind)
        return FetchedPage(url, answer.url, content_type, answer.body(), charset[1] if charset else None)


@dataclass(frozen=True)
class PageResponse:
    """The response after redirects; its body can be read once, while the connection is open."""

    url: str
    response: BaseHTTPResponse
    limits: Limits
    deadline: float

    def body(self, *, truncate: bool = False) -> bytes:
        """Return the decompressed body, cut at the limit if ``truncate``.

        Raises PageError: it is too large, too slow, or has an unsupported encoding.
        """
        encoding = self.response.headers.get("Content-Encoding", "").strip().lower()
        if encoding not in _ENCODINGS:
            raise PageError(f"{self.url} has the unsupported encoding {encoding[:80]!r}")
        received, limit = bytearray(), self.limits.max_bytes
        # read1 returns available bytes, which also bounds the unpacking of a decompression bomb.
        while piece := self.response.read1(1 << 16, decode_content=True):
            received += piece
            if len(received) > limit:
                if truncate:
                    return bytes(received[:limit])
                raise PageError(f"{self.url} is larger than {limit:,} bytes; such pages are not read")
            self._check_time()
        self._check_time()  # without Content-Length, closing at the deadline looks like the end of the body
        return bytes(received)

    def _check_time(self) -> None:
        if time.monotonic() >= self.deadline:
            raise PageError(f"{self.url} was not fetched within {self.limits.total:g} s; the server is slow")


@contextlib.contextmanager
def follow_redirects(
    url: str, limits: Limits | None = None, access: Access | None = None, visit: Visit | None = None
) -> Iterator[PageResponse]:
    """Yield the first response, of any status, that is not a redirect; arguments and errors as :func:`fetch_page`."""
    limits, access = limits or Limits(), access or Access()
    visit = visit or (lambda _, left: contextlib.nullcontext(left))
    target, left, seen = target_of(url), limits.total, set[str]()
    for _ in range(limits.redirects + 1):
        seen.add(target.url)
        with visit(target.url, left) as left:
            start = time.monotonic()
            with exchange(target, access, limits, start + left) as response:
                if response.status not in _REDIRECTS or not response.headers.get("Location"):
                    yield PageResponse(target.url, response, limits, start + left)
                    return
                target = _redirect_target(target, response.headers["Location"])
        left -= time.monotonic() - start
        if target.url in seen:
            raise PageError(f"{url} redirects in a loop; it may require cookies, which are not kept")
    raise PageError(f"{url} redirects more than {limits.redirects} times; giving up")


def _redirect_target(target: Target, location: str) -> Target:
    # http.client decodes headers as Latin-1; unencoded URLs are UTF-8 in practice.
    try:
        return target_of(urljoin(target.url, location.encode("latin-1").decode("utf-8", "replace").strip()))
    except (PageError, ValueError) as error:
        raise PageError(f"{target.url} redirects to a URL that is not fetched: {error}") from error


@dataclass(frozen=True)
class _Site:
    """A site's rate limiter and rules, or the reason for not fetching from it (``closed``)."""

    limiter: Limiter
    robots: str = ""
    wildcards: int = 0  # characters of rules after their first wildcard: each may be sought at each place of a URL
    closed: str = ""
    is_gone: bool = False


class Politeness:
    """Checks of robots.txt and rate limits per site. Thread-safe.

    As in RFC 9309: a client error (4xx) on robots.txt allows everything; if it is unreachable (a server error, no
    connection) nothing is allowed for the lifetime of this object. It is fetched once per site with the safety checks
    of any page. ``longest_delay``: cap on the crawl delay in seconds.
    """

    def __init__(
        self, limits: Limits | None = None, access: Access | None = None, *, longest_delay: float = 5.0
    ) -> None:
        self._limits, self._access, self._longest_delay = limits, access, longest_delay
        self._sites: dict[str, Future[_Site]] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def visit(self, url: str, left: float) -> Iterator[float]:
        """Wait for the rate limit before a page is fetched in the block; yield the seconds left after all waiting.

        Raises PageError: robots.txt forbids the page; or a turn, or robots.txt, which later pages have, takes longer.
        """
        parts, deadline = urlsplit(url), time.monotonic() + left
        try:
            site = self._site(f"{parts.scheme}://{parts.netloc}").result(left)
        except TimeoutError as error:
            raise PageError(f"the robots.txt of {parts.netloc} was not fetched in the time for the page") from error
        if site.closed:
            raise PageError(f"{parts.netloc} is closed for now: {site.closed}", is_gone=site.is_gone)
        if len(url) * site.wildcards > 512 * _MOST_ROBOTS:
            problem = f"has too many wildcards for a URL of {len(url):,} characters"
            raise PageError(f"the robots.txt of {parts.netloc} {problem}; the page was not fetched")
        if not _rules(site.robots).can_fetch(url, _ROBOT):
            raise PageError(f"the robots.txt of {parts.netloc} forbids {parts.path[:200]}; the page was not fetched")
        with contextlib.ExitStack() as turn:
            try:
                turn.enter_context(site.limiter.turn(deadline - time.monotonic()))
            except TimeoutError as error:
                raise PageError(f"{parts.netloc} allows too few requests for the page to be fetched in time") from error
            yield deadline - time.monotonic()

    def _site(self, origin: str) -> Future[_Site]:
        """Return a site's limiter and rules; its robots.txt is read once, for all callers."""
        with self._lock:
            if origin not in self._sites:
                self._sites[origin] = in_own_thread(lambda: self._read(origin), "robots")
            return self._sites[origin]

    def _read(self, origin: str) -> _Site:
        limiter = Limiter(concurrent=_CONCURRENT)
        try:
            robots = "\n".join(_relevant_lines(self._robots_text(f"{origin}/robots.txt")))
        except PageError as error:
            return _Site(limiter, closed=f"its robots.txt could not be fetched ({error})", is_gone=error.is_gone)
        parts = (part for line in quote(robots, safe="\n*$/?=&%").split("\n") for part in line.split("*")[1:])
        wildcards = sum(len(part) - 1 for part in parts if part)
        delay = min(_rules(robots).crawl_delay(_ROBOT) or 0.0, self._longest_delay)
        if delay > 0:
            limiter.set_rate(1 / delay)
        return _Site(limiter, robots, wildcards)

    def _robots_text(self, url: str) -> str:
        """Return the text of a robots.txt; empty if there is none."""
        with follow_redirects(url, self._limits, self._access) as answer:
            status = answer.response.status
            if status >= 500:
                raise PageError(f"{answer.url} answered {status}; try again later")
            if status != 200:
                return ""
            bounded = replace(answer.limits, max_bytes=_MOST_ROBOTS)
            return decode(replace(answer, limits=bounded).body(truncate=True))


def _relevant_lines(robots: str) -> Iterator[str]:
    """Yield the lines of a robots.txt, without user agents other than the one that names this package best.

    Protego keeps the rules of a group for each of its agents, so a small file could fill the memory.
    """
    lines = [(line, _agent_of(line)) for line in robots.splitlines()]
    ours = {agent for _, agent in lines if agent and (agent == "*" or _ROBOT.startswith(agent))}
    best = max(ours, key=lambda agent: (agent != "*", len(agent)), default=None)
    for line, agent in lines:
        yield line if agent is None else f"User-agent: {best if agent == best else ''}"


def _agent_of(line: str) -> str | None:
    """Return the user agent that a line of a robots.txt names; None if it is another kind of line."""
    words = " ".join(line.partition("#")[0].casefold().split())
    for field in ("user-agent", "useragent", "user agent"):
        rest = words.removeprefix(field)
        if rest != words and rest[:1] in {"", " ", ":"}:
            name = rest.strip(" :")
            return name.replace("*", "") or name[:1]
    return None
