"""Semantic Scholar: abstracts of papers of all sciences. Works without a key, better with one."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from storm_pipeline.documents.plain import iso_date, objects, plain_text, web_address
from storm_pipeline.errors import SearchError
from storm_pipeline.net.gates import Rate
from storm_pipeline.search.engine_info import EngineInfo, SearchOptions
from storm_pipeline.search.papers import (
    MAX_RESULTS,
    PaperSearch,
    arxiv_address,
    doi_address,
    doi_name,
    joined_names,
    partial_date,
)
from storm_pipeline.search.queries import bare_words, joined
from storm_pipeline.types import Snippet

KEY_VARIABLE = "SEMANTIC_SCHOLAR_API_KEY"
INFO = EngineInfo(
    "semantic-scholar",
    needs=f"nothing; a free key in {KEY_VARIABLE} is refused less often",
    free=True,
    returns="abstracts of papers of all sciences, one each",
    optional_variables=(KEY_VARIABLE,),
    supports=frozenset({"since", "until"}),
    open_web=False,
)
_FIELDS = "title,abstract,tldr,url,year,publicationDate,externalIds,authors,venue"


class SemanticScholarSearch(PaperSearch):
    """Searches Semantic Scholar; the abstract of each paper, or the service's own summary if it has none.

    The URL is that of the arXiv preprint or the DOI if there is one, as with the other engines.
    """

    info = INFO
    name = INFO.name
    address = "https://api.semanticscholar.org/graph/v1/paper/search"
    rate = Rate(1.0, concurrent=2)  # what the service allows with a key; without one, all users share a quota

    def headers(self) -> Mapping[str, str]:  # noqa: D102
        return {"x-api-key": self._key} if self._key else {}

    def remedies(self) -> Mapping[int, str]:  # noqa: D102
        refused = f"set {KEY_VARIABLE} to a valid key, or unset it to search without one"
        return {
            401: refused,
            403: refused,
            429: "too many requests at once"
            + (
                "; wait a little"
                if self._key
                else f"; users without a key share one quota: set {KEY_VARIABLE}, or wait"
            ),
        }

    def find(self, query: str, k: int) -> Iterable[Snippet]:
        """Skips papers with neither abstract nor summary."""
        words = bare_words(query)  # hyphenated words find nothing
        if not words:
            return ()
        answer = self._client.get_json(
            {
                "query": joined(words, " "),
                "limit": min(2 * k, MAX_RESULTS),  # many papers have no abstract
                "fields": _FIELDS,
                **_date_params(self._options),
            }
        )
        return _snippets(answer)


open_engine = SemanticScholarSearch.open_engine


def _snippets(answer: Any) -> Iterator[Snippet]:
    papers = answer.get("data", [] if answer.get("total") == 0 else None) if isinstance(answer, dict) else None
    if not isinstance(papers, list):
        raise SearchError("semantic-scholar answered with JSON in an unknown format; check the engine's address")
    for paper in objects(papers):
        if (url := _url(paper)) and (text := _text(paper)):
            yield Snippet(
                url,
                plain_text(paper.get("title")),
                text,
                published=iso_date(paper.get("publicationDate")) or partial_date([paper.get("year")]),
                engine=INFO.name,
                author=joined_names(author.get("name") for author in objects(paper.get("authors"))),
                site=plain_text(paper.get("venue")) or None,
                doi=doi_name(_external_ids(paper).get("DOI")),
            )


def _external_ids(paper: Mapping[str, Any]) -> Mapping[str, Any]:
    found = paper.get("externalIds")
    return found if isinstance(found, dict) else {}


def _url(paper: Mapping[str, Any]) -> str:
    external_ids = _external_ids(paper)
    return (
        arxiv_address(external_ids.get("ArXiv"))
        or doi_address(external_ids.get("DOI"))
        or web_address(paper.get("url"))
    )


def _text(paper: Mapping[str, Any]) -> str:
    summary = paper.get("tldr")
    return plain_text(paper.get("abstract")) or plain_text(summary.get("text") if isinstance(summary, dict) else None)


def _date_params(options: SearchOptions) -> dict[str, str]:
    if not (options.since or options.until):
        return {}
    return {"publicationDateOrYear": f"{options.since or ''}:{options.until or ''}"}
