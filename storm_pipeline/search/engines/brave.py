"""Brave Search: an index of the web of its own. Needs a key."""

from collections.abc import Iterator, Sequence
from html import unescape

from storm_pipeline.documents.plain import iso_date, objects, plain_text, texts, web_address
from storm_pipeline.errors import SettingsError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.refusals import Refusal, unknown_form
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.opening import EngineInfo, Opening, SearchOptions, needed_key, no_argument
from storm_pipeline.search.paging import paged
from storm_pipeline.search.sites import with_sites
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "brave",
    needs="a key in BRAVE_API_KEY",
    free=False,
    returns="pages of the web, up to six passages each",
    variables=("BRAVE_API_KEY",),
    honours=frozenset({"language", "region", "since", "until"}),
)
_RATE = 1.0  # of the smallest plan
_MOST_RESULTS, _MOST_PAGES = 20, 10
_MOST_CHARACTERS, _MOST_WORDS = 400, 50
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
    Refusal(400, "option_not_in_plan", "the plan of this key lacks an option that was asked for; choose a larger one"),
    Refusal(429, "quota_limited", "the plan's searches for this month are used up; raise it or choose another engine"),
)


def open_engine(argument: str, opening: Opening) -> "BraveSearch":
    """The engine of the specification ``brave``."""
    no_argument("brave", argument)
    return BraveSearch(rate=opening.rate or _RATE, options=opening.options)


class BraveSearch:
    """Searches the web through Brave; its description and further passages of a page, 200 pages at most.

    Args:
        key: the API key; by default the environment variable ``BRAVE_API_KEY``.
        base_url: full address of the search end point.
        patience: time limits.
        rate: requests a second (the smallest plan allows 1).
        options: language, region and days of publication are passed on, domains as operators of the query.

    Raises:
        SettingsError: there is no key, it can't be one, or Brave offers no such language or region.
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
        key = needed_key("brave", INFO.variables[0], "api-dashboard.search.brave.com", key)
        self._options = options or SearchOptions()
        self._chosen = _chosen(self._options)
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
        """Up to ``k`` pages, best first, each with the passages that Brave gives; see the protocol.

        Raises:
            SearchError: Brave could not be asked, or answered in a form that is not known.
        """
        query = with_sites(query, self._options, limit=_MOST_CHARACTERS, words=_MOST_WORDS)
        if not query or k < 1:
            return ()
        size = min(k, _MOST_RESULTS)
        return paged(lambda number: self._found(query, size, number), k, size=size, most=_MOST_PAGES)

    def _found(self, query: str, size: int, number: int) -> Iterator[Snippet]:
        asked: dict[str, str | int] = {
            "q": query,
            "count": size,
            "offset": number,  # counts pages of results
            "text_decorations": "false",
            "extra_snippets": "true",
        }
        answer = self._client.get_json(asked | self._chosen)
        if not isinstance(answer, dict) or (answer.get("type") != "search" and "web" not in answer):
            raise unknown_form("brave")
        web = answer.get("web")
        for hit in objects(web.get("results") if isinstance(web, dict) else None):
            title, published = plain_text(hit.get("title")), iso_date(hit.get("page_age"))
            if url := web_address(hit.get("url")):
                for text in texts([hit.get("description"), *texts(hit.get("extra_snippets"))]):
                    yield Snippet(url, unescape(title), unescape(text), published=published, engine=self.name)


def _chosen(options: SearchOptions) -> dict[str, str | int]:
    """The part of a request that options decide."""
    region = (options.region or "all").casefold()
    if region not in _REGIONS | {"all"}:
        raise SettingsError(f"the search engine `brave` offers no region {options.region!r}; leave it out")
    chosen: dict[str, str | int] = {"country": region.upper()}
    if options.language:
        language = _LANGUAGES.get(options.language.casefold())
        if language is None:
            raise SettingsError(f"the search engine `brave` offers no language {options.language!r}; leave it out")
        chosen["search_lang"] = language
    if period := options.period():
        chosen["freshness"] = "{}to{}".format(*period)
    return chosen
