"""Semantic Scholar: abstracts of papers of all sciences. Works without a key, better with one."""

from collections.abc import Mapping
from typing import Any

from storm_pipeline.sources.search import papers
from storm_pipeline.sources.search.engine_info import EngineInfo, SearchOptions
from storm_pipeline.sources.search.web_service import WebService, list_at
from storm_pipeline.text.plain import iso_date, objects, plain_text, web_address
from storm_pipeline.types import Snippet

_KEY = "SEMANTIC_SCHOLAR_API_KEY"
INFO = EngineInfo(
    "semantic-scholar",
    needs=f"nothing; a free key in {_KEY} is refused less often",
    free=True,
    returns="abstracts of papers of all sciences, one each",
    optional_variables=(_KEY,),
    supports=frozenset({"since", "until"}),
    open_web=False,
)
_FIELDS = "title,abstract,tldr,url,year,publicationDate,externalIds,authors,venue"


def _options(options: SearchOptions) -> dict[str, Any]:
    days = f"{options.since or ''}:{options.until or ''}"
    return {"publicationDateOrYear": days} if days != ":" else {}


def _snippet(paper: Mapping[str, Any]) -> Snippet | None:
    """Return the abstract or the service's summary of a paper; None without both or without an address."""
    ids, summary = (known if isinstance(known := paper.get(name), dict) else {} for name in ("externalIds", "tldr"))
    # the same address as other engines, if possible
    url = papers.arxiv_address(ids.get("ArXiv")) or papers.doi_address(ids.get("DOI")) or web_address(paper.get("url"))
    text = plain_text(paper.get("abstract")) or plain_text(summary.get("text"))
    if not url or not text:
        return None
    return Snippet(
        url,
        plain_text(paper.get("title")),
        text,
        published=iso_date(paper.get("publicationDate")) or papers.partial_date([paper.get("year")]),
        engine=INFO.name,
        author=papers.join_names(author.get("name") for author in objects(paper.get("authors"))),
        site=plain_text(paper.get("venue")) or None,
        doi=papers.doi_name(ids.get("DOI")),
    )


SERVICE = WebService(
    INFO,
    address="https://api.semanticscholar.org/graph/v1/paper/search",
    rate=1.0,  # limit with a key; without one, all users share a quota
    concurrent=2,
    headers={"x-api-key": "{}"},
    is_bare=True,  # hyphenated words have no matches
    options=_options,
    request=lambda query, size, _: {"query": query, "limit": min(2 * size, papers.MAX_RESULTS), "fields": _FIELDS},
    page=papers.MAX_RESULTS,
    hits=lambda answer: [] if answer.get("total") == 0 else list_at(answer, "data"),
    snippet=_snippet,
)
open_engine = SERVICE.open_engine
