"""Search engine for a web service, from a declaration of its wire format."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from storm_pipeline.errors import SettingsError
from storm_pipeline.run.retrying import Patience
from storm_pipeline.sources.search.engine_info import EngineConfig, EngineInfo, SearchOptions, reject_argument
from storm_pipeline.sources.search.paging import collect_pages
from storm_pipeline.sources.search.queries import bare_words, join_words, with_sites
from storm_pipeline.sources.transport.gates import Rate
from storm_pipeline.sources.transport.http import ApiClient
from storm_pipeline.sources.transport.refusals import Refusal, unknown_format
from storm_pipeline.text.configuration.variables import variable
from storm_pipeline.text.plain import objects, plain_text, web_address
from storm_pipeline.types import Snippet

Hit = Mapping[str, Any]  # a result in the service's JSON


def without_empty(**params: object) -> dict[str, Any]:
    """Return the parameters with a value."""
    return {name: value for name, value in params.items() if value}


def list_at(answer: object, *names: str) -> Any:
    """Return the list at this path of fields in a JSON answer; None if missing."""
    for name in names:
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer if isinstance(answer, list) else None


@dataclass(frozen=True)
class WebService:
    """Declaration of a service: its requests, answers and limits."""

    info: EngineInfo
    _: KW_ONLY
    address: str  # base URL
    rate: float  # requests per second of its smallest plan
    concurrent: int = 32  # maximum concurrent requests
    with_key: Rate | None = None  # its limits with a key, if the key is optional
    key_from: str = ""  # where to get its key; empty if it needs none
    key_parameter: str = ""  # name of the parameter with the key, if it is sent as one
    headers: Mapping[str, str] = field(default_factory=dict)  # headers with a key in place of ``{}``
    # options → further parameters; raises SettingsError for unsupported options
    options: Callable[[SearchOptions], dict[str, Any]] = lambda _: {}
    # HTTP status → remedy, besides those for refused keys and the general ones
    remedies: Mapping[int, str] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()  # error responses identified by their text
    name: str = ""  # name of the service in messages; by default the engine's
    # engine, query, ``k`` >= 1 → up to ``k`` pages, best first; None for a service that answers with a list of JSON
    # objects, whose wire format follows
    find: Callable[["WebServiceSearch", str, int], Iterable[Snippet]] | None = None
    path: str = ""  # path of a POST endpoint; empty for GET
    # query, number of web pages, number of the answer from 0 → parameters
    request: Callable[[str, int, int], dict[str, Any]] = lambda *_: {}
    page: int = 1  # maximum number of web pages in one answer
    answers: int = 1  # maximum number of answers to one query
    site_operators: bool = False  # whether domains are sent in the query
    characters: int = 400  # maximum length of a query
    words: int | None = None  # maximum number of words of a query; None for no limit
    is_bare: bool = False  # whether queries have no punctuation and at most 300 characters
    # the answer → its list of results; None if it is in an unknown format
    hits: Callable[[dict[str, Any]], object] = lambda answer: list_at(answer, "results")
    # a hit → its only snippet, if any, in place of the fields that follow
    snippet: Callable[[Hit], Snippet | None] | None = None
    link: str = "url"  # name of a hit's field with the address
    texts: Callable[[Hit], Sequence[str]] = lambda _: ()  # a hit → its distinct plain-text passages
    title: Callable[[Hit], str] = lambda hit: plain_text(hit.get("title"))
    published: Callable[[Hit], str | None] = lambda _: None  # a hit → its ISO date, if any
    author: Callable[[Hit], str | None] = lambda _: None

    def open_engine(self, argument: str, config: EngineConfig) -> "WebServiceSearch":
        """Open the engine; its specification is the name alone."""
        reject_argument(self.info.name, argument)
        return WebServiceSearch(self, rate=config.rate, options=config.options)


class WebServiceSearch:
    """Search by a web service.

    ``key``: the API key; by default from the environment. ``base_url``: base URL of a gateway or a local server instead
    of the service's. ``rate``: requests per second; by default the service's. ``options``: sent if the service has
    parameters or operators for them. Raises SettingsError: the key is missing or malformed, or an option's value is not
    supported.
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
        self.service, self.name = service, service.info.base_name
        self.label = service.name or self.name
        self.options = options or SearchOptions()
        name = next(iter(service.info.variables if service.key_from else service.info.optional_variables), "")
        self.key = (key or (variable(name) if name else "")).strip()
        if service.key_from and not self.key:
            raise SettingsError(
                f"no key set for the search engine `{self.name}`: set {name} to one from {service.key_from}"
            )
        self.params = service.options(self.options)
        if service.key_parameter and self.key:
            self.params |= {service.key_parameter: self.key}
        allowed = (service.with_key if self.key else None) or Rate(service.rate, concurrent=service.concurrent)
        self.client = ApiClient(
            self.label,
            (base_url or service.address).rstrip("/"),
            rate=replace(allowed, per_second=rate or allowed.per_second),
            headers={header: value.replace("{}", self.key) for header, value in service.headers.items() if self.key},
            remedies=self._key_remedies(name) | dict(service.remedies),
            refusals=service.refusals,
            patience=patience,
        )

    def _key_remedies(self, name: str) -> dict[int, str]:
        if self.service.key_from:
            return {401: (fix := f"set {name} to a valid key"), 403: f"{fix}; this one may not use the search service"}
        refused = f"set {name} to a valid key, or unset it to search without one"
        crowded = "too many requests; lower the number of searches at once"
        return {401: refused, 403: refused, 429: crowded if self.key else f"{crowded}, or set {name}"} if name else {}

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Return up to ``k`` pages, best first; see the protocol."""
        service = self.service
        if k < 1:
            return ()
        if service.find:
            return tuple(service.find(self, query, k))
        if service.is_bare:
            query = join_words(bare_words(query), " ")
        else:
            sites = self.options if service.site_operators else SearchOptions()
            query = with_sites(query, sites, limit=service.characters, words=service.words)
        if not query:
            return ()
        size = min(k, service.page)
        return collect_pages(lambda number: self._page(query, size, number), k, size=size, max_pages=service.answers)

    def _page(self, query: str, size: int, number: int) -> Iterator[Snippet]:
        service = self.service
        params = service.request(query, size, number) | self.params
        answer = self.client.post_json(params, service.path) if service.path else self.client.get_json(params)
        hits = service.hits(answer) if isinstance(answer, dict) else None
        if hits is None:
            raise unknown_format(self.label)
        for hit in objects(hits):
            if service.snippet:
                if snippet := service.snippet(hit):
                    yield snippet
            elif url := web_address(hit.get(service.link)):
                title, published, author = service.title(hit), service.published(hit), service.author(hit)
                for text in service.texts(hit):
                    yield Snippet(url, title, text, published=published, engine=self.name, author=author)
