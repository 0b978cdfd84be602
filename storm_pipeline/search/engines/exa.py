"""Exa: semantic web search that returns the matching passages. Needs a key."""

from collections.abc import Iterator, Sequence
from typing import Any

from storm_pipeline.documents.plain import iso_date, objects, one_line, plain_text, texts, web_address
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.refusals import Refusal, unknown_format
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, SearchOptions, reject_argument, require_key
from storm_pipeline.search.paging import paged
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "exa",
    needs="a key in EXA_API_KEY",
    free=False,
    returns="pages of the web found by semantic search, several passages each",
    variables=("EXA_API_KEY",),
    supports=frozenset({"region", "since", "until"}),
)
_RATE = 10.0
_MAX_RESULTS = 100
_MAX_CHARACTERS = 2000
_MAX_DOMAINS = 1200
_REFUSALS = (
    Refusal(402, "api_key_budget_exceeded", "the budget of this key is used up; raise it at dashboard.exa.ai"),
)


def open_engine(argument: str, config: EngineConfig) -> "ExaSearch":
    """The engine of the specification ``exa``."""
    reject_argument("exa", argument)
    return ExaSearch(rate=config.rate or _RATE, options=config.options)


class ExaSearch:
    """Searches the web through Exa; the passages of a page that match the query, at most 100 pages.

    Args:
        key: the API key; by default the environment variable ``EXA_API_KEY``.
        base_url: URL of the service, without ``/search``.
        patience: time limits.
        rate: requests a second (the service allows 10).
        options: region, publication dates and domains are sent as parameters.

    Raises:
        SettingsError: the key is missing or malformed.
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
        key = require_key("exa", INFO.variables[0], "dashboard.exa.ai", key)
        self._option_params = _option_params(options or SearchOptions())
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
            SearchError: the request to Exa failed, or its response has an unknown format.
        """
        query = one_line(query, _MAX_CHARACTERS)
        if not query or k < 1:
            return ()
        params = {"query": query, "numResults": min(k, _MAX_RESULTS), "contents": {"highlights": True}}
        return paged(lambda _: self._fetch(params), k, size=_MAX_RESULTS)

    def _fetch(self, params: dict[str, Any]) -> Iterator[Snippet]:
        answer = self._client.post_json(params | self._option_params, "/search")
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list):
            raise unknown_format("exa")
        for hit in objects(results):
            title, published = plain_text(hit.get("title")), iso_date(hit.get("publishedDate"))
            author = plain_text(hit.get("author")) or None
            if url := web_address(hit.get("url")):
                for text in texts(hit.get("highlights")):
                    yield Snippet(url, title, text, published=published, engine=self.name, author=author)


def _option_params(options: SearchOptions) -> dict[str, Any]:
    """Request parameters set by the options."""
    params: dict[str, Any] = {}
    if options.region:
        params["userLocation"] = options.region.upper()
    if options.since:
        params["startPublishedDate"] = f"{options.since}T00:00:00.000Z"
    if options.until:
        params["endPublishedDate"] = f"{options.until}T23:59:59.999Z"
    if options.domains:
        params["includeDomains"] = options.domains[:_MAX_DOMAINS]
    elif options.without_domains:  # Exa accepts only one of the two lists
        params["excludeDomains"] = options.without_domains[:_MAX_DOMAINS]
    return params
