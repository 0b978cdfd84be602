"""Wikipedia in any language: the best-matching passages of its articles. No key."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.documents.chunks import chunks, overlapping
from storm_pipeline.documents.plain import plain_text, web_address
from storm_pipeline.errors import SettingsError
from storm_pipeline.identity import is_wiki_language
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, SearchOptions
from storm_pipeline.search.paging import best_of_each
from storm_pipeline.search.queries import bare_words, topic_words, with_all_or_any
from storm_pipeline.search.tables_of_contents import sections, wiki_pages
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "wikipedia[:LANGUAGE]",
    needs="",
    free=True,
    returns="articles of Wikipedia, the best-matching passages of each",
    supports=frozenset({"language"}),
    open_web=False,
)
_ENGLISH = frozenset({"en", "simple"})
_MAX_ARTICLES = 20
_CACHE_SIZE = 256
_CONCURRENT = 3


@dataclass(frozen=True)
class _Article:
    number: int
    url: str
    title: str
    text: str


_Passage = tuple[str, Snippet]
"""A passage with its heading."""


def open_engine(argument: str, config: EngineConfig) -> "WikipediaSearch":
    """The engine of ``wikipedia`` or ``wikipedia:LANGUAGE``."""
    return WikipediaSearch(argument or None, rate=config.rate or 5.0, options=config.options)


class WikipediaSearch:
    """Searches one Wikipedia through its API and cuts the articles into passages of about 100 to 150 words.

    Each article takes one request, since the service returns one full text at a time; recent articles are cached.

    Args:
        language: code of the Wikipedia, e.g. ``de``; by default that of the options, else ``en``.
        base_url: full URL of the ``api.php`` to query instead.
        options: only ``language`` is used.
        passages: maximum number of passages per article, >= 1.

    Raises:
        SettingsError: the language code is malformed.
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
        if not is_wiki_language(self._language):
            raise SettingsError(f"{language!r} is not a language code of a Wikipedia; write wikipedia:de or the like")
        self._limit = passages
        self._client = ApiClient(
            "wikipedia",
            base_url or f"https://{self._language}.wikipedia.org/w/api.php",
            rate=Rate(rate, concurrent=_CONCURRENT),
            remedies={403: "it refuses this address or network; wait, or choose another engine"},
            patience=patience,
        )
        self._cached_passages = lru_cache(_CACHE_SIZE)(self._passages)

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Passages of up to ``k`` articles, best article first; the opening passage if none matches the query.

        Finds articles with all words of the query, or if there are none, with any; skips disambiguation pages.
        """
        words = (topic_words if self._language in _ENGLISH else bare_words)(query)
        if k < 1:
            return ()
        found = with_all_or_any(words, lambda asked: self._articles(asked, k))
        passages = parallel_map(self._cached_passages, found, workers=_CONCURRENT)
        return tuple(best_of_each(passages, query, self._limit))

    def _articles(self, words: str, k: int) -> list[_Article]:
        search = {"generator": "search", "gsrsearch": words, "gsrnamespace": 0, "gsrlimit": min(k, _MAX_ARTICLES)}
        wanted = {"prop": "extracts|info|pageprops", "inprop": "url", "ppprop": "disambiguation"}
        pages = sorted(wiki_pages(self._client, search | wanted), key=_rank)
        return [article for page in pages if (article := _article(page))][:k]

    def _passages(self, article: _Article) -> tuple[_Passage, ...]:
        return tuple(_cut(article, article.text or self._text(article.number)))

    def _text(self, number: int) -> str:
        pages = wiki_pages(self._client, {"prop": "extracts", "pageids": number})
        texts = [page.get("extract") for page in pages if page.get("pageid") == number]
        return texts[0] if texts and isinstance(texts[0], str) else ""


def _rank(page: Mapping[str, Any]) -> int:
    rank = page.get("index")
    return rank if isinstance(rank, int) else _MAX_ARTICLES


def _article(page: Mapping[str, Any]) -> _Article | None:
    number, url = page.get("pageid"), web_address(page.get("canonicalurl") or page.get("fullurl"))
    properties = page.get("pageprops")
    if not isinstance(number, int) or not url or (isinstance(properties, dict) and "disambiguation" in properties):
        return None
    text = page.get("extract")
    return _Article(number, url, plain_text(page.get("title")), text if isinstance(text, str) else "")


def _cut(article: _Article, text: str) -> Iterator[_Passage]:
    """Split an article into passages, none of which crosses a heading."""
    for _, heading, section in sections(text):
        for plain in filter(None, map(plain_text, overlapping(chunks(section)))):
            yield heading, Snippet(article.url, article.title, plain, engine=WikipediaSearch.name)
