"""Crossref: what publishers deposit about papers and books, abstracts included. No key; a mail address is polite."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storm_pipeline.documents.fragments import fragment_text
from storm_pipeline.documents.plain import one_line
from storm_pipeline.errors import SearchError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.opening import EngineInfo, Opening, SearchOptions, no_argument, variable
from storm_pipeline.search.papers import doi_address, partial_date
from storm_pipeline.types import Snippet

MAIL_VARIABLE = "CROSSREF_MAILTO"
INFO = EngineInfo(
    "crossref",
    needs=f"nothing; a mail address in {MAIL_VARIABLE} is served faster",
    free=True,
    returns="abstracts that publishers deposit, one each",
    optional_variables=(MAIL_VARIABLE,),
    honours=frozenset({"since", "until"}),
    of_the_web=False,
)
_MOST_RESULTS = 100
_PUBLIC, _POLITE = Rate(1.0, concurrent=1), Rate(3.0, concurrent=3)


def open_engine(argument: str, opening: Opening) -> "CrossrefSearch":
    """The engine of the specification ``crossref``."""
    no_argument("crossref", argument)
    return CrossrefSearch(rate=opening.rate, options=opening.options)


class CrossrefSearch:
    """Searches Crossref among the works whose abstract is deposited; one abstract a work, its DOI as address.

    Args:
        mailto: a mail address to be known by; by default the environment variable ``CROSSREF_MAILTO``, if it is set.
        base_url: full address of the works end point.
        options: ``since`` and ``until`` are looked at.
        patience: time limits.
        rate: requests a second; None for what the service allows (3 with a mail address, 1 without).
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
        self._fixed = {"filter": _filter(options or SearchOptions()), "select": "DOI,title,abstract,issued"}
        if mailto:
            self._fixed["mailto"] = mailto
        allowed = _POLITE if mailto else _PUBLIC
        self._client = ApiClient(
            "crossref",
            base_url,
            rate=Rate(rate or allowed.per_second, concurrent=allowed.concurrent),
            remedies={
                403: "it has blocked this address; wait some hours and ask more slowly",
                429: "too many requests; lower the number of searches at once"
                + ("" if mailto else f", or set {MAIL_VARIABLE} to your mail address"),
            },
            patience=patience,
        )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` works, best first.

        Raises:
            SearchError: Crossref could not be asked, or answered in a form that is not known.
        """
        query = one_line(query)
        if not query or k < 1:
            return ()
        rows = min(k + 5, _MOST_RESULTS)  # a few abstracts are empty
        answer = self._client.get_json({"query": query, "rows": rows, **self._fixed})
        found: dict[str, Snippet] = {}
        for snippet in _snippets(answer):
            found.setdefault(snippet.url, snippet)
        return tuple(found.values())[:k]


def _snippets(answer: Any) -> Iterator[Snippet]:
    message = answer.get("message") if isinstance(answer, dict) else None
    works = message.get("items") if isinstance(message, dict) else None
    if not isinstance(works, list):
        raise SearchError("crossref answered with JSON of an unknown form; check the engine's address")
    for work in works:
        if (
            isinstance(work, dict)
            and (url := doi_address(work.get("DOI")))
            and (text := fragment_text(work.get("abstract")))
        ):
            yield Snippet(url, _title(work), text, published=_issued(work), engine=CrossrefSearch.name)


def _title(work: Mapping[str, Any]) -> str:
    titles = work.get("title")
    return fragment_text(titles[0]) if isinstance(titles, list) and titles else ""


def _issued(work: Mapping[str, Any]) -> str | None:
    issued = work.get("issued")
    parts = issued.get("date-parts") if isinstance(issued, dict) else None
    return partial_date(parts[0]) if isinstance(parts, list) and parts and isinstance(parts[0], list) else None


def _filter(options: SearchOptions) -> str:
    days = {"from-pub-date": options.since, "until-pub-date": options.until}
    return ",".join(["has-abstract:true", *(f"{name}:{day}" for name, day in days.items() if day)])
