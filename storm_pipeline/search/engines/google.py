"""Google's Programmable Search Engine, through its Custom Search JSON API. Needs a key and an engine of one's own.

Google gives keys to no new customers and ends the service for others on 2027-01-01; ``serper`` finds the same.
"""

from collections.abc import Iterator, Sequence

from storm_pipeline.documents.plain import iso_date, objects, plain_text, web_address
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.refusals import Refusal, unknown_form
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.opening import EngineInfo, Opening, SearchOptions, needed_key, no_argument
from storm_pipeline.search.paging import paged
from storm_pipeline.search.sites import with_sites
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "google",
    needs="a key in GOOGLE_API_KEY and the id of a search engine in GOOGLE_CSE_ID",
    free=True,
    returns="Google's results, one short passage each; 100 searches a day are free",
    variables=("GOOGLE_API_KEY", "GOOGLE_CSE_ID"),
    honours=frozenset({"language", "region", "since", "until"}),
)
_RATE = 1.5  # 100 a minute
_RESULTS, _MOST_PAGES = 10, 10
_MOST_CHARACTERS, _MOST_WORDS = 2048, 32  # Google looks at no more
_CHINESE = {"cn": "lang_zh-CN", "sg": "lang_zh-CN", "tw": "lang_zh-TW", "hk": "lang_zh-TW"}
_USED_UP = (
    "the searches of this day are used up; wait until midnight in California, pay for more or choose another engine"
)
_TOO_FAST = "too many requests; wait a little"
_REFUSALS = (
    Refusal(400, "api_key_invalid", f"set {INFO.variables[0]} to a valid key"),
    Refusal(400, "api key not valid", f"set {INFO.variables[0]} to a valid key"),
    Refusal(403, "dailylimitexceeded", _USED_UP),
    Refusal(403, "quotaexceeded", _USED_UP),
    Refusal(403, "ratelimitexceeded", _TOO_FAST, passes=True),
    Refusal(429, "per day", _USED_UP),
)


def open_engine(argument: str, opening: Opening) -> "GoogleSearch":
    """The engine of the specification ``google``."""
    no_argument("google", argument)
    return GoogleSearch(rate=opening.rate or _RATE, options=opening.options)


class GoogleSearch:
    """Searches with a Programmable Search Engine; one short passage a page, 100 pages at most.

    Every ten pages wanted are a request.

    Args:
        key: the API key; by default the environment variable ``GOOGLE_API_KEY``.
        engine_id: the search engine's id (``cx``); by default the environment variable ``GOOGLE_CSE_ID``.
        base_url: full address of the search end point.
        patience: time limits.
        rate: requests a second (the service allows 100 a minute).
        options: language, region and days of publication are passed on, domains as operators of the query.

    Raises:
        SettingsError: there is no key or no engine, or the key can't be one.
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
        key = needed_key("google", key_name, "console.cloud.google.com", key)
        self._engine_id = needed_key("google", engine_name, "programmablesearchengine.google.com", engine_id)
        self._options = options or SearchOptions()
        self._chosen = _chosen(self._options)
        self._client = ApiClient(
            "google",
            base_url,
            rate=Rate(rate),
            headers={"X-Goog-Api-Key": key},  # as a parameter it would be in every log of addresses
            remedies={
                400: f"check that {engine_name} is the id of a search engine",
                401: f"set {key_name} to a valid key",
                403: f"allow the Custom Search API for the project of {key_name} at console.cloud.google.com",
                404: f"check that {engine_name} is the id of a search engine",
            },
            refusals=_REFUSALS,
            patience=patience,
        )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` pages, best first, a passage each; see the protocol.

        Raises:
            SearchError: Google could not be asked, or answered in a form that is not known.
        """
        query = with_sites(query, self._options, limit=_MOST_CHARACTERS, words=_MOST_WORDS)
        if not query or k < 1:
            return ()
        size = min(k, _RESULTS)
        return paged(lambda number: self._found(query, size, number), k, size=size, most=_MOST_PAGES)

    def _found(self, query: str, size: int, number: int) -> Iterator[Snippet]:
        asked: dict[str, str | int] = {
            "cx": self._engine_id,
            "q": query,
            "num": size,
            "start": number * size + 1,
        }
        answer = self._client.get_json(asked | self._chosen)
        if not isinstance(answer, dict) or not {"items", "searchInformation"} & answer.keys():
            raise unknown_form("google")
        for hit in objects(answer.get("items")):
            if (url := web_address(hit.get("link"))) and (text := plain_text(hit.get("snippet"))):
                published = _published(hit.get("pagemap"))
                yield Snippet(url, plain_text(hit.get("title")), text, published=published, engine=self.name)


def _chosen(options: SearchOptions) -> dict[str, str | int]:
    """The part of a request that options decide."""
    chosen: dict[str, str | int] = {}
    region = (options.region or "").casefold()
    if options.language:
        language = options.language.casefold()
        chosen["lr"] = _CHINESE.get(region, "lang_zh-CN") if language == "zh" else f"lang_{language}"
    if region:
        chosen["gl"] = region
    if period := options.period():
        chosen["sort"] = "date:r:{:%Y%m%d}:{:%Y%m%d}".format(*period)
    return chosen


def _published(pagemap: object) -> str | None:
    """The day of publication that the page itself tells, where Google passes it on."""
    tags = objects(pagemap.get("metatags")) if isinstance(pagemap, dict) else []
    return next((day for tag in tags if (day := iso_date(tag.get("article:published_time")))), None)
