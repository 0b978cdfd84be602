"""Keeping a page out of the results: no article may draw on the very one it is measured against."""

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from unicodedata import normalize
from urllib.parse import parse_qs, unquote, urlsplit

from storm_pipeline.identity import canonical_url
from storm_pipeline.search.base import SearchEngine
from storm_pipeline.types import Snippet

_LANGUAGE = r"(?P<language>[a-z]{2,3}(?:-[a-z-]+)?|simple)"
_WIKIPEDIA = rf"(?:www\.)?{_LANGUAGE}(?:\.(?:m|zero))?\.wikipedia\.org"
_SCRIPT_PAGE = re.compile(rf"{_WIKIPEDIA}/w/index\.php(?:/(?P<title>.+))?")
# Host and path of an article, on Wikipedia (/zh-tw/… is a variant of /wiki/…) and on mirrors of all of it.
_ARTICLE_PAGES = (
    re.compile(rf"{_WIKIPEDIA}/(?:wiki|[a-z]{{2,3}}-[a-z]{{2,4}})/(?P<title>.+)"),
    re.compile(rf"(?:www\.)?wikiwand\.com/{_LANGUAGE}/(?:articles/)?(?P<title>.+)"),
    re.compile(rf"(?:www\.)?(?:wikimili\.com|wiki2\.org)/{_LANGUAGE}/(?P<title>.+)"),
    re.compile(rf"{_LANGUAGE}\.wikipedia-on-ipfs\.org/wiki/(?P<title>.+)"),
    re.compile(r"(?:www\.)?dbpedia\.org/(?:page|resource)/(?P<title>.+)(?P<language>)"),
)
_CHINESE_VARIANT = re.compile("zh-(?:hans|hant|cn|tw|hk|sg|mo|my)")


class ExcludingSearch:
    """A search engine without certain pages, however their addresses are spelt.

    A Wikipedia article is recognised in its mobile, ``index.php`` and script variants and on the well-known
    mirrors. The engine is asked for a few pages more than wanted, so that an excluded one costs no place.

    Args:
        engine: where to search.
        exclude_urls: addresses of the pages to keep out.
    """

    def __init__(self, engine: SearchEngine, exclude_urls: Iterable[str]) -> None:
        self._engine = engine
        self._excluded = {_identity(url): url for url in exclude_urls}
        self._counts = dict.fromkeys(self._excluded.values(), 0)
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Name of the engine that searches."""
        return self._engine.name

    @property
    def excluded(self) -> Mapping[str, int]:
        """Snippets kept out so far, by the address that was to be excluded; a copy."""
        with self._lock:
            return MappingProxyType(dict(self._counts))

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """As the engine's, up to ``k`` pages, without the excluded ones.

        Raises:
            SearchError: as the engine's.
        """
        pages: set[str] = set()
        kept: list[Snippet] = []
        for snippet in self._engine.search(query, k + min(len(self._excluded), 3)):
            if (target := self._excluded.get(_identity(snippet.url))) is not None:
                with self._lock:
                    self._counts[target] += 1
            elif len(pages | {snippet.source_id}) <= k:
                pages.add(snippet.source_id)
                kept.append(snippet)
        return tuple(kept)


def wikipedia_article(url: str) -> tuple[str, str] | None:
    """Language and title of the Wikipedia article that an address, or its copy on a mirror, shows.

    The title has spaces and a capital first letter, as Wikipedia itself writes it. None for any other
    address.
    """
    try:
        parts = urlsplit(url.strip())
        place = (parts.hostname or "").rstrip(".") + parts.path
        found = _SCRIPT_PAGE.fullmatch(place)
        named = parse_qs(parts.query).get("title", [""])[0] if found else ""
    except ValueError:
        return None
    found = found or next(filter(None, (pattern.fullmatch(place) for pattern in _ARTICLE_PAGES)), None)
    if not found:
        return None
    title = normalize("NFC", " ".join((named or unquote(found["title"] or "")).replace("_", " ").split())).rstrip("/ ")
    language = _CHINESE_VARIANT.sub("zh", found["language"] or "en")
    return (language, title[:1].upper() + title[1:]) if title else None


def _identity(url: str) -> tuple[str, str] | str:
    return wikipedia_article(url) or canonical_url(url)
