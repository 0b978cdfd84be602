"""DuckDuckGo by the package ddgs, which scrapes its result pages. No key; strict rate limits."""

from collections.abc import Iterator, Sequence
from typing import Any, cast
from urllib.parse import urljoin, urlsplit

from storm_pipeline.errors import SearchError, needs_extra
from storm_pipeline.run.retrying import RETRIED_STATUSES, Patience, TransientError
from storm_pipeline.sources.search.edge import LONGEST_TITLE
from storm_pipeline.sources.search.engine_info import EngineConfig, EngineInfo, SearchOptions, code_of, reject_argument
from storm_pipeline.sources.search.paging import collect_pages
from storm_pipeline.sources.search.queries import with_sites
from storm_pipeline.sources.transport.gates import Rate, gate
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.plain import plain_text, web_address
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "duckduckgo",
    needs='pip install "storm-pipeline[search]"',
    free=True,
    returns="pages of the web, one short passage each; strict rate limits",
    supports=frozenset({"region"}),
)
_RATE = 1.0
_PATIENCE = Patience(attempts=2)
_RESULTS = 10
_MAX_PAGES = 5
_MAX_CHARACTERS = 400
_BOT = "it treats this client as a bot; wait some minutes, search less often or choose another engine"
_BOT_STATUSES = frozenset({202, 403, 418, 429})
_BOT_MARKERS = ("challenge-form", "anomaly-modal")
_ANYWHERE = "wt-wt"
_TABLE = table_beside(__file__)
_REGIONS = {code[:2]: code for code in _TABLE["regions"].split()} | _TABLE["spellings"]


def open_engine(argument: str, config: EngineConfig) -> "DuckDuckGoSearch":
    """Open the engine of the specification ``duckduckgo``."""
    reject_argument("duckduckgo", argument)
    return DuckDuckGoSearch(rate=config.rate or _RATE, options=config.options)


class DuckDuckGoSearch:
    """Web search through DuckDuckGo's HTML page; one short passage per page, at most 50 pages.

    ``patience``: time limits; ``read`` bounds a whole response. ``rate``: requests per second, not concurrent. Raises
    MissingExtraError: the package ddgs is not installed; SettingsError: DuckDuckGo does not support the region.
    """

    name = "duckduckgo"
    max_bytes = 10_000_000  # of an answer

    def __init__(
        self,
        *,
        base_url: str = "https://html.duckduckgo.com/html/",
        patience: Patience | None = None,
        rate: float = _RATE,
        options: SearchOptions | None = None,
    ) -> None:
        self._options = options or SearchOptions()
        region = self._options.region
        self._region = code_of(self.name, "region", region, _REGIONS) if region else _ANYWHERE
        self._patience, self._address = patience or _PATIENCE, base_url
        with needs_extra("search", "the search engine `duckduckgo`"):
            from ddgs.engines.duckduckgo import Duckduckgo
        self._library: Any = cast("Any", Duckduckgo)(timeout=self._patience.read)
        # the library removes tags in time that grows with the square of a text's length
        self._library.items_xpath = f"({Duckduckgo.items_xpath})[position() <= {_RESULTS * _MAX_PAGES}]"
        path_of = {name: Duckduckgo.elements_xpath[name].removesuffix("//text()") for name in ("title", "body")}
        cut = {name: f"substring({path}, 1, {2 * LONGEST_TITLE})" for name, path in path_of.items()}
        self._library.elements_xpath = {**Duckduckgo.elements_xpath, **cut}
        self._gate = gate("duckduckgo", urlsplit(base_url).netloc, Rate(rate, concurrent=1))

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Return up to ``k`` pages, best first, one passage each; see the protocol."""
        query = with_sites(query, self._options, limit=_MAX_CHARACTERS)
        if not query or k < 1:
            return ()
        return collect_pages(lambda number: self._fetch_page(query, number + 1), k, size=_RESULTS, max_pages=_MAX_PAGES)

    def _fetch_page(self, query: str, page: int) -> Iterator[Snippet]:
        for hit in self._gate.call(lambda: self._hits(query, page), self._patience):
            if (url := _target(hit.href)) and (text := plain_text(hit.body)):
                yield Snippet(url, plain_text(hit.title), text, engine=self.name)

    def _hits(self, query: str, page: int) -> list[Any]:
        """Fetch a result page once, with the library's payload, client and parser."""
        from lxml.etree import LxmlError

        payload = self._library.build_payload(query, self._region, safesearch="moderate", timelimit=None, page=page)
        text = self._request(payload)
        try:
            hits: list[Any] = self._library.post_extract_results(self._library.extract_results(text))
        except (LxmlError, ValueError):
            hits = []
        if hits or "No results" in plain_text(text):
            return hits
        if any(marker in text for marker in _BOT_MARKERS):
            raise SearchError(f"duckduckgo asks for proof of being human: {_BOT}")
        raise SearchError("duckduckgo answered with an unknown page; update the package ddgs")

    def _request(self, payload: dict[str, Any]) -> str:
        import primp

        received, client = bytearray(), self._library.http_client.client  # the outer one reads answers of any size
        try:
            response = client.request("POST", self._address, data=payload, stream=True)
            for piece in response.iter_bytes():
                received += piece
                if len(received) > self.max_bytes:
                    raise SearchError(f"duckduckgo answered with more than {self.max_bytes:,} bytes; try again later")
        except primp.PrimpError as error:
            is_late = isinstance(error, primp.TimeoutError)
            what = "did not answer in time" if is_late else "could not be reached or closed the connection"
            raise TransientError(f"duckduckgo {what}; check the network or try again later") from error
        if (status := response.status_code) == 200:
            return received.decode("utf-8", "replace")
        is_transient = status in RETRIED_STATUSES - _BOT_STATUSES
        remedy = _BOT if status in _BOT_STATUSES else "try again later or choose another engine"
        raise (TransientError if is_transient else SearchError)(f"duckduckgo answered {status}: {remedy}")


def _target(href: object) -> str:
    """Return the target URL of a result, unwrapped from DuckDuckGo's redirect; empty for an advert."""
    link = plain_text(href)
    url = web_address(urljoin("https://duckduckgo.com/", link)) if link else ""
    parts = urlsplit(url)
    if parts.hostname != "duckduckgo.com" or parts.path not in {"/l/", "/y.js"}:
        return url
    # The library has unquoted the whole URL, so parse_qs would split the target's query.
    return web_address(link.partition("uddg=")[2].partition("&rut=")[0])
