"""Crossref: publishers' metadata of papers and books, with abstracts. No key; a contact e-mail address is polite."""

from collections.abc import Mapping
from typing import Any

from storm_pipeline.sources.documents.markup import fragment_text
from storm_pipeline.sources.search import papers
from storm_pipeline.sources.search.engine_info import EngineInfo, SearchOptions
from storm_pipeline.sources.search.web_service import WebService, list_at
from storm_pipeline.sources.transport.gates import Rate
from storm_pipeline.text.plain import objects, plain_text
from storm_pipeline.types import Snippet

_MAIL = "CROSSREF_MAILTO"
INFO = EngineInfo(
    "crossref",
    needs=f"nothing; an e-mail address in {_MAIL} gets faster service",
    free=True,
    returns="abstracts deposited by publishers, one each",
    optional_variables=(_MAIL,),
    supports=frozenset({"since", "until"}),
    open_web=False,
)
_FIELDS = "DOI,title,abstract,issued,author,container-title,publisher"


def _options(options: SearchOptions) -> dict[str, Any]:
    days = {"from-pub-date": options.since, "until-pub-date": options.until}
    return {"filter": ",".join(["has-abstract:true", *(f"{name}:{day}" for name, day in days.items() if day)])}


def _snippet(work: Mapping[str, Any]) -> Snippet | None:
    url, text = papers.doi_address(work.get("DOI")), fragment_text(work.get("abstract"))
    if not url or not text:
        return None
    issued = list_at(work, "issued", "date-parts") or [None]
    return Snippet(
        url,
        papers.first_text(work.get("title")),
        text,
        published=papers.partial_date(issued[0]) if isinstance(issued[0], list) else None,
        engine=INFO.name,
        author=papers.join_names(map(_name, objects(work.get("author")))),
        site=papers.first_text(work.get("container-title")) or None,
        publisher=plain_text(work.get("publisher")) or None,
        doi=papers.doi_name(work.get("DOI")),
    )


def _name(author: Mapping[str, Any]) -> str:
    return papers.full_name(*(plain_text(author.get(part)) for part in ("family", "given", "name")))


SERVICE = WebService(
    INFO,
    address="https://api.crossref.org/works",
    rate=1.0,
    concurrent=1,
    with_key=Rate(3.0, concurrent=3),
    key_parameter="mailto",
    options=_options,
    request=lambda query, size, _: {"query": query, "rows": min(size + 5, papers.MAX_RESULTS), "select": _FIELDS},
    page=papers.MAX_RESULTS,
    hits=lambda answer: list_at(answer, "message", "items"),
    snippet=_snippet,
    remedies={403: "it has blocked this IP address; wait some hours and lower the request rate"},
)
open_engine = SERVICE.open_engine
