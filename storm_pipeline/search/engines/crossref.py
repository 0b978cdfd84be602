"""Crossref: publishers' metadata of papers and books, with abstracts. No key; a contact e-mail address is polite."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storm_pipeline.configuration.variables import variable
from storm_pipeline.documents.markup import fragment_text
from storm_pipeline.documents.plain import objects, one_line, plain_text
from storm_pipeline.errors import SearchError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, SearchOptions, reject_argument
from storm_pipeline.search.papers import doi_address, doi_name, joined_names, partial_date
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
_MAX_RESULTS = 100
_FIELDS = "DOI,title,abstract,issued,author,container-title,publisher"
_PUBLIC, _POLITE = Rate(1.0, concurrent=1), Rate(3.0, concurrent=3)


def open_engine(argument: str, config: EngineConfig) -> "CrossrefSearch":
    """The engine of the specification ``crossref``."""
    reject_argument("crossref", argument)
    return CrossrefSearch(rate=config.rate, options=config.options)


class CrossrefSearch:
    """Searches Crossref for works with a deposited abstract; one abstract per work, its DOI as URL.

    Args:
        mailto: contact e-mail address; by default the environment variable ``CROSSREF_MAILTO``, if set.
        options: only ``since`` and ``until`` are used.
        rate: requests a second; None for what the service allows (3 with an e-mail address, 1 without).
    """

    name = "crossref"

    def __init__(
        self,
        mailto: str | None = None,
        *,
        base_url: str = "https://api.crossref.org/works",
        options: SearchOptions | None = None,
        patience: Patience | None = None,
        rate: float | None = None,
    ) -> None:
        mailto = (mailto or variable(MAIL_VARIABLE)).strip()
        self._fixed = {"filter": _filter(options or SearchOptions()), "select": _FIELDS}
        if mailto:
            self._fixed["mailto"] = mailto
        allowed = _POLITE if mailto else _PUBLIC
        self._client = ApiClient(
            "crossref",
            base_url,
            rate=Rate(rate or allowed.per_second, concurrent=allowed.concurrent),
            remedies={
                403: "it has blocked this IP address; wait some hours and lower the request rate",
                429: "too many requests; lower the number of searches at once"
                + ("" if mailto else f", or set {MAIL_VARIABLE} to your e-mail address"),
            },
            patience=patience,
        )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` works, best first.

        Raises SearchError: the request to Crossref failed, or its response has an unknown format.
        """
        query = one_line(query)
        if not query or k < 1:
            return ()
        rows = min(k + 5, _MAX_RESULTS)  # a few abstracts are empty
        answer = self._client.get_json({"query": query, "rows": rows, **self._fixed})
        found: dict[str, Snippet] = {}
        for snippet in _snippets(answer):
            found.setdefault(snippet.url, snippet)
        return tuple(found.values())[:k]


def _snippets(answer: Any) -> Iterator[Snippet]:
    message = answer.get("message") if isinstance(answer, dict) else None
    works = message.get("items") if isinstance(message, dict) else None
    if not isinstance(works, list):
        raise SearchError("crossref answered with JSON in an unknown format; check the engine's address")
    for work in works:
        if (
            isinstance(work, dict)
            and (url := doi_address(work.get("DOI")))
            and (text := fragment_text(work.get("abstract")))
        ):
            yield Snippet(
                url,
                _first(work, "title"),
                text,
                published=_issued(work),
                engine=CrossrefSearch.name,
                author=joined_names(map(_name, objects(work.get("author")))),
                site=_first(work, "container-title") or None,
                publisher=plain_text(work.get("publisher")) or None,
                doi=doi_name(work.get("DOI")),
            )


def _first(work: Mapping[str, Any], name: str) -> str:
    """The first text of a field that holds several."""
    found = work.get(name)
    return fragment_text(found[0]) if isinstance(found, list) and found else ""


def _name(author: Mapping[str, Any]) -> str:
    family, given = plain_text(author.get("family")), plain_text(author.get("given"))
    return f"{family}, {given}" if family and given else family or plain_text(author.get("name"))


def _issued(work: Mapping[str, Any]) -> str | None:
    issued = work.get("issued")
    parts = issued.get("date-parts") if isinstance(issued, dict) else None
    return partial_date(parts[0]) if isinstance(parts, list) and parts and isinstance(parts[0], list) else None


def _filter(options: SearchOptions) -> str:
    days = {"from-pub-date": options.since, "until-pub-date": options.until}
    return ",".join(["has-abstract:true", *(f"{name}:{day}" for name, day in days.items() if day)])
