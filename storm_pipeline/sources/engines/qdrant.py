"""Semantic search in a collection of the user's on a Qdrant server, through qdrant-client."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from storm_pipeline.errors import SearchError, SettingsError, needs_extra
from storm_pipeline.run.assets import EMBEDDER
from storm_pipeline.run.retrying import RETRIED_STATUSES, Patience, TransientError
from storm_pipeline.sources.search.engine_info import EngineConfig, EngineInfo, require_argument
from storm_pipeline.sources.search.paging import PASSAGES, best_passages
from storm_pipeline.sources.transport.gates import Rate, gate
from storm_pipeline.text.configuration.addresses import is_web_address, redact
from storm_pipeline.text.configuration.variables import variable
from storm_pipeline.text.plain import iso_date, one_line, page_number, plain_text
from storm_pipeline.types import Snippet

if TYPE_CHECKING:
    from qdrant_client.models import ScoredPoint

    from storm_pipeline.evidence.retrieval.embedder import Embedder

T = TypeVar("T")
KEY_VARIABLE = "QDRANT_API_KEY"
INFO = EngineInfo(
    "qdrant:SERVER#COLLECTION",
    needs=f"the extra `qdrant`, and a server (its key, if any, in {KEY_VARIABLE})",
    free=True,
    returns="passages of your own vector database, found by semantic search",
    open_web=False,
    remote=False,
    is_private=True,
)
_FORM = "qdrant:http://HOST:6333#COLLECTION"


@dataclass(frozen=True)
class Payload:
    """Names of the payload fields with a snippet's data; ``a.b`` is field ``b`` inside ``a``."""

    url: str = "url"
    title: str = "title"
    text: str = "text"
    published: str = "published"
    page: str = "page"


def open_engine(argument: str, config: EngineConfig) -> "QdrantSearch":
    """Open the engine of ``qdrant:SERVER#COLLECTION?OPTIONS``.

    Options are names of payload fields (``text=body&url=metadata.source``, see :class:`Payload`), ``vector``, the
    vector's name if a collection has several, and ``embedder``, the model that made the vectors.
    """
    place, _, rest = argument.partition("#")
    name, _, query = rest.partition("?")
    require_argument("qdrant", place and name, "a server and a collection", _FORM)
    options = dict(parse_qsl(query))
    payload_names = {field.name for field in fields(Payload)}
    if unknown := sorted(options.keys() - payload_names - {"vector", "embedder"}):
        known = ", ".join(sorted(payload_names | {"vector", "embedder"}))
        raise SettingsError(f"the search engine `qdrant` has no option {', '.join(unknown)}; it has: {known}")
    if not is_web_address(place):
        raise SettingsError(f"{redact(repr(place))} is not the address of a server: write {_FORM}")
    collection = VectorCollection(place, name, variable(KEY_VARIABLE), rate=config.rate or 50.0)
    if config.open_embedder is None:
        raise SettingsError("the search engine `qdrant` needs an embedder: give EngineConfig(open_embedder=…)")
    embedder = config.open_embedder(options.pop("embedder", EMBEDDER))
    vector = options.pop("vector", None)
    return QdrantSearch(collection, embedder, payload=replace(Payload(), **options), vector=vector)


