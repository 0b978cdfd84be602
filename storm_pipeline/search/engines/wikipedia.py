"""Wikipedia in any language: the passages of its articles that fit a query best. No key."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.documents.chunks import chunks
from storm_pipeline.documents.plain import plain_text, web_address
from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience
from storm_pipeline.retrieval.lexical import LexicalIndex
from storm_pipeline.search.opening import EngineInfo, Opening, SearchOptions
from storm_pipeline.search.queries import bare_words, joined, topic_words
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "wikipedia[:LANGUAGE]",
    needs="",
    free=True,
    returns="articles of Wikipedia, the passages of each that fit best",
    honours=frozenset({"language"}),
    of_the_web=False,
)
_LANGUAGE = re.compile("[a-z]{2,}(-[a-z]+)*")
_ENGLISH = frozenset({"en", "simple"})
_HEADING = re.compile(r"^={2,}[^\S\n]*(.*?)[^\S\n]*={2,}[^\S\n]*$", re.M)
_MOST_ARTICLES = 20
_LONGEST_QUERY = 300
_REMEMBERED = 256
_AT_ONCE = 3
_COMMON: Mapping[str, str | int] = {
    "action": "query",
    "format": "json",
    "formatversion": 2,
    "explaintext": 1,
    "exsectionformat": "wiki",
    "exlimit": 1,
}


@dataclass(frozen=True)
class _Article:
    number: int
    url: str
    title: str
    text: str


@dataclass(frozen=True)
class _Passage:
    heading: str
    snippet: Snippet


def open_engine(argument: str, opening: Opening) -> "WikipediaSearch":
    """The engine of ``wikipedia`` or ``wikipedia:LANGUAGE``."""
    return WikipediaSearch(argument or None, rate=opening.rate or 5.0, options=opening.options)


class WikipediaSearch:
    """Searches one Wikipedia through its API and cuts the articles into passages of about 100 to 150 words.

    An article takes a request of its own, since the service gives one whole text at a time; those of the last
    searches are remembered.

    Args:
        language: code of the Wikipedia, e.g. ``de``; by default that of the options, else ``en``.
        base_url: full address of the ``api.php`` to ask instead.
        options: ``language`` is looked at.
        passages: passages of one article that a search returns at most, >= 1.
        patience: time limits.
        rate: requests a second.

    Raises:
        SettingsError: the language code can be none.
    """

    name = "wikipedia"

    def __init__(
        self,
        language: str | None = None,
        *,
        base_url: str | None = None,
        options: SearchOptions | None = None,
        passages: int = 3,
        patience: Patience | None = None,
        rate: float = 5.0,
    ) -> None:
        self._language = (language or (options or SearchOptions()).language or "en").strip().lower()
        if not _LANGUAGE.fullmatch(self._language):
            raise SettingsError(f"{language!r} is no language code of a Wikipedia; write wikipedia:de or the like")
        self._most = passages
        self._client = ApiClient(
            "wikipedia",
            base_url or f"https://{self._language}.wikipedia.org/w/api.php",
            rate=Rate(rate, concurrent=_AT_ONCE),
            remedies={403: "it refuses this address or network; wait, or choose another engine"},
            patience=patience,
        )
        self._known_passages = lru_cache(_REMEMBERED)(self._passages)

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Passages of up to ``k`` articles, best article first; the opening passage where none fits the query.

        Articles have all words of the query, or where there are none, any of them; lists of meanings are left out.

        Raises:
            SearchError: Wikipedia could not be asked, or answered in a form that is not known.
        """
        words = (topic_words if self._language in _ENGLISH else bare_words)(query)
        if not words or k < 1:
            return ()
        found = self._articles(joined(words, " ", _LONGEST_QUERY), k)
        if not found and len(words) > 1:
            found = self._articles(joined(words, " OR ", _LONGEST_QUERY), k)
        passages = parallel_map(self._known_passages, found, workers=_AT_ONCE)
        return tuple(_fitting(passages, query, self._most))

    def _articles(self, words: str, k: int) -> list[_Article]:
        answer = self._asked(
            {
                "prop": "extracts|info|pageprops",
                "generator": "search",
                "gsrsearch": words,
                "gsrnamespace": 0,
                "gsrlimit": min(k, _MOST_ARTICLES),
                "inprop": "url",
                "ppprop": "disambiguation",
            }
        )
        return [article for page in sorted(answer, key=_rank) if (article := _article(page))][:k]

    def _passages(self, article: _Article) -> tuple[_Passage, ...]:
        return tuple(_cut(article, article.text or self._text(article.number)))

    def _text(self, number: int) -> str:
        pages = self._asked({"prop": "extracts", "pageids": number})
        texts = [page.get("extract") for page in pages if page.get("pageid") == number]
        return texts[0] if texts and isinstance(texts[0], str) else ""

    def _asked(self, params: Mapping[str, str | int]) -> list[Mapping[str, Any]]:
        """The pages of an answer; none where nothing was found."""
        answer = self._client.get_json({**_COMMON, **params})
        if isinstance(answer, dict) and isinstance(error := answer.get("error"), dict):
            reason = plain_text(error.get("info")) or plain_text(error.get("code"))
            raise SearchError(f"wikipedia refused the search: {reason[:200]}; try again later")
        query = answer.get("query") if isinstance(answer, dict) else None
        pages = query.get("pages", []) if isinstance(query, dict) else None
        if pages is None and isinstance(answer, dict) and "batchcomplete" in answer:
            return []
        if not isinstance(pages, list):
            raise SearchError("wikipedia answered with JSON of an unknown form; check the engine's address")
        return [page for page in pages if isinstance(page, dict)]


def _rank(page: Mapping[str, Any]) -> int:
    rank = page.get("index")
    return rank if isinstance(rank, int) else _MOST_ARTICLES


def _article(page: Mapping[str, Any]) -> _Article | None:
    number, url = page.get("pageid"), web_address(page.get("canonicalurl") or page.get("fullurl"))
    properties = page.get("pageprops")
    if not isinstance(number, int) or not url or (isinstance(properties, dict) and "disambiguation" in properties):
        return None
    text = page.get("extract")
    return _Article(number, url, plain_text(page.get("title")), text if isinstance(text, str) else "")


def _cut(article: _Article, text: str) -> Iterator[_Passage]:
    """The passages of an article, section by section, so that none runs over a heading."""
    pieces = ["", *_HEADING.split(text)]  # heading, text, heading, text …
    for heading, section in zip(map(plain_text, pieces[::2]), pieces[1::2], strict=True):
        for plain in filter(None, map(plain_text, chunks(section))):
            yield _Passage(heading, Snippet(article.url, article.title, plain, engine=WikipediaSearch.name))


def _fitting(articles: Sequence[Sequence[_Passage]], query: str, most: int) -> Iterator[Snippet]:
    """Of each article up to ``most`` passages, those that fit the query best first; articles keep their order."""
    places = [(number, passage) for number, passages in enumerate(articles) for passage in passages]
    index = LexicalIndex((((p.heading, 1), (p.snippet.text, 1)) for _, p in places), floor=0.0)
    chosen: list[list[Snippet]] = [[] for _ in articles]
    for match in index.search(query):
        number, passage = places[match.position]
        if len(chosen[number]) < most:
            chosen[number].append(passage.snippet)
    for passages, best in zip(articles, chosen, strict=True):
        yield from best or [passage.snippet for passage in passages[:1]]
