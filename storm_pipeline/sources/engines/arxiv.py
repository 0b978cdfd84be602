"""arXiv: abstracts of preprints in physics, mathematics, computer science and beyond. No key."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from storm_pipeline.errors import SearchError
from storm_pipeline.sources.documents.markup import element_text
from storm_pipeline.sources.search.engine_info import EngineInfo, SearchOptions
from storm_pipeline.sources.search.paging import best_passages
from storm_pipeline.sources.search.papers import MAX_RESULTS, arxiv_address, doi_name, join_names
from storm_pipeline.sources.search.queries import topic_words, with_all_or_any
from storm_pipeline.sources.search.web_service import WebService, WebServiceSearch
from storm_pipeline.sources.transport.refusals import unknown_format
from storm_pipeline.text.plain import iso_date, plain_text
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


def _find(engine: WebServiceSearch, query: str, k: int) -> Sequence[Snippet]:
    terms = [f"all:{word}" for word in topic_words(query)]
    return best_passages(with_all_or_any(terms, lambda asked: _papers(engine, asked, k), every=" AND "), k)


def _papers(engine: WebServiceSearch, terms: str, k: int) -> list[Snippet]:
    days = _first_submitted(engine.options)
    asked = {"search_query": f"({terms}) AND {days}" if days else terms, "start": 0, "max_results": min(k, MAX_RESULTS)}
    feed = engine.client.get_xml(asked | {"sortBy": "relevance", "sortOrder": "descending"})
    if feed.tag != f"{_ATOM}feed":
        raise unknown_format("arxiv", "XML")
    entries = feed.findall(f"{_ATOM}entry")
    total = feed.findtext(_TOTAL, "0").strip()
    if not entries and total.strip("0"):
        raise SearchError(f"arxiv reported {plain_text(total[:9])} papers but returned none; search again")
    return list(_snippets(entries))


def _first_submitted(options: SearchOptions) -> str:
    """Return the query clause for the submission date; empty if unrestricted."""
    since, until = options.since or _FIRST_DAY, options.until or _LAST_DAY
    clause = f"submittedDate:[{since:%Y%m%d}0000 TO {until:%Y%m%d}2359]"
    return clause if options.since or options.until else ""


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
                author=join_names(map(element_text, entry.iterfind(f"{_ATOM}author/{_ATOM}name"))),
                publisher="arXiv",
                doi=doi_name(element_text(entry.find(f"{_ARXIV}doi"))),
            )


SERVICE = WebService(
    INFO,
    address="https://export.arxiv.org/api/query",
    rate=1 / 3,
    concurrent=1,
    find=_find,
    remedies={403: "it has blocked this IP address for too many requests; wait some hours"},
)
open_engine = SERVICE.open_engine