class VectorCollection:
    """A collection for nearest-neighbour search on a server (Qdrant 1.10 or later). Thread-safe.

    Args:
        address: of the server, such as ``http://localhost:6333``.
        name: of the collection.
        key: of the server; empty if it needs none.
        rate: requests per second.

    Raises:
        MissingExtraError: qdrant-client is not installed.
        SearchError: the server refused the request or could not be reached.
    """

    def __init__(
        self, address: str, name: str, key: str = "", *, patience: Patience | None = None, rate: float = 50.0
    ) -> None:
        self.name, self._patience = name, patience or Patience()
        with needs_extra("qdrant", "a qdrant database"):
            from qdrant_client import QdrantClient

            from storm_pipeline.sources.transport.bounded import bound

        self._client = QdrantClient(
            address,
            port=None,
            timeout=max(1, round(self._patience.read)),
            headers={"Accept-Encoding": "identity"} | ({"api-key": key} if key else {}),
            check_compatibility=False,
            event_hooks={"response": [bound]},
        )
        self._gate = gate("qdrant", urlsplit(address).netloc, Rate(rate))
        vectors: Any = self._call(lambda: self._client.get_collection(name).config.params.vectors)
        named = vectors if isinstance(vectors, dict) else {"": vectors} if vectors else {}
        self.sizes: dict[str, int] = {kind: vector.size for kind, vector in named.items()}
        """Dimension by vector name; the name is empty if there is only one unnamed vector."""

    def nearest(self, vector: Sequence[float], count: int, using: str) -> "list[ScoredPoint]":
        """Return up to ``count`` points with their payloads, nearest first, by the named vector ``using``.

        Raises SearchError: the collection could not be searched.
        """
        query, using_name = list(vector), using or None
        return self._call(
            lambda: self._client.query_points(self.name, query=query, limit=count, using=using_name).points
        )

    def _call(self, ask: Callable[[], T]) -> T:
        """Ask the server within its rate, with retries; translate the library's errors, which may quote the key."""
        from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        def attempt() -> T:
            try:
                return ask()
            except ResourceExhaustedResponse as error:
                raise TransientError("qdrant answered 429: too many requests", error.retry_after_s) from error
            except UnexpectedResponse as error:
                raise self._refusal(error.status_code or 0) from error
            except ResponseHandlingException as error:
                if isinstance(error.source, ValueError):
                    raise _unknown_format() from error
                raise TransientError("qdrant could not be reached, or did not answer in time") from error
            except (AssertionError, LookupError, TypeError, AttributeError, ValueError) as error:
                raise _unknown_format() from error

        return self._gate.call(attempt, self._patience)

    def _refusal(self, status: int) -> SearchError:
        refused = f"set {KEY_VARIABLE} to a key that may read the collection {self.name!r}"
        absent = f"there is no collection {self.name!r}; check its name and the server's address"
        remedy = {401: refused, 403: refused, 404: absent}.get(status, "check the server, or try again later")
        return (TransientError if status in RETRIED_STATUSES else SearchError)(f"qdrant answered {status}: {remedy}")


def _unknown_format() -> SearchError:
    return SearchError("qdrant answered in an unknown format; check the server's address and version (1.10 on)")


class QdrantSearch:
    """Nearest-neighbour search for passages by their vectors, up to three per URL. Thread-safe.

    ``vector``: name of the vector; required if the collection has several. Raises SettingsError: the collection has no
    such vector, or its dimension is not the embedder's.
    """

    name = "qdrant"

    def __init__(
        self,
        collection: VectorCollection,
        embedder: "Embedder",
        *,
        payload: Payload | None = None,
        vector: str | None = None,
    ) -> None:
        self._collection, self._embedder = collection, embedder
        self._payload = payload or Payload()
        self._vector = _vector_name(collection, embedder, vector)

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Return passages of up to ``k`` URLs, nearest first; see the protocol.

        Raises SearchError: the collection could not be searched, or no point found has text.
        """
        query = one_line(query)
        if not query or k < 1:
            return ()
        vector = [float(number) for number in self._embedder.embed([query])[0]]
        points = self._collection.nearest(vector, k * PASSAGES, self._vector)
        snippets = [snippet for point in points if (snippet := self._snippet(point))]
        if points and not snippets:
            present = ", ".join(sorted({name for point in points for name in point.payload or {}})) or "none"
            raise SearchError(
                f"no point found in the collection {self._collection.name!r} has a text in the field "
                f"{self._payload.text!r}; name another, as in ?text=body (fields present: {present})"
            )
        return best_passages(dict.fromkeys(snippets), k, PASSAGES)

    def _snippet(self, point: "ScoredPoint") -> Snippet | None:
        names, payload = self._payload, point.payload or {}
        text = plain_text(_value(payload, names.text))
        if not text:
            return None
        return Snippet(
            plain_text(_value(payload, names.url)) or f"qdrant:{self._collection.name}/{point.id}",
            plain_text(_value(payload, names.title)),
            text,
            iso_date(_value(payload, names.published)),
            page_number(_value(payload, names.page)),
            self.name,
        )


def _value(payload: Mapping[str, Any], name: str) -> Any:
    if name in payload:
        return payload[name]
    outer, _, inner = name.partition(".")
    within = payload.get(outer)
    return _value(within, inner) if inner and isinstance(within, Mapping) else None


def _vector_name(collection: VectorCollection, embedder: "Embedder", vector: str | None) -> str:
    """Return the name of the vector to search; check its dimension."""
    sizes = collection.sizes
    name = next(iter(sizes)) if vector is None and len(sizes) == 1 else vector or ""
    if name not in sizes:
        kinds = ", ".join(filter(None, sizes)) or "one unnamed vector"
        problem = f"no vector {vector!r}" if vector else "several vectors, or none"
        raise SettingsError(
            f"the collection {collection.name!r} has {problem}: choose one with ?vector=NAME (it has: {kinds})"
        )
    if sizes[name] != embedder.dimension:
        raise SettingsError(
            f"the vectors of the collection {collection.name!r} have dimension {sizes[name]}, those of the embedder "
            f"{embedder.name} {embedder.dimension}: name the model that made them, as in ?embedder=MODEL"
        )
    return name
