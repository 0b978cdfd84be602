"""Wikipedia in any language: the best-matching passages of its articles. No key."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.sources.search.engine_info import EngineConfig, EngineInfo
from storm_pipeline.sources.search.paging import PASSAGES, best_of_each
from storm_pipeline.sources.search.queries import bare_words, topic_words, with_all_or_any
from storm_pipeline.sources.search.tables_of_contents import wiki_sections
from storm_pipeline.sources.search.web_service import WebService, WebServiceSearch
from storm_pipeline.sources.transport.http import ApiClient
from storm_pipeline.sources.transport.refusals import unknown_format
from storm_pipeline.text.chunks import chunks, overlapping
from storm_pipeline.text.identity import is_wiki_language
from storm_pipeline.text.plain import objects, plain_text, web_address
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
_CONCURRENT = 3


@dataclass(frozen=True)
class _Article:
    number: int
    url: str
    title: str
    text: str


_Passage = tuple[str, Snippet]  # a passage with its heading


def wikipedia(language: str = "en") -> WebService:
    """Return the service of a Wikipedia, whose articles are split into passages of about 100 to 150 words.

    Each article takes one request, since the service returns one full text per request; recent articles are cached.
    Raises SettingsError: the language code is malformed.
    """
    code = language.strip().lower()
    if not is_wiki_language(code):
        raise SettingsError(f"{language!r} is not a language code of a Wikipedia; write wikipedia:de or the like")
    return WebService(
        INFO,
        address=f"https://{code}.wikipedia.org/w/api.php",
        rate=5.0,
        concurrent=_CONCURRENT,
        find=partial(_find, topic_words if code in _ENGLISH else bare_words),
        remedies={403: "it refuses this address or network; wait, or choose another engine"},
    )


def open_engine(argument: str, config: EngineConfig) -> WebServiceSearch:
    """Open the engine of ``wikipedia`` or ``wikipedia:LANGUAGE``; by default in the language of the options."""
    return WebServiceSearch(wikipedia(argument or config.options.language or "en"), rate=config.rate)


def _find(words: Callable[[str], list[str]], engine: WebServiceSearch, query: str, k: int) -> Iterable[Snippet]:
    """Find articles with all words of the query, else with any of them; skip disambiguation pages."""
    articles = with_all_or_any(words(query), lambda asked: _articles(engine.client, asked, k))
    passages = parallel_map(lambda article: _passages(engine.client, article), articles, workers=_CONCURRENT)
    return best_of_each(passages, query, PASSAGES)


def _articles(client: ApiClient, words: str, k: int) -> list[_Article]:
    search = {"generator": "search", "gsrsearch": words, "gsrnamespace": 0, "gsrlimit": min(k, _MAX_ARTICLES)}
    wanted = {"prop": "extracts|info|pageprops", "inprop": "url", "ppprop": "disambiguation"}
    pages = sorted(_pages(client, search | wanted), key=_rank)
    return [article for page in pages if (article := _article(page))][:k]


@lru_cache(256)
def _passages(client: ApiClient, article: _Article) -> tuple[_Passage, ...]:
    text = article.text
    if not text:
        pages = _pages(client, {"prop": "extracts", "pageids": article.number})
        texts = [page.get("extract") for page in pages if page.get("pageid") == article.number]
        text = texts[0] if texts and isinstance(texts[0], str) else ""
    return tuple(_cut(article, text))


def _pages(client: ApiClient, params: Mapping[str, Any]) -> list[dict[str, Any]]:
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
    """Split an article into passages that do not cross headings."""
    for _, heading, section in wiki_sections(text):
        for plain in filter(None, map(plain_text, overlapping(chunks(section)))):
            yield heading, Snippet(article.url, article.title, plain, engine=INFO.base_name)
