"""Serper: Google's results as JSON. Needs a key."""

import datetime
from collections.abc import Iterator, Sequence

from storm_pipeline.documents.plain import objects, plain_text, web_address
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.refusals import Refusal, unknown_format
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, SearchOptions, reject_argument, require_key
from storm_pipeline.search.paging import paged
from storm_pipeline.search.sites import with_sites
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "serper",
    needs="a key in SERPER_API_KEY",
    free=False,
    returns="Google's results, one short passage each",
    variables=("SERPER_API_KEY",),
    supports=frozenset({"language", "region", "since", "until"}),
)
_RATE = 50.0  # limit of the smallest plan
_RESULTS, _MAX_PAGES = 10, 10  # more results on a page cost more
_MAX_CHARACTERS, _MAX_WORDS = 2048, 32  # Google ignores the rest
_REFUSALS = (
    Refusal(
        400, "not enough credits", "the account has no credits left; buy some at serper.dev or choose another engine"
    ),
)


def open_engine(argument: str, config: EngineConfig) -> "SerperSearch":
    """The engine of the specification ``serper``."""
    reject_argument("serper", argument)
    return SerperSearch(rate=config.rate or _RATE, options=config.options)


class SerperSearch:
    """Searches Google through Serper; one short passage per page, at most 100 pages.

    Takes one request, which costs one credit, for every ten pages.

    Args:
        key: the API key; by default the environment variable ``SERPER_API_KEY``.
        base_url: URL of the service, without ``/search``.
        patience: time limits.
        rate: requests a second (the smallest plan allows 50).
        options: language, region and publication dates are sent as parameters, domains as query operators.

    Raises:
        SettingsError: the key is missing or malformed.
    """

    name = "serper"

    def __init__(
        self,
        key: str | None = None,
        *,
        base_url: str = "https://google.serper.dev",
        patience: Patience | None = None,
        rate: float = _RATE,
        options: SearchOptions | None = None,
    ) -> None:
        key = require_key("serper", INFO.variables[0], "serper.dev", key)
        self._options = options or SearchOptions()
        self._option_params = _option_params(self._options)
        refused = f"set {INFO.variables[0]} to a valid key"
        self._client = ApiClient(
            "serper",
            base_url.rstrip("/"),
            rate=Rate(rate),
            headers={"X-API-KEY": key},
            remedies={401: refused, 403: refused},
            refusals=_REFUSALS,
            patience=patience,
        )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` pages, best first, one passage each; see the protocol.

        Raises:
            SearchError: the request to Serper failed, or its response has an unknown format.
        """
        query = with_sites(query, self._options, limit=_MAX_CHARACTERS, words=_MAX_WORDS)
        if not query or k < 1:
            return ()
        return paged(lambda number: self._fetch_page(query, number + 1), k, size=_RESULTS, max_pages=_MAX_PAGES)

    def _fetch_page(self, query: str, page: int) -> Iterator[Snippet]:
        params: dict[str, str | int] = {"q": query, "num": _RESULTS, "page": page}
        answer = self._client.post_json(params | self._option_params, "/search")
        if not isinstance(answer, dict) or not {"organic", "searchParameters"} & answer.keys():
            raise unknown_format("serper")
        for hit in objects(answer.get("organic")):
            if (url := web_address(hit.get("link"))) and (text := plain_text(hit.get("snippet"))):
                published = _day(hit.get("date"))
                yield Snippet(url, plain_text(hit.get("title")), text, published=published, engine=self.name)


def _option_params(options: SearchOptions) -> dict[str, str | int]:
    """Request parameters set by the options."""
    params: dict[str, str | int] = {}
    if options.language:
        params["hl"] = options.language.casefold()
    if options.region:
        params["gl"] = options.region.casefold()
    if period := options.period():
        first, last = (f"{day.month}/{day.day}/{day.year}" for day in period)
        params["tbs"] = f"cdr:1,cd_min:{first},cd_max:{last}"
    return params


def _day(value: object) -> str | None:
    """The ISO date of ``Mar 3, 2024``; None for any other form (``2 days ago``)."""
    try:
        return datetime.datetime.strptime(plain_text(value), "%b %d, %Y").date().isoformat()
    except ValueError:
        return None
