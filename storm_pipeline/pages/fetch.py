"""Fetching a page: redirects followed by hand, every one of them checked anew, and everything bounded."""

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from storm_pipeline.errors import PageError
from storm_pipeline.pages.addresses import Access, Target, target_of

if TYPE_CHECKING:
    from urllib3.response import BaseHTTPResponse

    from storm_pipeline.pages.connection import Limits

Visit = Callable[[str], AbstractContextManager[None]]
"""Entered before an address is asked and left when its answer was read; raises PageError to forbid it."""

HTML = frozenset({"text/html", "application/xhtml+xml"})
TEXT = "text/plain"
PDF = "application/pdf"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ENCODINGS = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.I)


@dataclass(frozen=True)
class Fetched:
    """A page as it came.

    Attributes:
        url: the address that was asked for.
        final_url: the address that answered, after redirects, without fragment.
        content_type: ``text/html``, ``application/xhtml+xml``, ``text/plain`` or ``application/pdf``.
        body: the bytes, decompressed.
        charset: the character set that the server states.
    """

    url: str
    final_url: str
    content_type: str
    body: bytes
    charset: str | None = None


def fetch_page(
    url: str, limits: "Limits | None" = None, access: Access | None = None, visit: Visit | None = None
) -> Fetched:
    """Fetch a page of text: HTML, plain text or PDF.

    Nothing of the environment plays a part (no proxy, no netrc), and no cookie is kept.

    Args:
        url: an http or https address.
        limits: time, size and redirects.
        access: which addresses may be connected to; by default those of the public internet.
        visit: asked before every request, redirects included; by default nobody is.

    Raises:
        PageError: the page was not had; says what and why.
    """
    with followed(url, limits, access, visit) as answer:
        if answer.status != 200:
            raise PageError(f"{answer.url} answered {answer.status}; the page cannot be had")
        kind = answer.header("Content-Type")
        content_type = kind.partition(";")[0].strip().lower()
        if content_type not in {*HTML, TEXT, PDF}:
            raise PageError(
                f"{answer.url} is of the kind {content_type[:80]!r}; only HTML, plain text and PDF are read"
            )
        charset = _CHARSET.search(kind)
        return Fetched(url, answer.url, content_type, answer.body(), charset[1] if charset else None)


@dataclass(frozen=True)
class Answer:
    """What the last of some redirects led to; its body can be read once, while the connection is open."""

    url: str
    response: "BaseHTTPResponse"
    limits: "Limits"
    deadline: float

    @property
    def status(self) -> int:
        """HTTP status."""
        return self.response.status

    def header(self, name: str) -> str:
        """A header's value; empty where there is none."""
        return self.response.headers.get(name, "")

    def body(self, *, cut: bool = False) -> bytes:
        """The body, decompressed.

        Args:
            cut: whether a body over the limit is cut off there instead of refused.

        Raises:
            PageError: it is too large, too slow, or compressed in a way that was not asked for.
        """
        encoding = self.header("Content-Encoding").strip().lower()
        if encoding not in _ENCODINGS:
            raise PageError(f"{self.url} is compressed as {encoding[:80]!r}, which was not asked for")
        received, most = bytearray(), self.limits.max_bytes
        # read1 returns what has arrived, and never more of a bomb than was asked for.
        while piece := self.response.read1(1 << 16, decode_content=True):
            received += piece
            if len(received) > most:
                if cut:
                    return bytes(received[:most])
                raise PageError(f"{self.url} is larger than {most:,} bytes; such pages are not read")
            self._check_time()
        self._check_time()  # a connection broken off at the deadline looks like the end of a body without a length
        return bytes(received)

    def _check_time(self) -> None:
        if time.monotonic() >= self.deadline:
            raise PageError(f"{self.url} was not had within {self.limits.total:g} s; the server is slow")


@contextlib.contextmanager
def followed(
    url: str, limits: "Limits | None" = None, access: Access | None = None, visit: Visit | None = None
) -> Iterator[Answer]:
    """The first answer that is no redirect, of whatever status; arguments and errors as of :func:`fetch_page`."""
    from storm_pipeline.pages.connection import Limits, exchange

    limits, access = limits or Limits(), access or Access()
    visit = visit or (lambda _: contextlib.nullcontext())
    target, left, seen = target_of(url), limits.total, set[str]()
    for _ in range(limits.redirects + 1):
        seen.add(target.url)
        with visit(target.url):
            start = time.monotonic()
            with exchange(target, access, limits, start + left) as response:
                if response.status not in _REDIRECTS or not response.headers.get("Location"):
                    yield Answer(target.url, response, limits, start + left)
                    return
                target = _redirected(target, response.headers["Location"])
        left -= time.monotonic() - start
        if target.url in seen:
            raise PageError(f"{url} redirects in a circle; perhaps it insists on cookies, which are not kept")
    raise PageError(f"{url} redirects more than {limits.redirects} times; it was given up")


def _redirected(target: Target, location: str) -> Target:
    # http.client reads headers as Latin-1; addresses that are not encoded are UTF-8 in practice.
    try:
        return target_of(urljoin(target.url, location.encode("latin-1").decode("utf-8", "replace").strip()))
    except (PageError, ValueError) as error:
        raise PageError(f"{target.url} redirects to what is not fetched: {error}") from error
