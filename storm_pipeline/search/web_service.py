"""The engine of a web search service that takes a key and answers with JSON, by a table of its wire format."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from storm_pipeline.configuration.variables import variable
from storm_pipeline.documents.plain import objects, plain_text, web_address
from storm_pipeline.errors import SettingsError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.refusals import Refusal, unknown_format
from storm_pipeline.net.retrying import Patience
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, SearchOptions, reject_argument
from storm_pipeline.search.paging import paged
from storm_pipeline.search.queries import with_sites
from storm_pipeline.types import Snippet

Hit = Mapping[str, Any]
"""A result of a service, an object of its JSON."""


def given(**params: object) -> dict[str, Any]:
    """Those parameters that have a value."""
    return {name: value for name, value in params.items() if value}


@dataclass(frozen=True)
class WebService:
    """How a service is asked, and what its answers look like."""

    info: EngineInfo  # metadata; the first of its variables holds the key
    key_from: str  # where to get a key
    address: str  # base URL
    headers: Mapping[str, str]  # sent with each request; ``{}`` stands for the key
    rate: float  # requests a second that its smallest plan allows
    page: int  # maximum number of web pages in one answer
    # query, number of web pages, number of the answer from 0 → parameters
    request: Callable[[str, int, int], dict[str, Any]]
    hits: Callable[[dict[str, Any]], object]  # the answer → its list of results; None if it is in an unknown format
    texts: Callable[[Hit], Sequence[str]]  # a hit → its passages, plain and distinct
    answers: int = 1  # maximum number of answers to one query
    path: str = ""  # of the endpoint of a service that is asked by POST; empty for one that is asked by GET
    # options → further parameters; raises SettingsError for what the service does not offer
    options: Callable[[SearchOptions], dict[str, Any]] = lambda _: {}
    site_operators: bool = False  # whether domains are sent in the query
    characters: int = 400  # maximum length of a query
    words: int | None = None  # maximum number of words of a query; None for no limit
    link: str = "url"  # name of a hit's field that has the address
    title: Callable[[Hit], str] = lambda hit: plain_text(hit.get("title"))  # a hit → its title
    published: Callable[[Hit], str | None] = lambda _: None  # a hit → its ISO date, if it states one
    author: Callable[[Hit], str | None] = lambda _: None  # a hit → its author, if it states one
    name: str = ""  # of the service in messages; by default the engine's
    # HTTP status → what to do about it, besides a refused key and the general ones
    remedies: Mapping[int, str] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()  # error responses that are identified by their text

    def open_engine(self, argument: str, config: EngineConfig) -> "WebServiceSearch":
        """The engine of a specification, which is its name alone."""
        reject_argument(self.info.name, argument)
        return WebServiceSearch(self, rate=config.rate, options=config.options)


class WebServiceSearch:
    """Searches the web through a service.

    Args:
        key: the API key; by default from the environment.
        base_url: base URL of a gateway or a local server instead of the service's.
        rate: requests a second; by default the service's.
        options: sent as far as the service has parameters or operators for them.

    Raises:
        SettingsError: the key is missing or malformed, or the service does not support an option's value.
    """

    def __init__(
        self,
        service: WebService,
        key: str | None = None,
        *,
        base_url: str | None = None,
        patience: Patience | None = None,
        rate: float | None = None,
        options: SearchOptions | None = None,
    ) -> None:
        name = service.info.variables[0]
        key = (key or variable(name)).strip()
        if not key:
            raise SettingsError(
                f"no key set for the search engine `{service.info.name}`: set {name} to one from {service.key_from}"
            )
        self.name = service.info.name
        self._service = service
        self._options = options or SearchOptions()
        self._option_params = service.options(self._options)
        self._label = service.name or service.info.name
        refused = f"set {name} to a valid key"
        self._client = ApiClient(
            self._label,
            (base_url or service.address).rstrip("/" if service.path else ""),
            rate=Rate(rate or service.rate),
            headers={name: value.replace("{}", key) for name, value in service.headers.items()},
            remedies={401: refused, 403: f"{refused}; this one may not use the search service"}
            | dict(service.remedies),
            refusals=service.refusals,
            patience=patience,
        )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Up to ``k`` pages, best first, each with the passages that the service chose; see the protocol."""
        service = self._service
        sites = self._options if service.site_operators else SearchOptions()
        query = with_sites(query, sites, limit=service.characters, words=service.words)
        if not query or k < 1:
            return ()
        size = min(k, service.page)
        return paged(lambda number: self._answer(query, size, number), k, size=size, max_pages=service.answers)

    def _answer(self, query: str, size: int, number: int) -> Iterator[Snippet]:
        service = self._service
        params = service.request(query, size, number) | self._option_params
        answer = self._client.post_json(params, service.path) if service.path else self._client.get_json(params)
        hits = service.hits(answer) if isinstance(answer, dict) else None
        if hits is None:
            raise unknown_format(self._label)
        for hit in objects(hits):
            if url := web_address(hit.get(service.link)):
                title, published, author = service.title(hit), service.published(hit), service.author(hit)
                for text in service.texts(hit):
                    yield Snippet(url, title, text, published=published, engine=self.name, author=author)
