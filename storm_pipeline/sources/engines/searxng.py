"""SearXNG: a self-hosted metasearch engine. No key; needs an instance with JSON output enabled."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.sources.search.engine_info import EngineConfig, EngineInfo
from storm_pipeline.sources.search.paging import best_passages, collect_pages
from storm_pipeline.sources.search.web_service import WebService, WebServiceSearch, list_at
from storm_pipeline.sources.transport.refusals import unknown_format
from storm_pipeline.text.configuration.addresses import is_web_address, redact
from storm_pipeline.text.configuration.variables import variable
from storm_pipeline.text.plain import iso_date, objects, one_line, plain_text, web_address
from storm_pipeline.types import Snippet

_URL = "SEARXNG_URL"
INFO = EngineInfo(
    "searxng[:URL]",
    needs=f"an instance with JSON output enabled, as URL or in {_URL}",
    free=True,
    returns="pages of the web, one short passage each",
    variables=(_URL,),
    supports=frozenset({"language"}),
)
_MAX_PAGES = 3


def _find(engine: WebServiceSearch, query: str, k: int) -> Sequence[Snippet]:
    query = one_line(query)
    most = _MAX_PAGES if query else 0
    return best_passages(collect_pages(lambda number: _page(engine, query, number + 1), k, size=1, max_pages=most), k)


def _page(engine: WebServiceSearch, query: str, page: int) -> Iterator[Snippet]:
    answer = engine.client.get_json({"q": query, "format": "json", "pageno": page} | engine.params)
    if (results := list_at(answer, "results")) is None:
        raise unknown_format(engine.name)
    if not results and page == 1 and (unresponsive := _unresponsive_engines(answer)):
        raise SearchError(
            f"searxng got no response from its upstream engines ({unresponsive}); enable others in its settings.yml"
        )
    for hit in objects(results):
        if (url := web_address(hit.get("url"))) and (text := plain_text(hit.get("content"))):
            published = iso_date(hit.get("publishedDate"))
            yield Snippet(url, plain_text(hit.get("title")), text, published=published, engine=engine.name)


def _unresponsive_engines(answer: Mapping[str, Any]) -> str:
    entries = (list_at(answer, "unresponsive_engines") or [])[:5]
    return ", ".join(": ".join(map(plain_text, entry)) for entry in entries if isinstance(entry, list))[:300]


def searxng(address: str = "") -> WebService:
    """Return the service of the instance at an address such as ``http://localhost:8080``, by default ``SEARXNG_URL``.

    Raises SettingsError: no address, or it is not a web address.
    """
    address = (address or variable(_URL)).strip()
    if not is_web_address(address):
        problem = f"{redact(repr(address))} is not one" if address else "none was given"
        raise SettingsError(
            f"the search engine `searxng` needs the address of an instance and {problem}: "
            f"write searxng:http://localhost:8080, or set {_URL}"
        )
    return WebService(
        INFO,
        address=address.rstrip("/").removesuffix("/search") + "/search",
        rate=2.0,  # the upstream engines block frequent requests
        concurrent=2,
        options=lambda options: {"language": options.language or "all"},
        find=_find,
        remedies={
            403: "JSON output is disabled; add `json` under search.formats in its settings.yml",
            401: "the instance requires a login; use one that does not",
            429: "its bot limiter refuses this client; allow this machine in its limiter.toml or wait",
        },
    )


def open_engine(argument: str, config: EngineConfig) -> WebServiceSearch:
    """Open the engine of ``searxng`` or ``searxng:URL``."""
    return WebServiceSearch(searxng(argument), options=config.options, rate=config.rate)
