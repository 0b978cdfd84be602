"""Search in an offline Wikipedia or another Kiwix book by a running kiwix-serve. No key, no network."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from storm_pipeline.errors import SettingsError
from storm_pipeline.run.retrying import Patience
from storm_pipeline.sources.documents.isolated import NotReadError, reading
from storm_pipeline.sources.documents.markup import element_text, local_name, parse_html, text_of
from storm_pipeline.sources.search.base import TableOfContents
from storm_pipeline.sources.search.engine_info import EngineConfig, EngineInfo, require_argument
from storm_pipeline.sources.search.paging import PASSAGES, best_of_each
from storm_pipeline.sources.search.queries import join_words, topic_words
from storm_pipeline.sources.search.tables_of_contents import spaced_title, without_back_matter
from storm_pipeline.sources.transport.gates import Rate
from storm_pipeline.sources.transport.http import ApiClient
from storm_pipeline.sources.transport.refusals import QueryRefusedError, unknown_format
from storm_pipeline.text.chunks import chunks, overlapping, punctuated_blocks
from storm_pipeline.text.configuration.addresses import is_web_address, redact
from storm_pipeline.text.configuration.variables import variable
from storm_pipeline.text.languages import is_back_matter
from storm_pipeline.text.plain import plain_text, web_address
from storm_pipeline.types import Snippet

_URL, _DEFAULT = "KIWIX_URL", "http://127.0.0.1:8080"
INFO = EngineInfo(
    "kiwix:BOOK",
    needs=f"a running kiwix-serve, at {_DEFAULT} or {_URL}",
    free=True,
    returns="passages of the articles of a Wikipedia or another book, offline",
    optional_variables=(_URL,),
    open_web=False,
    remote=False,
)
_TOTAL = "{http://a9.com/-/spec/opensearch/1.1/}totalResults"
_NOISE = frozenset("mw-editsection reference reflist mw-references-wrap navbox noprint metadata hatnote".split())
_HEADINGS = ("h2", "h3", "h4", "h5", "h6")
_MAX_WORDS = 16
_Article = tuple[str, str, list[tuple[int, str]]]
"""Address, text without back matter, and levels (from 1) and texts of the headings."""


def open_engine(argument: str, config: EngineConfig) -> "KiwixSearch":
    """Open the engine of ``kiwix:BOOK``."""
    return KiwixSearch(require_argument("kiwix", argument, "a book", "kiwix:BOOK"), rate=config.rate or 50.0)


class KiwixSearch:
    """Full-text search for articles of a book and their best-matching passages, and tables of contents. Thread-safe.

    ``book``: name of its file without ``.zim``. ``base_url``: of kiwix-serve; by default
    ``KIWIX_URL``, else ``http://127.0.0.1:8080``. Raises SettingsError: it is not a URL.
    """

    name = "kiwix"

    def __init__(
        self, book: str, base_url: str | None = None, *, patience: Patience | None = None, rate: float = 50.0
    ) -> None:
        address = (base_url or variable(_URL) or _DEFAULT).strip().rstrip("/")
        if not is_web_address(address):
            raise SettingsError(f"{redact(repr(address))} is not the address of a kiwix-serve: correct {_URL}")
        self._book, self._root, self.contents = book, urlsplit(address).path, self
        self._server = address.removesuffix(self._root)  # prefix of links in answers
        remedies = {
            400: f"check the name of the book, {book!r}: that of its file without .zim",
            404: f"check the engine's address, and whether the book {book!r} has a full-text index",
        }
        limits = Rate(rate, concurrent=4)
        self._client = ApiClient("kiwix", self._server, rate=limits, remedies=remedies, patience=patience)

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Return up to three passages of each of up to ``k`` articles, best article first; see the protocol."""
        readable = islice(self._articles(topic_words(query)[:_MAX_WORDS], k), max(0, k))
        articles = []
        for title, (url, text, _) in readable:
            passages = filter(None, map(plain_text, overlapping(chunks(punctuated_blocks(text)))))
            articles.append([(title, Snippet(url, title, passage, engine=self.name)) for passage in passages])
        return tuple(best_of_each(articles, query, PASSAGES))

    def table_of_contents(self, title: str) -> TableOfContents | None:
        """Return the headings of the article with this title, ignoring case; None if missing. Raises SearchError."""
        title = spaced_title(title)
        for link, hit_title in self._hits(title, 10)[1] if title else ():
            if hit_title.casefold() == title.casefold() and (article := self._article(link)):
                return TableOfContents(hit_title, tuple(without_back_matter(article[2])))
        return None

    def _articles(self, words: Sequence[str], k: int) -> Iterator[tuple[str, _Article]]:
        """Yield titles and articles with all words, then without the most common ones: kiwix-serve has no "or"."""
        known = set[str]()
        for pattern in self._patterns(words) if words else ():
            for link, title in self._hits(pattern, k)[1]:
                if link not in known and (article := self._article(link)):
                    yield title, article
                known.add(link)

    def _patterns(self, words: Sequence[str]) -> Iterator[str]:
        yield join_words(words, " ")
        totals = {word: self._hits(join_words([word], " "), 1)[0] for word in words if len(words) > 1}
        rarest_first = sorted(filter(totals.get, totals), key=totals.__getitem__)
        for size in range(min(len(rarest_first), len(words) - 1), 0, -1):
            yield join_words(rarest_first[:size], " ")

    def _hits(self, pattern: str, k: int) -> tuple[int, list[tuple[str, str]]]:
        """Return the approximate number of articles that match a pattern, and links and titles of the best ``k``."""
        asked = {"pattern": pattern, "books.name": self._book, "format": "xml", "pageLength": k}
        answer = self._client.get_xml(asked, f"{self._root}/search")
        if answer.tag != "rss":
            raise unknown_format("kiwix", "XML")
        total = "".join(filter(str.isdecimal, answer.findtext(f"channel/{_TOTAL}", "")))[:9]
        hits = [(element_text(item.find("link")), element_text(item.find("title"))) for item in answer.iter("item")]
        return int(total or 0), [hit for hit in hits if hit[0].startswith("/")][:k]

    def _article(self, link: str) -> _Article | None:
        try:
            body = self._client.get_bytes({}, link)
            ((url, text, headings),) = reading.read(read_article, body, size=len(body))
        except (QueryRefusedError, NotReadError):
            return None
        return url or self._server + link, text, headings


def read_article(page: bytes) -> Iterator[_Article]:
    """Parse a page of MediaWiki; its address is the canonical one that its head declares once, else empty."""
    root = parse_html(page)
    urls = [web_address(link.get("href")) for link in root.findall("head/link[@rel='canonical']")]
    headings = [(int(h.tag[1]) - 1, plain_text(text_of(h, _is_skipped))) for h in root.iter(*_HEADINGS)]
    yield urls[0] if len(urls) == 1 else "", text_of(root, _is_skipped), headings


def _is_skipped(element: Any) -> bool:
    if not _NOISE.isdisjoint((element.get("class") or "").split()) or element.get("role") == "navigation":
        return True
    heading = next(element.iter(*_HEADINGS), None) if local_name(element) in {"section", "details"} else None
    return heading is not None and is_back_matter(plain_text(text_of(heading, _is_skipped)), int(heading.tag[1]) - 1)
