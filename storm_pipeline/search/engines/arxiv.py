"""arXiv: abstracts of preprints in physics, mathematics, computer science and beyond. No key."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from storm_pipeline.documents.markup import element_text
from storm_pipeline.documents.plain import iso_date, plain_text
from storm_pipeline.errors import SearchError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, SearchOptions, reject_argument
from storm_pipeline.search.papers import arxiv_address, doi_name, joined_names
from storm_pipeline.search.queries import joined, topic_words
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "arxiv",
    needs="",
    free=True,
    returns="abstracts of preprints, one each; one request every 3 seconds",
    supports=frozenset({"since", "until"}),
    open_web=False,
)
_MAX_RESULTS = 100
_MAX_QUERY_CHARS = 600
_PER_SECOND = 1 / 3
_FIRST_DAY, _LAST_DAY = date(1986, 1, 1), date(2099, 12, 31)
_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_TOTAL = "{http://a9.com/-/spec/opensearch/1.1/}totalResults"
_ABSTRACT_PAGE = re.compile(r"https?://(?:export\.)?arxiv\.org/abs/(\S+?)(?:v[0-9]+)?")


def open_engine(argument: str, config: EngineConfig) -> "ArxivSearch":
    """The engine of the specification ``arxiv``."""
    reject_argument("arxiv", argument)
    return ArxivSearch(rate=config.rate or _PER_SECOND, options=config.options)


class ArxivSearch:
    """Searches all fields of arXiv papers; one abstract per paper.

    Args:
        options: only ``since`` and ``until`` are used (dates of the first submission).
        rate: requests a second (the service asks for one in three seconds).
    """

    name = "arxiv"

    def __init__(
        self,
        *,
        base_url: str = "https://export.arxiv.org/api/query",
        options: SearchOptions | None = None,
        patience: Patience | None = None,
        rate: float = _PER_SECOND,
    ) -> None:
        self._date_clause = _date_clause(options or SearchOptions())
        self._client = ApiClient(
            "arxiv",
            base_url,
            rate=Rate(rate, concurrent=1),
            remedies={403: "it has blocked this IP address for too many requests; wait some hours"},
            patience=patience,
        )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` papers, best first: those with all words of the query, or if there are none, with any.

        Raises SearchError: the request to arXiv failed, or its response has an unknown format.
        """
        terms = [f"all:{word}" for word in topic_words(query)]
        if not terms or k < 1:
            return ()
        found = self._request(joined(terms, " AND ", _MAX_QUERY_CHARS), k)
        if not found and len(terms) > 1:
            found = self._request(joined(terms, " OR ", _MAX_QUERY_CHARS), k)
        return tuple(found[:k])

    def _request(self, terms: str, k: int) -> list[Snippet]:
        feed = self._client.get_xml(
            {
                "search_query": f"({terms}) AND {self._date_clause}" if self._date_clause else terms,
                "start": 0,
                "max_results": min(k, _MAX_RESULTS),
                "sortBy": "relevance",
                "sortOrder": "descending",
            }
        )
        if feed.tag != f"{_ATOM}feed":
            raise SearchError(
                "arxiv answered with XML in an unknown format; check the engine's address, "
                "and whether a proxy or login page intercepts requests"
            )
        entries = feed.findall(f"{_ATOM}entry")
        total = feed.findtext(_TOTAL, "0").strip()
        if not entries and total.strip("0"):
            raise SearchError(f"arxiv reported {plain_text(total[:9])} papers but returned none; search again")
        return list(dict.fromkeys(_snippets(entries)))


def _snippets(entries: list[Any]) -> Iterator[Snippet]:
    for entry in entries:
        paper_url = element_text(entry.find(f"{_ATOM}id"))
        text = element_text(entry.find(f"{_ATOM}summary"))
        if "/api/errors" in paper_url:
            raise SearchError(f"arxiv did not understand the query: {text[:200]}")
        page = _ABSTRACT_PAGE.fullmatch(paper_url)
        if page and text:
            published = iso_date(entry.findtext(f"{_ATOM}published", "").strip())
            title = element_text(entry.find(f"{_ATOM}title"))
            yield Snippet(
                arxiv_address(page[1]),
                title,
                text,
                published=published,
                engine=ArxivSearch.name,
                author=joined_names(map(element_text, entry.iterfind(f"{_ATOM}author/{_ATOM}name"))),
                publisher="arXiv",
                doi=doi_name(element_text(entry.find(f"{_ARXIV}doi"))),
            )


def _date_clause(options: SearchOptions) -> str:
    """The query clause for the submission date; empty if unrestricted."""
    if not (options.since or options.until):
        return ""
    since, until = options.since or _FIRST_DAY, options.until or _LAST_DAY
    return f"submittedDate:[{since:%Y%m%d}0000 TO {until:%Y%m%d}2359]"
