"""Brave Search: an independent web index. Needs a key."""

from collections.abc import Iterator, Sequence
from html import unescape

from storm_pipeline.documents.plain import iso_date, objects, plain_text, texts, web_address
from storm_pipeline.errors import SettingsError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.refusals import Refusal, unknown_format
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, SearchOptions, reject_argument, require_key
from storm_pipeline.search.paging import paged
from storm_pipeline.search.sites import with_sites
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "brave",
    needs="a key in BRAVE_API_KEY",
    free=False,
    returns="pages of the web, up to six passages each",
    variables=("BRAVE_API_KEY",),
    supports=frozenset({"language", "region", "since", "until"}),
)
_RATE = 1.0  # limit of the smallest plan
_MAX_RESULTS, _MAX_PAGES = 20, 10
_MAX_CHARACTERS, _MAX_WORDS = 400, 50
_REGIONS = frozenset(
    "ar at au be br ca ch cl cn de dk es fi fr gb hk id in it jp kr mx my nl no nz "
    "ph pl pt ru sa se tr tw us za".split()
)
_LANGUAGES = {
    code: code
    for code in "ar bg bn ca cs da de en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nb nl pa pl ro ru "
    "sk sl sr sv ta te th tr uk vi".split()
} | {"ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans"}  # Brave's own spellings
_REFUSED = f"set {INFO.variables[0]} to a valid key"
_REFUSALS = (
    Refusal(422, "subscription_token_invalid", _REFUSED),
    Refusal(422, "x-subscription-token", _REFUSED),
    Refusal(404, "subscription_not_found", f"{_REFUSED} of a plan that offers web search"),
    Refusal(
        400, "option_not_in_plan", "the plan of this key does not include a requested option; choose a larger plan"
    ),
    Refusal(429, "quota_limited", "the plan's searches for this month are used up; raise it or choose another engine"),
)


def open_engine(argument: str, config: EngineConfig) -> "BraveSearch":
    """The engine of the specification ``brave``."""
    reject_argument("brave", argument)
    return BraveSearch(rate=config.rate or _RATE, options=config.options)


class BraveSearch:
    """Searches the web through Brave; the description and extra snippets of a page, at most 200 pages.

    Args:
        key: the API key; by default the environment variable ``BRAVE_API_KEY``.
        base_url: full URL of the search endpoint.
        patience: time limits.
        rate: requests a second (the smallest plan allows 1).
        options: language, region and publication dates are sent as parameters, domains as query operators.

    Raises:
        SettingsError: the key is missing or malformed, or Brave does not support the language or region.
    """

    name = "brave"

    def __init__(
        self,
        key: str | None = None,
        *,
        base_url: str = "https://api.search.brave.com/res/v1/web/search",
        patience: Patience | None = None,
        rate: float = _RATE,
        options: SearchOptions | None = None,
    ) -> None:
        key = require_key("brave", INFO.variables[0], "api-dashboard.search.brave.com", key)
        self._options = options or SearchOptions()
        self._option_params = _option_params(self._options)
        self._client = ApiClient(
            "brave",
            base_url,
            rate=Rate(rate),
            headers={"X-Subscription-Token": key, "Accept": "application/json"},
            remedies={401: _REFUSED, 403: f"{_REFUSED}; this one may not use the search service"},
            refusals=_REFUSALS,
            patience=patience,
        )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` pages, best first, each with the passages that Brave returns; see the protocol.

        Raises:
            SearchError: the request to Brave failed, or its response has an unknown format.
        """
        query = with_sites(query, self._options, limit=_MAX_CHARACTERS, words=_MAX_WORDS)
        if not query or k < 1:
            return ()
        size = min(k, _MAX_RESULTS)
        return paged(lambda number: self._fetch_page(query, size, number), k, size=size, max_pages=_MAX_PAGES)

    def _fetch_page(self, query: str, size: int, number: int) -> Iterator[Snippet]:
        params: dict[str, str | int] = {
            "q": query,
            "count": size,
            "offset": number,  # counts pages of results
            "text_decorations": "false",
            "extra_snippets": "true",
        }
        answer = self._client.get_json(params | self._option_params)
        if not isinstance(answer, dict) or (answer.get("type") != "search" and "web" not in answer):
            raise unknown_format("brave")
        web = answer.get("web")
        for hit in objects(web.get("results") if isinstance(web, dict) else None):
            title, published = plain_text(hit.get("title")), iso_date(hit.get("page_age"))
            if url := web_address(hit.get("url")):
                for text in texts([hit.get("description"), *texts(hit.get("extra_snippets"))]):
                    yield Snippet(url, unescape(title), unescape(text), published=published, engine=self.name)


def _option_params(options: SearchOptions) -> dict[str, str | int]:
    """Request parameters set by the options."""
    region = (options.region or "all").casefold()
    if region not in _REGIONS | {"all"}:
        raise SettingsError(f"the search engine `brave` does not support the region {options.region!r}; leave it out")
    params: dict[str, str | int] = {"country": region.upper()}
    if options.language:
        language = _LANGUAGES.get(options.language.casefold())
        if language is None:
            raise SettingsError(
                f"the search engine `brave` does not support the language {options.language!r}; leave it out"
            )
        params["search_lang"] = language
    if period := options.period():
        params["freshness"] = "{}to{}".format(*period)
    return params
