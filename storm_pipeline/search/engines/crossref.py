"""Crossref: publishers' metadata of papers and books, with abstracts. No key; a contact e-mail address is polite."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from storm_pipeline.documents.markup import fragment_text
from storm_pipeline.documents.plain import objects, one_line, plain_text
from storm_pipeline.errors import SearchError
from storm_pipeline.net.gates import Rate
from storm_pipeline.search.engine_info import EngineInfo
from storm_pipeline.search.papers import (
    MAX_RESULTS,
    PaperSearch,
    doi_address,
    doi_name,
    first_text,
    full_name,
    joined_names,
    partial_date,
)
from storm_pipeline.types import Snippet

MAIL_VARIABLE = "CROSSREF_MAILTO"
INFO = EngineInfo(
    "crossref",
    needs=f"nothing; an e-mail address in {MAIL_VARIABLE} gets faster service",
    free=True,
    returns="abstracts deposited by publishers, one each",
    optional_variables=(MAIL_VARIABLE,),
    supports=frozenset({"since", "until"}),
    open_web=False,
)
_FIELDS = "DOI,title,abstract,issued,author,container-title,publisher"


class CrossrefSearch(PaperSearch):
    """Searches Crossref for works with a deposited abstract; one abstract per work, its DOI as URL.

    ``key``: a contact e-mail address.
    """

    info = INFO
    name = INFO.name
    address = "https://api.crossref.org/works"
    rate = Rate(1.0, concurrent=1)
    rate_with_key = Rate(3.0, concurrent=3)

    def remedies(self) -> Mapping[int, str]:  # noqa: D102
        return {
            403: "it has blocked this IP address; wait some hours and lower the request rate",
            429: "too many requests; lower the number of searches at once"
            + ("" if self._key else f", or set {MAIL_VARIABLE} to your e-mail address"),
        }

    def find(self, query: str, k: int) -> Iterable[Snippet]:  # noqa: D102
        query = one_line(query)
        if not query:
            return ()
        rows = min(k + 5, MAX_RESULTS)  # a few abstracts are empty
        fixed = {"filter": self._filter(), "select": _FIELDS} | ({"mailto": self._key} if self._key else {})
        answer = self._client.get_json({"query": query, "rows": rows, **fixed})
        message = answer.get("message") if isinstance(answer, dict) else None
        works = message.get("items") if isinstance(message, dict) else None
        if not isinstance(works, list):
            raise SearchError("crossref answered with JSON in an unknown format; check the engine's address")
        return _snippets(works)

    def _filter(self) -> str:
        days = {"from-pub-date": self._options.since, "until-pub-date": self._options.until}
        return ",".join(["has-abstract:true", *(f"{name}:{day}" for name, day in days.items() if day)])


open_engine = CrossrefSearch.open_engine


def _snippets(works: list[Any]) -> Iterator[Snippet]:
    for work in objects(works):
        url, text = doi_address(work.get("DOI")), fragment_text(work.get("abstract"))
        if url and text:
            yield Snippet(
                url,
                first_text(work.get("title")),
                text,
                published=_issued(work),
                engine=INFO.name,
                author=joined_names(map(_name, objects(work.get("author")))),
                site=first_text(work.get("container-title")) or None,
                publisher=plain_text(work.get("publisher")) or None,
                doi=doi_name(work.get("DOI")),
            )


def _name(author: Mapping[str, Any]) -> str:
    return full_name(*(plain_text(author.get(part)) for part in ("family", "given", "name")))


def _issued(work: Mapping[str, Any]) -> str | None:
    issued = work.get("issued")
    parts = issued.get("date-parts") if isinstance(issued, dict) else None
    return partial_date(parts[0]) if isinstance(parts, list) and parts and isinstance(parts[0], list) else None
