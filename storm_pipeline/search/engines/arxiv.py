"""arXiv: abstracts of preprints in physics, mathematics, computer science and beyond. No key."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from storm_pipeline.documents.markup import element_text
from storm_pipeline.documents.plain import iso_date, plain_text
from storm_pipeline.errors import SearchError
from storm_pipeline.net.gates import Rate
from storm_pipeline.search.engine_info import EngineInfo
from storm_pipeline.search.papers import MAX_RESULTS, PaperSearch, arxiv_address, doi_name, joined_names
from storm_pipeline.search.queries import topic_words, with_all_or_any
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "arxiv",
    needs="",
    free=True,
    returns="abstracts of preprints, one each; one request every 3 seconds",
    supports=frozenset({"since", "until"}),
    open_web=False,
)
_FIRST_DAY, _LAST_DAY = date(1986, 1, 1), date(2099, 12, 31)
_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_TOTAL = "{http://a9.com/-/spec/opensearch/1.1/}totalResults"
_ABSTRACT_PAGE = re.compile(r"https?://(?:export\.)?arxiv\.org/abs/(\S+?)(?:v[0-9]+)?")


class ArxivSearch(PaperSearch):
    """Searches all fields of arXiv papers; one abstract per paper. Dates are those of the first submission."""

    info = INFO
    name = INFO.name
    address = "https://export.arxiv.org/api/query"
    rate = Rate(1 / 3, concurrent=1)

    def remedies(self) -> Mapping[int, str]:  # noqa: D102
        return {403: "it has blocked this IP address for too many requests; wait some hours"}

    def find(self, query: str, k: int) -> Sequence[Snippet]:
        """Papers with all words of the query, or if there are none, with any."""
        terms = [f"all:{word}" for word in topic_words(query)]
        return with_all_or_any(terms, lambda asked: self._papers(asked, k), every=" AND ")

    def _papers(self, terms: str, k: int) -> list[Snippet]:
        dates = self._date_clause()
        feed = self._client.get_xml(
            {
                "search_query": f"({terms}) AND {dates}" if dates else terms,
                "start": 0,
                "max_results": min(k, MAX_RESULTS),
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
        return list(_snippets(entries))

    def _date_clause(self) -> str:
        """The query clause for the submission date; empty if unrestricted."""
        if not (self._options.since or self._options.until):
            return ""
        since, until = self._options.since or _FIRST_DAY, self._options.until or _LAST_DAY
        return f"submittedDate:[{since:%Y%m%d}0000 TO {until:%Y%m%d}2359]"


open_engine = ArxivSearch.open_engine


def _snippets(entries: list[Any]) -> Iterator[Snippet]:
    for entry in entries:
        paper_url = element_text(entry.find(f"{_ATOM}id"))
        text = element_text(entry.find(f"{_ATOM}summary"))
        if "/api/errors" in paper_url:
            raise SearchError(f"arxiv did not understand the query: {text[:200]}")
        page = _ABSTRACT_PAGE.fullmatch(paper_url)
        if page and text:
            yield Snippet(
                arxiv_address(page[1]),
                element_text(entry.find(f"{_ATOM}title")),
                text,
                published=iso_date(entry.findtext(f"{_ATOM}published", "").strip()),
                engine=INFO.name,
                author=joined_names(map(element_text, entry.iterfind(f"{_ATOM}author/{_ATOM}name"))),
                publisher="arXiv",
                doi=doi_name(element_text(entry.find(f"{_ARXIV}doi"))),
            )
