"""Google's Programmable Search Engine, through its Custom Search JSON API. Needs a key and an engine id.

Google issues no new keys and ends the service on 2027-01-01; ``serper`` returns the same results.
"""

from collections.abc import Iterator, Sequence

from storm_pipeline.documents.plain import iso_date, objects, plain_text, web_address
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.refusals import Refusal, unknown_format
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, SearchOptions, reject_argument, require_key
from storm_pipeline.search.paging import paged
from storm_pipeline.search.sites import with_sites
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "google",
    needs="a key in GOOGLE_API_KEY and the id of a search engine in GOOGLE_CSE_ID",
    free=True,
    returns="Google's results, one short passage each; 100 searches a day are free",
    variables=("GOOGLE_API_KEY", "GOOGLE_CSE_ID"),
    supports=frozenset({"language", "region", "since", "until"}),
)
_RATE = 1.5  # 100 a minute
_RESULTS, _MAX_PAGES = 10, 10
_MAX_CHARACTERS, _MAX_WORDS = 2048, 32  # Google ignores the rest
_CHINESE = {"cn": "lang_zh-CN", "sg": "lang_zh-CN", "tw": "lang_zh-TW", "hk": "lang_zh-TW"}
_QUOTA_USED = "the daily quota is used up; wait until midnight in California, pay for more or choose another engine"
_TOO_FAST = "too many requests; wait a little"
_REFUSALS = (
    Refusal(400, "api_key_invalid", f"set {INFO.variables[0]} to a valid key"),
    Refusal(400, "api key not valid", f"set {INFO.variables[0]} to a valid key"),
    Refusal(403, "dailylimitexceeded", _QUOTA_USED),
    Refusal(403, "quotaexceeded", _QUOTA_USED),
    Refusal(403, "ratelimitexceeded", _TOO_FAST, transient=True),
    Refusal(429, "per day", _QUOTA_USED),
)


def open_engine(argument: str, config: EngineConfig) -> "GoogleSearch":
    """The engine of the specification ``google``."""
    reject_argument("google", argument)
    return GoogleSearch(rate=config.rate or _RATE, options=config.options)


class GoogleSearch:
    """Searches with a Programmable Search Engine; one short passage per page, at most 100 pages.

    Takes one request for every ten pages.

    Args:
        key: the API key; by default the environment variable ``GOOGLE_API_KEY``.
        engine_id: the search engine's id (``cx``); by default the environment variable ``GOOGLE_CSE_ID``.
        base_url: full URL of the search endpoint.
        patience: time limits.
        rate: requests a second (the service allows 100 a minute).
        options: language, region and publication dates are sent as parameters, domains as query operators.

    Raises:
        SettingsError: the key or the engine id is missing, or the key is malformed.
    """

    name = "google"

    def __init__(
        self,
        key: str | None = None,
        engine_id: str | None = None,
        *,
        base_url: str = "https://customsearch.googleapis.com/customsearch/v1",
        patience: Patience | None = None,
        rate: float = _RATE,
        options: SearchOptions | None = None,
    ) -> None:
        key_name, engine_name = INFO.variables
        key = require_key("google", key_name, "console.cloud.google.com", key)
        self._engine_id = require_key("google", engine_name, "programmablesearchengine.google.com", engine_id)
        self._options = options or SearchOptions()
        self._option_params = _option_params(self._options)
        self._client = ApiClient(
            "google",
            base_url,
            rate=Rate(rate),
            headers={"X-Goog-Api-Key": key},  # as a query parameter it would appear in URL logs
            remedies={
                400: f"check that {engine_name} is the id of a search engine",
                401: f"set {key_name} to a valid key",
                403: f"enable the Custom Search API for the project of {key_name} at console.cloud.google.com",
                404: f"check that {engine_name} is the id of a search engine",
            },
            refusals=_REFUSALS,
            patience=patience,
        )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` pages, best first, one passage each; see the protocol.

        Raises:
            SearchError: the request to Google failed, or its response has an unknown format.
        """
        query = with_sites(query, self._options, limit=_MAX_CHARACTERS, words=_MAX_WORDS)
        if not query or k < 1:
            return ()
        size = min(k, _RESULTS)
        return paged(lambda number: self._fetch_page(query, size, number), k, size=size, max_pages=_MAX_PAGES)

    def _fetch_page(self, query: str, size: int, number: int) -> Iterator[Snippet]:
        params: dict[str, str | int] = {
            "cx": self._engine_id,
            "q": query,
            "num": size,
            "start": number * size + 1,
        }
        answer = self._client.get_json(params | self._option_params)
        if not isinstance(answer, dict) or not {"items", "searchInformation"} & answer.keys():
            raise unknown_format("google")
        for hit in objects(answer.get("items")):
            if (url := web_address(hit.get("link"))) and (text := plain_text(hit.get("snippet"))):
                published = _published(hit.get("pagemap"))
                yield Snippet(url, plain_text(hit.get("title")), text, published=published, engine=self.name)


def _option_params(options: SearchOptions) -> dict[str, str | int]:
    """Request parameters set by the options."""
    params: dict[str, str | int] = {}
    region = (options.region or "").casefold()
    if options.language:
        language = options.language.casefold()
        params["lr"] = _CHINESE.get(region, "lang_zh-CN") if language == "zh" else f"lang_{language}"
    if region:
        params["gl"] = region
    if period := options.period():
        params["sort"] = "date:r:{:%Y%m%d}:{:%Y%m%d}".format(*period)
    return params


def _published(pagemap: object) -> str | None:
    """The publication date in the page's own metadata, if Google returns it."""
    tags = objects(pagemap.get("metatags")) if isinstance(pagemap, dict) else []
    return next((day for tag in tags if (day := iso_date(tag.get("article:published_time")))), None)
