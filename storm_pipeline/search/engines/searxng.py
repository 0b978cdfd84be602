"""SearXNG: a self-hosted metasearch engine. No key; needs an instance with JSON output enabled."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storm_pipeline.configuration.addresses import is_web_address, redacted
from storm_pipeline.configuration.variables import variable
from storm_pipeline.documents.plain import iso_date, objects, one_line, plain_text, web_address
from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo
from storm_pipeline.search.paging import one_per_page, paged
from storm_pipeline.types import Snippet

URL_VARIABLE = "SEARXNG_URL"
INFO = EngineInfo(
    "searxng[:URL]",
    needs=f"an instance with JSON output enabled, as URL or in {URL_VARIABLE}",
    free=True,
    returns="pages of the web, one short passage each",
    variables=(URL_VARIABLE,),
    supports=frozenset({"language"}),
)
_MAX_PAGES = 3


def open_engine(argument: str, config: EngineConfig) -> "SearxngSearch":
    """The engine of ``searxng`` or ``searxng:URL``."""
    return SearxngSearch(argument or None, language=config.options.language or "all", rate=config.rate or 2.0)


class SearxngSearch:
    """Searches the web through a SearXNG instance; one short passage a page.

    Args:
        base_url: address of the instance, e.g. ``http://localhost:8080``; by default the variable ``SEARXNG_URL``.
        language: language code of the results, ``all`` for any.
        rate: requests a second (the upstream engines block frequent requests).

    Raises:
        SettingsError: there is no address, or it is not a web address.
    """

    name = "searxng"

    def __init__(
        self, base_url: str | None = None, *, language: str = "all", patience: Patience | None = None, rate: float = 2.0
    ) -> None:
        given = (base_url or variable(URL_VARIABLE)).strip()
        if not is_web_address(given):
            problem = f"{redacted(repr(given))} is not one" if given else "none was given"
            raise SettingsError(
                f"the search engine `searxng` needs the address of an instance and {problem}: "
                f"write searxng:http://localhost:8080, or set {URL_VARIABLE}"
            )
        self._language = language
        self._client = ApiClient(
            "searxng",
            given.rstrip("/").removesuffix("/search") + "/search",
            rate=Rate(rate, concurrent=2),
            remedies={
                403: "JSON output is disabled; add `json` under search.formats in its settings.yml",
                401: "the instance requires a login; use one that does not",
                429: "its bot limiter refuses this client; allow this machine in its limiter.toml or wait",
            },
            patience=patience,
        )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` pages with text, best first, one snippet each, of up to 3 pages of results; see the protocol."""
        query = one_line(query)
        if not query or k < 1:
            return ()
        found = paged(lambda number: self._page(query, number + 1), k, size=1, max_pages=_MAX_PAGES)
        return one_per_page(found, k)

    def _page(self, query: str, page: int) -> Iterator[Snippet]:
        params: dict[str, str | int] = {"q": query, "format": "json", "pageno": page, "language": self._language}
        answer = self._client.get_json(params)
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list):
            raise SearchError("searxng answered with JSON in an unknown format; check the address of the instance")
        if not results and page == 1 and (unresponsive := _unresponsive_engines(answer)):
            raise SearchError(
                f"searxng got no response from its upstream engines ({unresponsive}); enable others in its settings.yml"
            )
        for hit in objects(results):
            if (url := web_address(hit.get("url"))) and (text := plain_text(hit.get("content"))):
                published = iso_date(hit.get("publishedDate"))
                yield Snippet(url, plain_text(hit.get("title")), text, published=published, engine=self.name)


def _unresponsive_engines(answer: Mapping[str, Any]) -> str:
    """The upstream engines that did not respond and why, as the instance lists them."""
    listed = answer.get("unresponsive_engines")
    if not isinstance(listed, list):
        return ""
    return ", ".join(": ".join(map(plain_text, entry)) for entry in listed[:5] if isinstance(entry, list))
