"""Tavily: a search service made for language models. Needs a key."""

from collections.abc import Iterator, Sequence
from typing import Any

from storm_pipeline.documents.plain import iso_date, objects, one_line, plain_text, web_address
from storm_pipeline.errors import SettingsError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.refusals import unknown_format
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.countries import COUNTRIES
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, SearchOptions, reject_argument, require_key
from storm_pipeline.search.paging import paged
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "tavily",
    needs="a key in TAVILY_API_KEY",
    free=False,
    returns="pages of the web, one passage each, selected for the query",
    variables=("TAVILY_API_KEY",),
    supports=frozenset({"region", "since", "until"}),
)
_RATE = 1.6  # a development key allows 100 requests a minute
_MAX_RESULTS = 20
_MAX_DOMAINS, _MAX_EXCLUDED_DOMAINS = 300, 150


def open_engine(argument: str, config: EngineConfig) -> "TavilySearch":
    """The engine of the specification ``tavily``."""
    reject_argument("tavily", argument)
    return TavilySearch(rate=config.rate or _RATE, options=config.options)


class TavilySearch:
    """Searches the web through Tavily; one passage per page, at most 20 pages.

    Args:
        key: the API key; by default the environment variable ``TAVILY_API_KEY``.
        base_url: URL of the service, without ``/search``.
        patience: time limits.
        rate: requests a second (a development key allows 100 a minute, others 1,000).
        options: region (a ranking preference), publication dates and domains are sent as parameters.

    Raises:
        SettingsError: the key is missing or malformed, or Tavily does not support the region.
    """

    name = "tavily"

    def __init__(
        self,
        key: str | None = None,
        *,
        base_url: str = "https://api.tavily.com",
        patience: Patience | None = None,
        rate: float = _RATE,
        options: SearchOptions | None = None,
    ) -> None:
        key = require_key("tavily", INFO.variables[0], "app.tavily.com", key)
        self._option_params = _option_params(options or SearchOptions())
        refused = f"set {INFO.variables[0]} to a valid key"
        self._client = ApiClient(
            "tavily",
            base_url.rstrip("/"),
            rate=Rate(rate),
            headers={"Authorization": f"Bearer {key}"},
            remedies={
                401: refused,
                403: f"{refused}; this one may not use the search service",
                432: "the plan's credits for this month, or the limit set on this key, are used up; raise them at "
                "app.tavily.com or choose another engine",
                433: "the limit on pay-as-you-go is reached; raise it at app.tavily.com or choose another engine",
            },
            patience=patience,
        )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` pages, best first, one passage each; see the protocol.

        Raises:
            SearchError: the request to Tavily failed, or its response has an unknown format.
        """
        query = one_line(query, 400)
        if not query or k < 1:
            return ()
        params = {"query": query, "max_results": min(k, _MAX_RESULTS)}
        return paged(lambda _: self._fetch(params), k, size=_MAX_RESULTS)

    def _fetch(self, params: dict[str, Any]) -> Iterator[Snippet]:
        answer = self._client.post_json(params | self._option_params, "/search")
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list):
            raise unknown_format("tavily")
        for hit in objects(results):
            if (url := web_address(hit.get("url"))) and (text := plain_text(hit.get("content"))):
                published = iso_date(hit.get("published_date"))
                yield Snippet(url, plain_text(hit.get("title")), text, published=published, engine=self.name)


def _option_params(options: SearchOptions) -> dict[str, Any]:
    """Request parameters set by the options."""
    params: dict[str, Any] = {}
    if options.region:
        country = COUNTRIES.get(options.region.casefold())
        if country is None:
            raise SettingsError(
                f"the search engine `tavily` does not support the region {options.region!r}; leave it out"
            )
        params["country"] = country
    if options.since:
        params["start_date"] = options.since.isoformat()
    if options.until:
        params["end_date"] = options.until.isoformat()
    if options.domains:
        params["include_domains"] = options.domains[:_MAX_DOMAINS]
    if options.without_domains:
        params["exclude_domains"] = options.without_domains[:_MAX_EXCLUDED_DOMAINS]
    return params
