"""Articles in a ZIM file, the offline form of Wikipedia and other sites (Kiwix).

Reading it needs libzim (extra ``zim``), which is licensed under the GPL, version 3 or later: free to use with this
package, but whoever passes both on together does so under the terms of the GPL.
"""

import base64
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote, urlsplit

from storm_pipeline.child_process import EndedError, KeptProcess
from storm_pipeline.documents.inline_markup import local_name
from storm_pipeline.documents.markup import parse_html, text_of
from storm_pipeline.documents.plain import plain_text
from storm_pipeline.errors import CorpusError, needs_extra
from storm_pipeline.identity import page_address
from storm_pipeline.search.tables_of_contents import TableOfContents, is_back_matter, without_back_matter
from storm_pipeline.text.index_terms import english_stop_words

_PROJECTS = "wikipedia|wiktionary|wikivoyage|wikibooks|wikisource|wikiquote|wikinews|wikiversity"
_SITE = re.compile(rf"[a-z-]+\.(?:{_PROJECTS})\.org")
_NAME = re.compile(rf"(?:.*\.)?({_PROJECTS})_([a-z-]+)(?:[_.].*)?")
_NOISE = frozenset("mw-editsection reference reflist mw-references-wrap navbox noprint metadata hatnote".split())
_HEADINGS = ("h2", "h3", "h4", "h5", "h6")
_MAX_WORDS = 16
_READER = Path(__file__).with_name("zim_reader.py")
_DEATHS = 3  # times that the reading process may end before its time; afterwards nothing is asked any more


@dataclass(frozen=True)
class ZimArticle:
    """An article of a ZIM file."""

    title: str  # its title, redirects followed
    url: str  # its web URL if known, else ``zim:NAME/PATH``
    root: Any  # root element of its page

    def text(self) -> str:
        """Its text without navigation, reference marks and back matter."""
        return text_of(self.root, _is_skipped)

    def headings(self) -> Iterator[tuple[int, str]]:
        """Its headings below the title, in reading order: level, from 1, and text."""
        for heading in self.root.iter(*_HEADINGS):
            yield int(heading.tag[1]) - 1, plain_text(text_of(heading, _is_noise))


