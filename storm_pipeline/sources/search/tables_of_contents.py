"""Tables of contents of Wikipedia articles, to learn from related articles (paper section 3.1)."""

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.run.retrying import RETRIED_STATUSES, Patience, TransientError, run_within
from storm_pipeline.sources.search.base import TableOfContents
from storm_pipeline.sources.sqlite_cache import SqliteCache
from storm_pipeline.sources.transport.gates import Rate, gate
from storm_pipeline.sources.transport.http import SOON, user_agent
from storm_pipeline.text.identity import is_title, is_wiki_language
from storm_pipeline.text.plain import plain_text

_BACK_MATTER = frozenset(
    {
        "bibliography", "citations", "explanatory notes", "external links", "footnotes", "further reading",
        "general references", "notes", "notes and references", "references", "references and notes",
        "see also", "sources", "works cited",
    }
)  # fmt: skip
_PATIENCE = Patience(attempts=2, first_pause=0.5, total=20.0)
_CONCURRENT = _MAX_FAILURES = 2
"""Small, since the run waits for optional data; this many consecutive failures open the circuit for a minute."""


class WikipediaContents:
    """Rate-limited look-up of tables of contents, cached on disk. Thread-safe.

    ``cache``: the cache folder; tables, and titles without an article, are kept in ``pages/contents.sqlite`` inside it
    for 30 days. ``timeout``: seconds to read an answer, and to connect, at most 2.5. ``patience``: attempts and pauses.
    ``api``: URL of another MediaWiki's ``api.php``. Raises SettingsError: the language code is malformed.
    """

    def __init__(
        self,
        cache: Path,
        language: str = "en",
        *,
        timeout: float = 10.0,
        patience: Patience | None = None,
        api: str | None = None,
    ) -> None:
        self._cache = SqliteCache(Path(cache) / "pages" / "contents.sqlite")
        self._language = language.strip().lower()
        if not is_wiki_language(self._language):
            raise SettingsError(f"{language!r} is not a language code of a Wikipedia; give one such as en or de")
        self._timeout = timeout
        self._patience = patience or _PATIENCE
        self._api = api
        host = urlsplit(api).netloc if api else f"{self._language}.wikipedia.org"
        self._gate = gate("Wikipedia", f"{host}, contents", Rate(10.0, concurrent=_CONCURRENT, failures=_MAX_FAILURES))
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
        key = f"{self._api or self._language}\n{title}"
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
                self._is_silent = _is_silent(self._api or f"https://{self._language}.wikipedia.org", self._timeout)
        if self._is_silent:
            raise SearchError("Wikipedia could not be reached: nothing answers; check the network")

    @cached_property
    def _wikipedia(self) -> Any:
        import httpx
        import wikipediaapi

        from storm_pipeline.sources.transport.bounded import bound

        hooks: dict[str, Any] = {"response": [bound]} | ({"request": [_redirection(self._api)]} if self._api else {})
        return wikipediaapi.Wikipedia(
            user_agent(),
            self._language,
            headers={
                "Connection": "close",
                "Accept-Encoding": "identity",
            },  # the library cannot close connections later
            max_retries=0,  # the library's retries have no limit on Retry-After
            timeout=httpx.Timeout(self._timeout, connect=min(self._timeout, SOON)),
            proxy=_proxy_for(self._api or f"https://{self._language}.wikipedia.org"),
            event_hooks=hooks,
        )

    def _look_up(self, title: str) -> TableOfContents | None:
        import wikipediaapi

        try:
            page = self._wikipedia.page(title)
            sections = list(page.sections)
            exists = page.exists()
        except wikipediaapi.WikiRateLimitError as error:
            raise TransientError(
                "Wikipedia answered 429: too many requests; wait a little", error.retry_after
            ) from error
        except wikipediaapi.WikiHttpError as error:
            message = f"Wikipedia answered {error.status_code}; try again later"
            raise (TransientError if error.status_code in RETRIED_STATUSES else SearchError)(message) from error
        except wikipediaapi.WikiHttpTimeoutError as error:
            raise TransientError("Wikipedia did not answer in time; check the network") from error
        except wikipediaapi.WikiConnectionError as error:
            raise TransientError("Wikipedia could not be reached; check the network") from error
        except (wikipediaapi.WikiInvalidJsonError, LookupError, TypeError, AttributeError) as error:
            raise SearchError("Wikipedia answered in an unknown format; check the network for a login page") from error
        if not exists:
            return None
        return TableOfContents(plain_text(page.title), tuple(without_back_matter(_flatten(sections))))


def spaced_title(title: str) -> str:
    """Return an article's title with spaces and without a section's name."""
    return " ".join(plain_text(title).partition("#")[0].replace("_", " ").split())


def without_back_matter(headings: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the headings (level, text) without empty ones, back matter and its subsections."""
    hidden: int | None = None
    for level, text in headings:
        if hidden is not None and level > hidden:
            continue
        hidden = level if is_back_matter(text) else None
        if hidden is None and text:
            yield level, text


def is_back_matter(heading: str) -> bool:
    """Return whether a heading is one of references, a see-also list or similar."""
    return heading.casefold().strip(" .:") in _BACK_MATTER


def _flatten(sections: Iterable[Any]) -> Iterator[tuple[int, str]]:
    for section in sections:
        yield section.level, plain_text(section.title)
        yield from _flatten(section.sections)


def _redirection(api: str) -> Callable[[Any], None]:
    target = urlsplit(api)

    def redirect(request: Any) -> None:
        request.url = request.url.copy_with(
            scheme=target.scheme, host=target.hostname, port=target.port, path=target.path
        )
        request.headers["Host"] = target.netloc

    return redirect


def _is_silent(address: str, timeout: float) -> bool:
    """Return whether a host or its proxy neither accepts nor refuses a connection."""
    parts = urlsplit(_proxy_for(address) or address)
    port = parts.port or (80 if parts.scheme == "http" else 443)

    def connect() -> bool:
        try:
            socket.create_connection((parts.hostname or "", port), timeout).close()
        except OSError:  # a refusal counts as an answer; the request reports it
            return True
        return True

    return run_within(min(timeout, SOON), connect) is None


def _proxy_for(address: str) -> str | None:
    """Return the environment's proxy for a URL, which the library ignores."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    return None if proxy_bypass(host) else getproxies().get(parts.scheme)
