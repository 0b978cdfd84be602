"""arXiv: preprints of physics, mathematics, computer science and beyond, by their abstracts. No key."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from storm_pipeline.documents.fragments import element_text
from storm_pipeline.documents.plain import iso_date, plain_text
from storm_pipeline.errors import SearchError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.opening import EngineInfo, Opening, SearchOptions, no_argument
from storm_pipeline.search.papers import arxiv_address
from storm_pipeline.search.queries import joined, topic_words
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "arxiv",
    needs="",
    free=True,
    returns="abstracts of preprints, one each; a request every 3 seconds",
    honours=frozenset({"since", "until"}),
    of_the_web=False,
)
_MOST_RESULTS = 100
_LONGEST_QUERY = 600
_PER_SECOND = 1 / 3
_FIRST_DAY, _LAST_DAY = date(1986, 1, 1), date(2099, 12, 31)
_ATOM = "{http://www.w3.org/2005/Atom}"
_TOTAL = "{http://a9.com/-/spec/opensearch/1.1/}totalResults"
_ABSTRACT_PAGE = re.compile(r"https?://(?:export\.)?arxiv\.org/abs/(\S+?)(?:v[0-9]+)?")


def open_engine(argument: str, opening: Opening) -> "ArxivSearch":
    """The engine of the specification ``arxiv``."""
    no_argument("arxiv", argument)
    return ArxivSearch(rate=opening.rate or _PER_SECOND, options=opening.options)


class ArxivSearch:
    """Searches arXiv for papers by the words of all fields; one abstract a paper.

    Args:
        base_url: full address of the query end point.
        options: ``since`` and ``until`` are looked at: days of the first submission.
        patience: time limits.
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
        self._days = _submitted(options or SearchOptions())
        self._client = ApiClient(
            "arxiv",
            base_url,
            rate=Rate(rate, concurrent=1),
            remedies={403: "it has blocked this address for asking too fast; wait some hours"},
            patience=patience,
        )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` papers, best first: those with all words of the query, or where there are none, with any.

        Raises:
            SearchError: arXiv could not be asked, or answered in a form that is not known.
        """
        terms = [f"all:{word}" for word in topic_words(query)]
        if not terms or k < 1:
            return ()
        found = self._asked(joined(terms, " AND ", _LONGEST_QUERY), k)
        if not found and len(terms) > 1:
            found = self._asked(joined(terms, " OR ", _LONGEST_QUERY), k)
        return tuple(found[:k])

    def _asked(self, terms: str, k: int) -> list[Snippet]:
        feed = self._client.get_xml(
            {
                "search_query": f"({terms}) AND {self._days}" if self._days else terms,
                "start": 0,
                "max_results": min(k, _MOST_RESULTS),
                "sortBy": "relevance",
                "sortOrder": "descending",
            }
        )
        if feed.tag != f"{_ATOM}feed":
            raise SearchError(
                "arxiv answered with XML of an unknown form; check the engine's address, "
                "and whether something in between asks for a login"
            )
        entries = feed.findall(f"{_ATOM}entry")
        total = feed.findtext(_TOTAL, "0").strip()
        if not entries and total.strip("0"):
            raise SearchError(f"arxiv announced {plain_text(total[:9])} papers and sent none; search again")
        return list(dict.fromkeys(_snippets(entries)))


def _snippets(entries: list[Any]) -> Iterator[Snippet]:
    for entry in entries:
        number = element_text(entry.find(f"{_ATOM}id"))
        text = element_text(entry.find(f"{_ATOM}summary"))
        if "/api/errors" in number:
            raise SearchError(f"arxiv did not understand the query: {text[:200]}")
        page = _ABSTRACT_PAGE.fullmatch(number)
        if page and text:
            published = iso_date(entry.findtext(f"{_ATOM}published", "").strip())
            title = element_text(entry.find(f"{_ATOM}title"))
            yield Snippet(arxiv_address(page[1]), title, text, published=published, engine=ArxivSearch.name)


def _submitted(options: SearchOptions) -> str:
    """The clause for the days of submission, in its query language; empty for any day."""
    if not (options.since or options.until):
        return ""
    since, until = options.since or _FIRST_DAY, options.until or _LAST_DAY
    return f"submittedDate:[{since:%Y%m%d}0000 TO {until:%Y%m%d}2359]"