class ZimFile:
    """A ZIM file, read in a process of its own. Thread-safe: requests are answered one after the other.

    It is a :class:`storm_pipeline.search.tables_of_contents.ContentsSource`.

    Args:
        seconds: time that a request may take; a damaged index sends libzim into endless loops.

    Raises:
        MissingExtraError: libzim is not installed.
        CorpusError: the file is missing or damaged.
    """

    def __init__(self, path: Path, *, seconds: float = 60.0) -> None:
        self._path = Path(path).expanduser()
        if not self._path.is_file():
            raise CorpusError(f"the ZIM file {self._path} does not exist; check the path")
        with needs_extra("zim", "the search engine `kiwix`"):
            import libzim.reader  # type: ignore[import-untyped]  # noqa: F401
        self._process = _ReaderProcess(self._path.resolve(), seconds)
        try:
            self._about = self._process.ask("about")
        except _ReaderError as error:
            raise CorpusError(f"{self._path} cannot be read as a ZIM file ({error}); download it again") from error

    def close(self) -> None:
        """End the process that reads the file; a later request starts another."""
        self._process.end()

    def find(self, query: str, count: int) -> Iterator[ZimArticle]:
        """Up to ``count`` articles, best first: those with all words of the query, then without its most common words.

        Searches the full text if the file has a full-text index, else the titles. Raises CorpusError: the file is
        damaged.
        """
        words = [word.lower() for word in re.findall(r"\w+", query)]
        words = list(dict.fromkeys([w for w in words if w not in english_stop_words()] or words))[:_MAX_WORDS]
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

        Raises CorpusError: the file is damaged.
        """
        title = " ".join(title.replace("_", " ").split())
        if not title:
            return None
        spellings = dict.fromkeys((title, title[0].upper() + title[1:]))
        prefix = "" if self._about["new_paths"] else "A/"
        exact = [f"{prefix}{name.replace(' ', '_')}" for name in spellings]
        for found in self._articles(path for path in exact if self._ask("exists", path)):
            return found
        for found in self._articles(self._ask("titles", title, 10)):
            if found.title.casefold() == title.casefold():
                return found
        return None

    def table_of_contents(self, title: str) -> TableOfContents | None:
        """Headings of the article with this title, or of its redirect target; None if there is no such article.

        Raises CorpusError: the file is damaged.
        """
        article = self.article(plain_text(title).partition("#")[0])
        return TableOfContents(article.title, tuple(without_back_matter(article.headings()))) if article else None

    @cached_property
    def name(self) -> str:
        """The name in the metadata, else the file name."""
        return self._metadata("Name") or self._path.stem

    def _searches(self, words: list[str]) -> Iterator[Callable[[int], list[str]]]:
        """Searches (count → paths), strictest first. libzim has no "or"."""
        if not self._about["full_text"]:
            for asked in dict.fromkeys([" ".join(words), *sorted(words, key=len, reverse=True)]):
                yield partial(self._ask, "titles", asked)
            return
        yield partial(self._ask, "full_text", " ".join(words))
        matches = {word: int(self._ask("matches", word)) for word in words}
        rarest_first = sorted(filter(matches.__getitem__, words), key=matches.__getitem__)
        for size in range(len(rarest_first), 0, -1):
            if size < len(words):
                yield partial(self._ask, "full_text", " ".join(rarest_first[:size]))

    def _articles(self, paths: Iterable[str]) -> Iterator[ZimArticle]:
        """Those entries at these paths that are articles."""
        from lxml import etree

        for path in paths:
            page = self._ask("page", path)
            if page is None:
                continue
            try:
                root = parse_html(base64.b64decode(page["data"]))
            except etree.LxmlError:
                continue
            except (LookupError, TypeError, ValueError) as error:
                raise CorpusError(f"the ZIM file {self._path} is damaged (no page); download it again") from error
            yield ZimArticle(plain_text(page["title"]), self._address(page["path"]), root)

    def _ask(self, request: str, *arguments: object) -> Any:
        try:
            return self._process.ask(request, *arguments)
        except _ReaderError as error:
            raise CorpusError(f"the ZIM file {self._path} is damaged ({error}); download it again") from error

    def _address(self, path: str) -> str:
        if not self._about["new_paths"]:
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
        return plain_text(self._ask("metadata", key))


class _ReaderError(Exception):
    """The file cannot be read."""


class _ReaderProcess:
    """A process that runs ``zim_reader.py``; started at the first request, and again after it was killed."""

    def __init__(self, path: Path, seconds: float) -> None:
        command = [sys.executable, "-P", str(_READER), str(path), str(seconds)]
        self._process = KeptProcess(lambda: command)
        self._seconds = seconds
        self._deaths = 0

    def ask(self, request: str, *arguments: object) -> Any:
        """The value that a request has.

        Raises _ReaderError: libzim refuses the file, crashes, or takes too long; after a few times at once.
        """
        if self._deaths >= _DEATHS:
            raise _ReaderError(f"libzim crashed or took over {self._seconds:g} s {_DEATHS} times")
        line = json.dumps([request, *arguments]).encode() + b"\n"
        try:
            answer = self._process.ask(partial(_exchanged, line), self._seconds)
        except EndedError:
            self._deaths += 1
            raise _ReaderError(f"libzim crashed on it, or took over {self._seconds:g} s") from None
        if "error" in answer:
            raise _ReaderError(answer["error"])
        return answer["value"]

    def end(self) -> None:
        """End the process, if it runs."""
        self._process.end()


def _exchanged(line: bytes, requests: IO[bytes], answers: IO[bytes]) -> dict[str, Any]:
    requests.write(line)
    requests.flush()
    answer: dict[str, Any] = json.loads(answers.readline())
    return answer


def _is_noise(element: Any) -> bool:
    return not _NOISE.isdisjoint((element.get("class") or "").split()) or element.get("role") == "navigation"


def _is_skipped(element: Any) -> bool:
    if _is_noise(element):
        return True
    if local_name(element) not in {"section", "details"}:
        return False
    heading = next(element.iter(*_HEADINGS), None)
    return heading is not None and is_back_matter(plain_text(text_of(heading, _is_noise)))
