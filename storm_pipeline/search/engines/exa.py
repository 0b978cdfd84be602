"""Exa: searches the web by meaning and gives the passages that answer. Needs a key."""

from collections.abc import Iterator, Sequence
from typing import Any

from storm_pipeline.documents.plain import iso_date, objects, one_line, plain_text, texts, web_address
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.refusals import Refusal, unknown_form
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.opening import EngineInfo, Opening, SearchOptions, needed_key, no_argument
from storm_pipeline.search.paging import paged
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "exa",
    needs="a key in EXA_API_KEY",
    free=False,
    returns="pages of the web found by meaning, several passages each",
    variables=("EXA_API_KEY",),
    honours=frozenset({"region", "since", "until"}),
)
_RATE = 10.0
_MOST_RESULTS = 100
_MOST_CHARACTERS = 2000
_MOST_DOMAINS = 1200
_REFUSALS = (
    Refusal(402, "api_key_budget_exceeded", "the budget of this key is used up; raise it at dashboard.exa.ai"),
)


def open_engine(argument: str, opening: Opening) -> "ExaSearch":
    """The engine of the specification ``exa``."""
    no_argument("exa", argument)
    return ExaSearch(rate=opening.rate or _RATE, options=opening.options)


class ExaSearch:
    """Searches the web through Exa; the passages of a page that suit the query, 100 pages at most.

    Args:
        key: the API key; by default the environment variable ``EXA_API_KEY``.
        base_url: address of the service, without ``/search``.
        patience: time limits.
        rate: requests a second (the service allows 10).
        options: region, days of publication and domains are passed on.

    Raises:
        SettingsError: there is no key, or it can't be one.
    """

    name = "exa"

    def __init__(
        self,
        key: str | None = None,
        *,
        base_url: str = "https://api.exa.ai",
        patience: Patience | None = None,
        rate: float = _RATE,
        options: SearchOptions | None = None,
    ) -> None:
        key = needed_key("exa", INFO.variables[0], "dashboard.exa.ai", key)
        self._chosen = _chosen(options or SearchOptions())
        refused = f"set {INFO.variables[0]} to a valid key"
        self._client = ApiClient(
            "exa",
            base_url.rstrip("/"),
            rate=Rate(rate),
            headers={"x-api-key": key},
            remedies={
                401: refused,
                402: "the account has no credit left; top it up at dashboard.exa.ai or choose another engine",
                403: f"{refused}; this one may not use the search service",
            },
            refusals=_REFUSALS,
            patience=patience,
        )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` pages, best first, each with the passages that Exa chose; see the protocol.

        Raises:
            SearchError: Exa could not be asked, or answered in a form that is not known.
        """
        query = one_line(query, _MOST_CHARACTERS)
        if not query or k < 1:
            return ()
        wanted = {"query": query, "numResults": min(k, _MOST_RESULTS), "contents": {"highlights": True}}
        return paged(lambda _: self._found(wanted), k, size=_MOST_RESULTS)

    def _found(self, wanted: dict[str, Any]) -> Iterator[Snippet]:
        answer = self._client.post_json(wanted | self._chosen, "/search")
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list):
            raise unknown_form("exa")
        for hit in objects(results):
            title, published = plain_text(hit.get("title")), iso_date(hit.get("publishedDate"))
            if url := web_address(hit.get("url")):
                for text in texts(hit.get("highlights")):
                    yield Snippet(url, title, text, published=published, engine=self.name)


def _chosen(options: SearchOptions) -> dict[str, Any]:
    """The part of a request that options decide."""
    chosen: dict[str, Any] = {}
    if options.region:
        chosen["userLocation"] = options.region.upper()
    if options.since:
        chosen["startPublishedDate"] = f"{options.since}T00:00:00.000Z"
    if options.until:
        chosen["endPublishedDate"] = f"{options.until}T23:59:59.999Z"
    if options.domains:
        chosen["includeDomains"] = options.domains[:_MOST_DOMAINS]
    elif options.without_domains:  # Exa takes one of the two lists
        chosen["excludeDomains"] = options.without_domains[:_MOST_DOMAINS]
    return chosen
