"""Tavily: a search service made for language models. Needs a key."""

from collections.abc import Iterator, Sequence
from typing import Any

from storm_pipeline.documents.plain import iso_date, objects, one_line, plain_text, web_address
from storm_pipeline.errors import SettingsError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.refusals import unknown_form
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.countries import COUNTRIES
from storm_pipeline.search.opening import EngineInfo, Opening, SearchOptions, needed_key, no_argument
from storm_pipeline.search.paging import paged
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "tavily",
    needs="a key in TAVILY_API_KEY",
    free=False,
    returns="pages of the web, one passage each, chosen for the query",
    variables=("TAVILY_API_KEY",),
    honours=frozenset({"region", "since", "until"}),
)
_RATE = 1.6  # a development key may ask 100 times a minute
_MOST_RESULTS = 20
_MOST_WANTED, _MOST_UNWANTED = 300, 150  # domains


def open_engine(argument: str, opening: Opening) -> "TavilySearch":
    """The engine of the specification ``tavily``."""
    no_argument("tavily", argument)
    return TavilySearch(rate=opening.rate or _RATE, options=opening.options)


class TavilySearch:
    """Searches the web through Tavily; one passage a page, 20 pages at most.

    Args:
        key: the API key; by default the environment variable ``TAVILY_API_KEY``.
        base_url: address of the service, without ``/search``.
        patience: time limits.
        rate: requests a second (a development key may ask 100 times a minute, others 1,000 times).
        options: region (its pages come first), days of publication and domains are passed on.

    Raises:
        SettingsError: there is no key, it can't be one, or the region is not known to Tavily.
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
        key = needed_key("tavily", INFO.variables[0], "app.tavily.com", key)
        self._chosen = _chosen(options or SearchOptions())
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
        """Up to ``k`` pages, best first, a passage each; see the protocol.

        Raises:
            SearchError: Tavily could not be asked, or answered in a form that is not known.
        """
        query = one_line(query, 400)
        if not query or k < 1:
            return ()
        wanted = {"query": query, "max_results": min(k, _MOST_RESULTS)}
        return paged(lambda _: self._found(wanted), k, size=_MOST_RESULTS)

    def _found(self, wanted: dict[str, Any]) -> Iterator[Snippet]:
        answer = self._client.post_json(wanted | self._chosen, "/search")
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list):
            raise unknown_form("tavily")
        for hit in objects(results):
            if (url := web_address(hit.get("url"))) and (text := plain_text(hit.get("content"))):
                published = iso_date(hit.get("published_date"))
                yield Snippet(url, plain_text(hit.get("title")), text, published=published, engine=self.name)


def _chosen(options: SearchOptions) -> dict[str, Any]:
    """The part of a request that options decide."""
    chosen: dict[str, Any] = {}
    if options.region:
        country = COUNTRIES.get(options.region.casefold())
        if country is None:
            raise SettingsError(f"the search engine `tavily` knows no region {options.region!r}; leave it out")
        chosen["country"] = country
    if options.since:
        chosen["start_date"] = options.since.isoformat()
    if options.until:
        chosen["end_date"] = options.until.isoformat()
    if options.domains:
        chosen["include_domains"] = options.domains[:_MOST_WANTED]
    if options.without_domains:
        chosen["exclude_domains"] = options.without_domains[:_MOST_UNWANTED]
    return chosen
