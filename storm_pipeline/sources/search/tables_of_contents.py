"""Tables of contents of Wikipedia articles, to learn from related articles (paper section 3.1)."""

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from storm_pipeline.errors import SettingsError
from storm_pipeline.run.retrying import Patience
from storm_pipeline.sources.documents.markup import parse_html
from storm_pipeline.sources.sqlite_cache import SqliteCache
from storm_pipeline.sources.transport.gates import Rate
from storm_pipeline.sources.transport.http import SOON, ApiClient
from storm_pipeline.sources.transport.refusals import unknown_format
from storm_pipeline.text.identity import is_title, is_wiki_language
from storm_pipeline.text.plain import plain_text

_BACK_MATTER = frozenset(
    {
        "bibliography", "citations", "explanatory notes", "external links", "footnotes", "further reading",
        "general references", "notes", "notes and references", "references", "references and notes",
        "see also", "sources", "works cited",
    }
)  # fmt: skip
_PATIENCE = Patience(connect=SOON, read=10.0, attempts=2, first_pause=0.5, total=20.0)
_RATE = Rate(10.0, concurrent=2, failures=2)
"""Small, since the run waits for optional data; this many consecutive failures open the circuit for a minute."""
_NO_ARTICLE = frozenset({"missingtitle", "invalidtitle", "pagecannotexist"})  # codes of errors


@dataclass(frozen=True)
class TableOfContents:
    """Headings of an article."""

    title: str  # the article's title, after redirects
    # level (1 for a section, 2 for a subsection …) and text, in reading order; without back matter such as references
    # and see-also lists, and their subsections
    headings: tuple[tuple[int, str], ...]


class ContentsSource(Protocol):
    """Look-up of the table of contents of an encyclopedia article by its title."""

    def table_of_contents(self, title: str) -> TableOfContents | None:
        """Return the article's headings; None if there is no such article.

        Raises SearchError: the look-up itself failed.
        """
        ...


class NoContents:
    """A source without tables of contents."""

    def table_of_contents(self, _title: str) -> None:
        """Return None."""


class WikipediaContents:
    """Rate-limited look-up of tables of contents, cached on disk. Thread-safe.

    ``cache``: the cache folder; tables are kept in ``pages/contents.sqlite`` inside it. ``days``: age in days after
    which a cached table (or a cached miss) expires. ``api``: URL of another MediaWiki's ``api.php``, instead of
    Wikipedia's. Raises SettingsError: the language code is malformed.
    """

    def __init__(
        self,
        cache: Path,
        language: str = "en",
        *,
        patience: Patience = _PATIENCE,
        days: float = 30.0,
        api: str | None = None,
    ) -> None:
        self._cache = SqliteCache(Path(cache) / "pages" / "contents.sqlite")
        language = language.strip().lower()
        if not is_wiki_language(language):
            raise SettingsError(f"{language!r} is not a language code of a Wikipedia; give one such as en or de")
        self._place, self._days = api or language, days
        address = api or f"https://{language}.wikipedia.org/w/api.php"
        self._client = ApiClient("Wikipedia", address, rate=_RATE, patience=patience)
        self._slots = threading.Semaphore(_RATE.concurrent)  # held across retries: waiting threads see an open circuit

    def table_of_contents(self, title: str) -> TableOfContents | None:
        """Return the headings of the article with this title or its redirect target; None if there is no article.

        Raises SearchError: the request failed.
        """
        title = spaced_title(title)
        if not is_title(title):
            return None
        key = f"{self._place}\n{title}"
        if (known := self._cache.get(key, self._days)) is not None:
            return TableOfContents(known[0], tuple((level, text) for level, text in known[1])) if known else None
        with self._slots:
            table = self._look_up(title)
        self._cache.put(key, [table.title, table.headings] if table else [])
        return table

    def _look_up(self, title: str) -> TableOfContents | None:
        asked = {"action": "parse", "prop": "sections", "redirects": 1, "format": "json", "formatversion": 2}
        answer = self._client.get_json(asked | {"page": title})
        try:
            if answer.get("error", {}).get("code") in _NO_ARTICLE:
                return None
            page = answer["parse"]
            headings = [(int(section["toclevel"]), _plain(section["line"])) for section in page["sections"]]
            return TableOfContents(plain_text(page["title"]), tuple(without_back_matter(headings)))
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise unknown_format("Wikipedia") from error


def _plain(line: str) -> str:
    """Return a heading, which is HTML, as text."""
    return plain_text("".join(parse_html(line.encode()).itertext())) if "<" in line or "&" in line else plain_text(line)


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
