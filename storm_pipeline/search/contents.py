"""Tables of contents of Wikipedia articles: what related articles look like (paper section 3.1)."""

import hashlib
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from storm_pipeline.documents.plain import plain_text
from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.files import write_atomically
from storm_pipeline.net.gates import Rate, gate
from storm_pipeline.net.http import user_agent as default_user_agent
from storm_pipeline.net.retrying import RETRIED_STATUSES, Patience, TransientError

_log = logging.getLogger(__name__)
_FORMAT = 1
_MOST_TITLE_BYTES = 255
_LANGUAGE = re.compile("[a-z]{2,}(-[a-z]+)*")
_IN_NO_TITLE = re.compile(r"[<>\[\]{}|]")
_BACK_MATTER = frozenset(
    {
        "bibliography", "citations", "explanatory notes", "external links", "footnotes", "further reading",
        "general references", "notes", "notes and references", "references", "references and notes",
        "see also", "sources", "works cited",
    }
)  # fmt: skip


@dataclass(frozen=True)
class TableOfContents:
    """Headings of an article.

    Attributes:
        title: the article's title, redirects followed.
        headings: level (1 for a section, 2 for a subsection …) and text, in reading order; without back
            matter such as references and see-also lists, and what stands under them.
    """

    title: str
    headings: tuple[tuple[int, str], ...]


class ContentsSource(Protocol):
    """Looks up the table of contents of an encyclopedia article by its title."""

    def table_of_contents(self, title: str) -> TableOfContents | None:
        """The article's headings, or None when there is no such article.

        Raises:
            SearchError: the look-up itself failed.
        """
        ...


_PATIENCE = Patience(attempts=2, first_pause=0.5, total=20.0)
_AT_ONCE = _FAILURES = 2
"""Little: the run waits for it, and can do without. After so many failures in a row nobody is asked for a minute."""
_CONNECT = 4.0
"""Seconds for a connection: who swallows packets, as some firewalls do, is not waited for longer."""


class WikipediaContents:
    """Looks up tables of contents, politely, and remembers them on disk. Thread-safe.

    Args:
        cache: the cache folder; tables are kept in ``pages/contents`` inside it.
        language: language code of the Wikipedia.
        user_agent: how to be known to Wikipedia, which asks for a name and a way to get in touch.
        timeout: seconds for each part of an answer, and for a connection, where at most four are waited.
        patience: attempts and pauses; its ``connect`` and ``read`` give way to ``timeout``.
        days: age in days after which a remembered table is looked up again, absent articles included.
        api: address of another MediaWiki's ``api.php``, instead of Wikipedia's.
        sleep: waits between attempts for a number of seconds.

    Raises:
        SettingsError: the language code can be none.
    """

    def __init__(
        self,
        cache: Path,
        language: str = "en",
        *,
        user_agent: str | None = None,
        timeout: float = 10.0,
        patience: Patience | None = None,
        days: float = 30.0,
        api: str | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._folder = Path(cache) / "pages" / "contents"
        self._language = language.strip().lower()
        if not _LANGUAGE.fullmatch(self._language):
            raise SettingsError(f"{language!r} is no language code of a Wikipedia; give one such as en or de")
        self._user_agent = user_agent or default_user_agent()
        self._timeout = timeout
        self._patience = patience or _PATIENCE
        self._seconds = days * 86_400
        self._api = api
        self._sleep = sleep
        host = urlsplit(api).netloc if api else f"{self._language}.wikipedia.org"
        self._gate = gate("Wikipedia", f"{host}, contents", Rate(10.0, concurrent=_AT_ONCE), failures=_FAILURES)
        self._turns = threading.Semaphore(_AT_ONCE)  # kept through all attempts, so who waits sees the circuit open

    def table_of_contents(self, title: str) -> TableOfContents | None:
        """Headings of the article with this title, or that it redirects to; None if there is no such article.

        Raises:
            SearchError: Wikipedia could not be asked.
        """
        title = " ".join(plain_text(title).partition("#")[0].replace("_", " ").split())
        if not title or _IN_NO_TITLE.search(title) or len(title.encode()) > _MOST_TITLE_BYTES:
            return None
        file = self._file(title)
        known, table = self._remembered(file)
        if not known:
            with self._turns:
                table = self._gate.passing(lambda: self._asked(title), self._patience, sleep=self._sleep)
            self._remember(file, title, table)
        return table

    @cached_property
    def _wikipedia(self) -> Any:
        import httpx
        import wikipediaapi

        hooks = {"request": [_redirection(self._api)]} if self._api else {}
        return wikipediaapi.Wikipedia(
            self._user_agent,
            self._language,
            headers={"Connection": "close"},  # the library cannot be told to close its connections later
            max_retries=0,  # its own would wait as long as a server asks
            timeout=httpx.Timeout(self._timeout, connect=min(self._timeout, _CONNECT)),
            proxy=_proxy_for(self._api or f"https://{self._language}.wikipedia.org"),
            event_hooks=hooks,
        )

    def _asked(self, title: str) -> TableOfContents | None:
        """One attempt at looking an article up."""
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
            raise SearchError(
                "Wikipedia answered in a form that is not known; check the network for a login page"
            ) from error
        if not exists:
            return None
        return TableOfContents(plain_text(page.title), tuple(without_back_matter(_flat(sections))))

    def _file(self, title: str) -> Path:
        key = f"{self._api or self._language}\n{title}"
        return self._folder / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"

    def _remembered(self, file: Path) -> tuple[bool, TableOfContents | None]:
        """Whether the cache knows, and what. A damaged or old file counts as unknown."""
        try:
            record = json.loads(file.read_bytes())
            if record["format"] != _FORMAT or not 0 <= time.time() - record["saved"] <= self._seconds:
                return False, None
            if record["found"] is None:
                return True, None
            headings = tuple((int(level), str(text)) for level, text in record["found"]["headings"])
            return True, TableOfContents(str(record["found"]["title"]), headings)
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return False, None

    def _remember(self, file: Path, asked: str, table: TableOfContents | None) -> None:
        found = {"title": table.title, "headings": table.headings} if table else None
        record = {"format": _FORMAT, "saved": time.time(), "asked": asked, "found": found}
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, json.dumps(record, ensure_ascii=False))
        except OSError as error:  # a full or read-only disk costs a second look-up, nothing more
            _log.warning("cannot remember a table of contents in %s: %s", file.parent, error)


def without_back_matter(headings: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """All headings (level, text) but those of back matter, what stands under it, and empty ones."""
    hidden: int | None = None
    for level, text in headings:
        if hidden is not None and level > hidden:
            continue
        hidden = level if is_back_matter(text) else None
        if hidden is None and text:
            yield level, text


def is_back_matter(heading: str) -> bool:
    """Whether a heading stands over references, see-also lists and the like."""
    return heading.casefold().strip(" .:") in _BACK_MATTER


def _flat(sections: Iterable[Any]) -> Iterator[tuple[int, str]]:
    for section in sections:
        yield section.level, plain_text(section.title)
        yield from _flat(section.sections)


def _redirection(api: str) -> Callable[[Any], None]:
    """A hook that sends the library's requests to another address, the query kept."""
    target = urlsplit(api)

    def redirect(request: Any) -> None:
        request.url = request.url.copy_with(
            scheme=target.scheme, host=target.hostname, port=target.port, path=target.path
        )
        request.headers["Host"] = target.netloc

    return redirect


def _proxy_for(address: str) -> str | None:
    """The proxy that the environment names for an address; the library itself does not look there."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    return None if proxy_bypass(host) else getproxies().get(parts.scheme)
