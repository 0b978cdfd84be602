"""Tables of contents of Wikipedia articles, to learn from related articles (paper section 3.1)."""

import socket
import threading
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from storm_pipeline.errors import SearchError
from storm_pipeline.run.retrying import RETRIED_STATUSES, Patience, TransientError, run_within
from storm_pipeline.sources.search.base import TableOfContents
from storm_pipeline.sources.sqlite_cache import SqliteCache
from storm_pipeline.sources.transport.bounded import read_bounded
from storm_pipeline.sources.transport.gates import Rate, gate
from storm_pipeline.sources.transport.http import SOON, user_agent
from storm_pipeline.text.identity import is_title
from storm_pipeline.text.languages import is_back_matter
from storm_pipeline.text.plain import plain_text

_API = "https://en.wikipedia.org/w/api.php"
_PATIENCE = Patience(connect=SOON, read=10.0, attempts=2, first_pause=0.5, total=20.0)
_CONCURRENT = _MAX_FAILURES = 2
"""Small, since the run waits for optional data; this many consecutive failures open the circuit for a minute."""


class WikipediaContents:
    """Rate-limited look-up of tables of contents of the English Wikipedia, cached on disk. Thread-safe.

    ``cache``: the cache folder; tables, and titles without an article, are kept in ``pages/contents.sqlite`` inside it
    for 30 days. ``api``: URL of another MediaWiki's ``api.php``.
    """

    def __init__(self, cache: Path, *, api: str = _API, patience: Patience = _PATIENCE) -> None:
        self._cache = SqliteCache(Path(cache) / "pages" / "contents.sqlite")
        self._api, self._patience = api, patience
        limits = Rate(10.0, concurrent=_CONCURRENT, failures=_MAX_FAILURES)
        self._gate = gate("Wikipedia", f"{urlsplit(api).netloc}, contents", limits)
        self._probing = threading.Lock()
        self._is_silent: bool | None = None
        self._slots = threading.Semaphore(_CONCURRENT)  # held across retries: waiting threads see an open circuit

    def table_of_contents(self, title: str) -> TableOfContents | None:
        """Return the headings of the article with this title or its redirect target; None if there is no article.

        Raises SearchError: the request failed.
        """
        title = spaced_title(title)
        if not is_title(title):
            return None
        key = f"{'en' if self._api == _API else self._api}\n{title}"
        if (known := self._cache.get(key, max_age_days=30)) is not None:
            return TableOfContents(known[0], tuple((level, text) for level, text in known[1])) if known else None
        with self._slots:
            self._check_answers()
            table = self._gate.call(lambda: self._look_up(title), self._patience)
        self._cache.put(key, [table.title, table.headings] if table else [])
        return table

    def _check_answers(self) -> None:
        """Raise a SearchError if the network drops packets, since each title would time out."""
        with self._probing:
            if self._is_silent is None:
                self._is_silent = _is_silent(self._api, self._patience.connect)
        if self._is_silent:
            raise SearchError("Wikipedia could not be reached: nothing answers; check the network")

    @cached_property
    def _wikipedia(self) -> Any:
        import httpx
        import wikipediaapi

        target = urlsplit(self._api)

        def redirect(request: httpx.Request) -> None:
            """Send the request to the MediaWiki of ``api``, which the library cannot be told."""
            place = {"scheme": target.scheme, "host": target.hostname, "port": target.port, "path": target.path}
            request.url = request.url.copy_with(**place)
            request.headers["Host"] = target.netloc

        return wikipediaapi.Wikipedia(
            user_agent(),
            "en",
            # The library cannot close connections later.
            headers={"Connection": "close", "Accept-Encoding": "identity"},
            max_retries=0,  # its own have no limit on Retry-After
            timeout=httpx.Timeout(self._patience.read, connect=self._patience.connect),
            proxy=_proxy_for(self._api),
            event_hooks={"request": [redirect], "response": [read_bounded]},
        )

    def _look_up(self, title: str) -> TableOfContents | None:
        import wikipediaapi

        try:
            page = self._wikipedia.page(title)
            sections, is_there = list(_flatten(page.sections)), page.exists()
        except wikipediaapi.WikiRateLimitError as error:
            limit = "Wikipedia answered 429: too many requests; wait a little"
            raise TransientError(limit, error.retry_after) from error
        except wikipediaapi.WikiHttpError as error:
            kind = TransientError if error.status_code in RETRIED_STATUSES else SearchError
            raise kind(f"Wikipedia answered {error.status_code}; try again later") from error
        except wikipediaapi.WikiHttpTimeoutError as error:
            raise TransientError("Wikipedia did not answer in time; check the network") from error
        except wikipediaapi.WikiConnectionError as error:
            raise TransientError("Wikipedia could not be reached; check the network") from error
        except (wikipediaapi.WikiInvalidJsonError, LookupError, TypeError, AttributeError) as error:
            raise SearchError("Wikipedia answered in an unknown format; check the network for a login page") from error
        return TableOfContents(plain_text(page.title), tuple(without_back_matter(sections))) if is_there else None


def spaced_title(title: str) -> str:
    """Return an article's title with spaces and without a section's name."""
    return " ".join(plain_text(title).partition("#")[0].replace("_", " ").split())


def wiki_sections(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield level, heading and text of each section of an article in MediaWiki's plain text.

    The lead is first, with level 0 and an empty heading; other levels count from 1.
    """
    level, heading, lines = 0, "", list[str]()
    for line in text.split("\n"):
        bare = line.rstrip()
        if bare.startswith("==") and bare.endswith("==") and len(bare) > 3:
            yield level, heading, "\n".join(lines)
            level, heading, lines = len(bare) - len(bare.lstrip("=")) - 1, plain_text(bare.strip("=")), []
        else:
            lines.append(line)
    yield level, heading, "\n".join(lines)


def without_back_matter(headings: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the headings (level, text) without empty ones, back matter and its subsections."""
    hidden: int | None = None
    for level, text in headings:
        if hidden is not None and level > hidden:
            continue
        hidden = level if is_back_matter(text, level) else None
        if hidden is None and text:
            yield level, text


def _flatten(sections: Iterable[Any]) -> Iterator[tuple[int, str]]:
    for section in sections:
        yield section.level, plain_text(section.title)
        yield from _flatten(section.sections)


def _proxy_for(address: str) -> str | None:
    """Return the environment's proxy for a URL, which the library ignores."""
    parts = urlsplit(address)
    return None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)


def _is_silent(address: str, seconds: float) -> bool:
    """Return whether a host, or the environment's proxy for it, neither accepts nor refuses a connection."""
    parts = urlsplit(_proxy_for(address) or address)
    port = parts.port or (80 if parts.scheme == "http" else 443)

    def connect() -> bool:
        try:
            socket.create_connection((parts.hostname or "", port), seconds).close()
        except OSError as error:  # a refusal counts as an answer; the request reports it
            return not isinstance(error, TimeoutError)
        return True

    return not run_within(SOON, connect)
