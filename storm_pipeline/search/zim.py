"""Articles in a ZIM file, the offline form of Wikipedia and other sites (Kiwix).

Reading it needs libzim (extra ``zim``), which is licensed under the GPL, version 3 or later: free to use with this
package, but whoever passes both on together does so under the terms of the GPL.
"""

import contextlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from storm_pipeline.documents.markup import local_name, parse_html, text_of
from storm_pipeline.documents.plain import plain_text
from storm_pipeline.errors import CorpusError, MissingExtraError
from storm_pipeline.search.tables_of_contents import is_back_matter
from storm_pipeline.search.wikipedia_urls import page_address
from storm_pipeline.text.index_terms import STOP_WORDS

if TYPE_CHECKING:
    from libzim.reader import Archive  # type: ignore[import-untyped]

_PROJECTS = "wikipedia|wiktionary|wikivoyage|wikibooks|wikisource|wikiquote|wikinews|wikiversity"
_SITE = re.compile(rf"[a-z-]+\.(?:{_PROJECTS})\.org")
_NAME = re.compile(rf"(?:.*\.)?({_PROJECTS})_([a-z-]+)(?:[_.].*)?")
_NOISE = frozenset("mw-editsection reference reflist mw-references-wrap navbox noprint metadata hatnote".split())
_HEADINGS = ("h2", "h3", "h4", "h5", "h6")
_MAX_WORDS = 16
_MAX_BYTES = 20_000_000


@dataclass(frozen=True)
class ZimArticle:
    """An article of a ZIM file.

    Attributes:
        title: its title, redirects followed.
        url: its web URL if known, else ``zim:NAME/PATH``.
        root: root element of its page.
    """

    title: str
    url: str
    root: Any

    def text(self) -> str:
        """Its text without navigation, reference marks and back matter."""
        return text_of(self.root, _is_skipped)

    def headings(self) -> Iterator[tuple[int, str]]:
        """Its headings below the title, in reading order: level, from 1, and text."""
        for heading in self.root.iter(*_HEADINGS):
            yield int(heading.tag[1]) - 1, plain_text(text_of(heading, _is_noise))


