"""Tables of contents of Wikipedia articles, to learn from related articles (paper section 3.1)."""

import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from storm_pipeline.documents.plain import objects, plain_text
from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.identity import is_title, is_wiki_language
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.refusals import unknown_format
from storm_pipeline.net.retrying import Patience
from storm_pipeline.sqlite_cache import SqliteCache

_BACK_MATTER = frozenset(
    {
        "bibliography", "citations", "explanatory notes", "external links", "footnotes", "further reading",
        "general references", "notes", "notes and references", "references", "references and notes",
        "see also", "sources", "works cited",
    }
)  # fmt: skip
_HEADING = re.compile(r"^(={2,})[^\S\n]*(.*?)[^\S\n]*={2,}[^\S\n]*$", re.M)
# Small, since the run waits for optional data: a network that swallows packets costs less than 3 s.
_RATE = Rate(10.0, concurrent=2, failures=1)
_PATIENCE = Patience(connect=1.0, read=10.0, attempts=2, first_pause=0.25, total=20.0)


@dataclass(frozen=True)
class TableOfContents:
    """Headings of an article."""

    title: str  # the article's title, redirects followed
    # level (1 for a section, 2 for a subsection …) and text, in reading order; without back matter such as references
    # and see-also lists, and their subsections
    headings: tuple[tuple[int, str], ...]


class ContentsSource(Protocol):
    """Looks up the table of contents of an encyclopedia article by its title."""

    def table_of_contents(self, title: str) -> TableOfContents | None:
        """The article's headings, or None when there is no such article.

        Raises SearchError: the look-up itself failed.
        """
        ...


class NoContents:
    """A source without tables of contents."""

    def table_of_contents(self, _title: str) -> None:
        """None."""


class WikipediaContents:
    """Rate-limited look-up of tables of contents, cached on disk. Thread-safe.

    Args:
        cache: the cache folder; tables are kept in ``pages/contents.sqlite`` inside it.
        days: age in days after which a cached table (or a cached miss) expires.
        api: URL of another MediaWiki's ``api.php``, instead of Wikipedia's.

    Raises:
        SettingsError: the language code is malformed.
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
        self._cache, self._days = SqliteCache(Path(cache) / "pages" / "contents.sqlite"), days
        if not is_wiki_language(code := language.strip().lower()):
            raise SettingsError(f"{language!r} is not a language code of a Wikipedia; give one such as en or de")
        self._place = api or code
        address = api or f"https://{code}.wikipedia.org/w/api.php"
        self._client = ApiClient("Wikipedia contents", address, rate=_RATE, patience=patience)
        self._slots = threading.Semaphore(_RATE.concurrent)  # held across retries: waiting threads see an open circuit

    def table_of_contents(self, title: str) -> TableOfContents | None:
        """Headings of the article with this title, or of its redirect target; None if there is no such article.

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
        pages = wiki_pages(self._client, {"prop": "extracts", "titles": title, "redirects": 1})
        if not pages or any(pages[0].get(kind) for kind in ("missing", "invalid")):
            return None
        if not isinstance(text := pages[0].get("extract"), str):
            raise unknown_format("Wikipedia")
        headings = without_back_matter((level, heading) for level, heading, _ in sections(text))
        return TableOfContents(plain_text(pages[0].get("title")), tuple(headings))


def wiki_pages(client: ApiClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The pages of MediaWiki's answer to a query for plain texts, one text at a time; empty if there are none."""
    common = {"action": "query", "format": "json", "formatversion": 2}
    answer = client.get_json(common | {"explaintext": 1, "exsectionformat": "wiki", "exlimit": 1} | dict(params))
    answer = answer if isinstance(answer, dict) else {}
    if isinstance(error := answer.get("error"), dict):
        reason = plain_text(error.get("info")) or plain_text(error.get("code"))
        raise SearchError(f"wikipedia refused the search: {reason[:200]}; try again later")
    if "query" not in answer and "batchcomplete" in answer:
        return []
    pages = query.get("pages", []) if isinstance(query := answer.get("query"), dict) else None
    if not isinstance(pages, list):
        raise unknown_format("wikipedia")
    return objects(pages)


def sections(text: str) -> Iterator[tuple[int, str, str]]:
    """Level, heading and text of each section of an article's plain text; first the lead, of level 0, without one."""
    lead, *pieces = _HEADING.split(text)
    yield 0, "", lead
    for marks, heading, section in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        yield len(marks) - 1, plain_text(heading), section


def spaced_title(title: str) -> str:
    """An article's title as it is written, without the name of a section."""
    return " ".join(plain_text(title).partition("#")[0].replace("_", " ").split())


def without_back_matter(headings: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The headings (level, text) without empty ones and without back matter and its subsections."""
    hidden: int | None = None
    for level, text in headings:
        if hidden is not None and level > hidden:
            continue
        hidden = level if is_back_matter(text) else None
        if hidden is None and text:
            yield level, text


def is_back_matter(heading: str) -> bool:
    """Return whether a heading is that of references, a see-also list or the like."""
    return heading.casefold().strip(" .:") in _BACK_MATTER
