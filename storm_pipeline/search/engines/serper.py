"""Serper: Google's results as JSON. Needs a key."""

import datetime
from collections.abc import Iterator, Sequence

from storm_pipeline.documents.plain import objects, plain_text, web_address
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.refusals import Refusal, unknown_form
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.opening import EngineInfo, Opening, SearchOptions, needed_key, no_argument
from storm_pipeline.search.paging import paged
from storm_pipeline.search.sites import with_sites
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "serper",
    needs="a key in SERPER_API_KEY",
    free=False,
    returns="Google's results, one short passage each",
    variables=("SERPER_API_KEY",),
    honours=frozenset({"language", "region", "since", "until"}),
)
_RATE = 50.0  # of the smallest plan
_RESULTS, _MOST_PAGES = 10, 10  # more results on a page cost more
_MOST_CHARACTERS, _MOST_WORDS = 2048, 32  # Google looks at no more
_REFUSALS = (
    Refusal(
        400, "not enough credits", "the account has no credits left; buy some at serper.dev or choose another engine"
    ),
)


def open_engine(argument: str, opening: Opening) -> "SerperSearch":
    """The engine of the specification ``serper``."""
    no_argument("serper", argument)
    return SerperSearch(rate=opening.rate or _RATE, options=opening.options)


class SerperSearch:
    """Searches Google through Serper; one short passage a page, 100 pages at most.

    Every ten pages wanted are a request, which costs a credit.

    Args:
        key: the API key; by default the environment variable ``SERPER_API_KEY``.
        base_url: address of the service, without ``/search``.
        patience: time limits.
        rate: requests a second (the smallest plan allows 50).
        options: language, region and days of publication are passed on, domains as operators of the query.

    Raises:
        SettingsError: there is no key, or it can't be one.
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
        key = needed_key("serper", INFO.variables[0], "serper.dev", key)
        self._options = options or SearchOptions()
        self._chosen = _chosen(self._options)
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
        """Up to ``k`` pages, best first, a passage each; see the protocol.

        Raises:
            SearchError: Serper could not be asked, or answered in a form that is not known.
        """
        query = with_sites(query, self._options, limit=_MOST_CHARACTERS, words=_MOST_WORDS)
        if not query or k < 1:
            return ()
        return paged(lambda number: self._found(query, number + 1), k, size=_RESULTS, most=_MOST_PAGES)

    def _found(self, query: str, page: int) -> Iterator[Snippet]:
        asked: dict[str, str | int] = {"q": query, "num": _RESULTS, "page": page}
        answer = self._client.post_json(asked | self._chosen, "/search")
        if not isinstance(answer, dict) or not {"organic", "searchParameters"} & answer.keys():
            raise unknown_form("serper")
        for hit in objects(answer.get("organic")):
            if (url := web_address(hit.get("link"))) and (text := plain_text(hit.get("snippet"))):
                published = _day(hit.get("date"))
                yield Snippet(url, plain_text(hit.get("title")), text, published=published, engine=self.name)


def _chosen(options: SearchOptions) -> dict[str, str | int]:
    """The part of a request that options decide."""
    chosen: dict[str, str | int] = {}
    if options.language:
        chosen["hl"] = options.language.casefold()
    if options.region:
        chosen["gl"] = options.region.casefold()
    if period := options.period():
        first, last = (f"{day.month}/{day.day}/{day.year}" for day in period)
        chosen["tbs"] = f"cdr:1,cd_min:{first},cd_max:{last}"
    return chosen


def _day(value: object) -> str | None:
    """The ISO date of what Google writes as ``Mar 3, 2024``; None for anything else (``2 days ago``)."""
    try:
        return datetime.datetime.strptime(plain_text(value), "%b %d, %Y").date().isoformat()
    except ValueError:
        return None