class ZimFile:
    """An open ZIM file. Thread-safe: reads are concurrent, searches are serialized.

    Args:
        path: the file.

    Raises:
        MissingExtraError: libzim is not installed.
        CorpusError: the file is missing or damaged.
    """

    def __init__(self, path: Path) -> None:
        self._path = Path(path).expanduser()
        if not self._path.is_file():
            raise CorpusError(f"the ZIM file {self._path} does not exist; check the path")
        self._archive = _open(self._path)
        self._searching = threading.Lock()

    def find(self, query: str, count: int) -> Iterator[ZimArticle]:
        """Up to ``count`` articles, best first: those with all words of the query, then without its most common words.

        Searches the full text if the file has a full-text index, else the titles.

        Raises:
            CorpusError: the file is damaged.
        """
        words = [word.lower() for word in re.findall(r"\w+", query)]
        words = list(dict.fromkeys([w for w in words if w not in STOP_WORDS] or words))[:_MAX_WORDS]
        if not words or count < 1:
            return
        found: dict[str, None] = {}
        for find_paths in self._searches(words):
            for article in self._articles(find_paths(2 * count)):
                if article.url not in found:
                    found[article.url] = None
                    yield article
                    if len(found) == count:
                        return

    def article(self, title: str) -> ZimArticle | None:
        """The article with this title, ignoring the case of the first letter and underscores; None if there is none.

        Raises:
            CorpusError: the file is damaged.
        """
        title = " ".join(title.replace("_", " ").split())
        if not title:
            return None
        spellings = dict.fromkeys((title, title[0].upper() + title[1:]))
        prefix = "" if self._archive.has_new_namespace_scheme else "A/"
        exact = [f"{prefix}{name.replace(' ', '_')}" for name in spellings]
        for found in self._articles(path for path in exact if self._archive.has_entry_by_path(path)):
            return found
        for found in self._articles(self._suggestions(title, 10)):
            if found.title.casefold() == title.casefold():
                return found
        return None

    @cached_property
    def name(self) -> str:
        """The name in the metadata, else the file name."""
        return self._metadata("Name") or self._path.stem

    def _searches(self, words: list[str]) -> Iterator[Callable[[int], list[str]]]:
        """Searches (count → paths), strictest first. libzim has no "or"."""
        if not self._archive.has_fulltext_index:
            for asked in dict.fromkeys([" ".join(words), *sorted(words, key=len, reverse=True)]):
                yield partial(self._suggestions, asked)
            return
        yield partial(self._full_text, words)
        matches = {word: self._matches(word) for word in words}
        rarest_first = sorted(filter(matches.__getitem__, words), key=matches.__getitem__)
        for size in range(len(rarest_first), 0, -1):
            if size < len(words):
                yield partial(self._full_text, rarest_first[:size])

    def _matches(self, word: str) -> int:
        with self._search([word]) as search:
            return int(search.getEstimatedMatches())

    def _full_text(self, words: list[str], count: int) -> list[str]:
        with self._search(words) as search:
            return list(search.getResults(0, count))

    @contextlib.contextmanager
    def _search(self, words: list[str]) -> Iterator[Any]:
        from libzim.search import Query, Searcher  # type: ignore[import-untyped]

        with self._searching, _corpus_errors(self._path):
            yield Searcher(self._archive).search(Query().set_query(" ".join(words)))

    def _suggestions(self, asked: str, count: int) -> list[str]:
        from libzim.suggestion import SuggestionSearcher  # type: ignore[import-untyped]

        with self._searching, _corpus_errors(self._path):
            return list(SuggestionSearcher(self._archive).suggest(asked).getResults(0, count))

    def _articles(self, paths: Iterable[str]) -> Iterator[ZimArticle]:
        """Those entries at these paths that are articles."""
        from lxml import etree

        for path in paths:
            with _corpus_errors(self._path):
                item = self._archive.get_entry_by_path(path).get_item()
                if not item.mimetype.startswith("text/html") or not 0 < item.size <= _MAX_BYTES:
                    continue
                data = bytes(item.content)
            try:
                root = parse_html(data)
            except etree.LxmlError:
                continue
            yield ZimArticle(plain_text(item.title), self._address(item.path), root)

    def _address(self, path: str) -> str:
        if not self._archive.has_new_namespace_scheme:
            path = path.removeprefix("A/")
        return page_address(path, self._site) if self._site else f"zim:{quote(self.name)}/{quote(path)}"

    @cached_property
    def _site(self) -> str:
        """Host of the wiki that the file is a copy of; empty if unknown."""
        source = self._metadata("Source").lower()
        host = urlsplit(source if "//" in source else f"//{source}").hostname or ""
        if _SITE.fullmatch(host):
            return host
        named = _NAME.fullmatch(self._metadata("Name"))
        return f"{named[2]}.{named[1]}.org" if named else ""

    def _metadata(self, key: str) -> str:
        if key not in self._archive.metadata_keys:
            return ""
        return plain_text(self._archive.get_metadata(key).decode("utf-8", "replace"))


@contextlib.contextmanager
def _corpus_errors(path: Path) -> Iterator[None]:
    """Translate the library's errors on damaged files."""
    try:
        yield
    except (RuntimeError, KeyError, ValueError) as error:
        raise CorpusError(f"the ZIM file {path} is damaged ({error}); download it again") from error


def _open(path: Path) -> "Archive":
    try:
        from libzim.reader import Archive
    except ImportError as error:
        raise MissingExtraError(
            "the search engine `kiwix` needs the extra 'zim': pip install 'storm-pipeline[zim]'"
        ) from error
    try:
        return Archive(path)
    except RuntimeError as error:
        raise CorpusError(f"{path} cannot be read as a ZIM file ({error}); download it again") from error


def _is_noise(element: Any) -> bool:
    return not _NOISE.isdisjoint((element.get("class") or "").split()) or element.get("role") == "navigation"


def _is_skipped(element: Any) -> bool:
    if _is_noise(element):
        return True
    if local_name(element) not in {"section", "details"}:
        return False
    heading = next(element.iter(*_HEADINGS), None)
    return heading is not None and is_back_matter(plain_text(text_of(heading, _is_noise)))
