"""Semantic search in a collection of the user's on a Qdrant server, through qdrant-client."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from storm_pipeline.errors import SearchError, SettingsError, needs_extra
from storm_pipeline.run.assets import EMBEDDER
from storm_pipeline.run.retrying import RETRIED_STATUSES, Patience, TransientError
from storm_pipeline.sources.search.engine_info import EngineConfig, EngineInfo, require_argument
from storm_pipeline.sources.search.paging import PASSAGES, best_passages
from storm_pipeline.sources.transport.bounded import read_bounded
from storm_pipeline.sources.transport.gates import Rate, gate
from storm_pipeline.text.configuration.addresses import is_web_address, redact
from storm_pipeline.text.configuration.variables import variable
from storm_pipeline.text.plain import iso_date, one_line, page_number, plain_text
from storm_pipeline.types import Snippet

if TYPE_CHECKING:
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
_FIELDS = ("url", "title", "text", "published", "page")  # names of the payload fields with a snippet's data


def open_engine(argument: str, config: EngineConfig) -> "QdrantSearch":
    """Open the engine of ``qdrant:SERVER#COLLECTION?OPTIONS``.

    Options are names of payload fields (``text=body&url=metadata.source``), ``vector``, the vector's name if a
    collection has several, and ``embedder``, the model that made the vectors.
    """
    place, _, rest = argument.partition("#")
    name, _, query = rest.partition("?")
    require_argument("qdrant", place and name, "a server and a collection", _FORM)
    options = dict(parse_qsl(query))
    if unknown := sorted(options.keys() - {*_FIELDS, "vector", "embedder"}):
        known = ", ".join(sorted((*_FIELDS, "vector", "embedder")))
        raise SettingsError(f"the search engine `qdrant` has no option {', '.join(unknown)}; it has: {known}")
    if not is_web_address(place):
        raise SettingsError(f"{redact(repr(place))} is not the address of a server: write {_FORM}")
    if config.open_embedder is None:
        raise SettingsError("the search engine `qdrant` needs an embedder: give EngineConfig(open_embedder=…)")
    embedder = config.open_embedder(options.pop("embedder", EMBEDDER))
    rate = config.rate or 50.0
    return QdrantSearch(place, name, embedder, options, key=variable(KEY_VARIABLE), rate=rate)


class QdrantSearch:
    """Nearest-neighbour search for passages in a collection (Qdrant 1.10 or later), up to three per URL. Thread-safe.

    Args:
        options: names of payload fields, ``a.b`` for field ``b`` inside ``a``; and of the ``vector``.
        key: of the server; empty if it needs none.

    Raises:
        MissingExtraError: qdrant-client is not installed.
        SearchError: the server refused the request or could not be reached.
        SettingsError: the collection has no such vector, or its dimension is not the embedder's.
    """

    name = "qdrant"
    max_bytes = 10_000_000  # of an answer

    def __init__(
        self,
        address: str,
        collection: str,
        embedder: "Embedder",
        options: Mapping[str, str] | None = None,
        *,
        key: str = "",
        patience: Patience | None = None,
        rate: float = 50.0,
    ) -> None:
        with needs_extra("qdrant", "a qdrant database"):
            from qdrant_client import QdrantClient
        self._collection, self._embedder = collection, embedder
        self._options, self._patience = dict(options or {}), patience or Patience()
        self._client = QdrantClient(
            address,
            port=None,
            timeout=max(1, round(self._patience.read)),
            headers={"Accept-Encoding": "identity"} | ({"api-key": key} if key else {}),
            check_compatibility=False,
            event_hooks={"response": [lambda response: read_bounded(response, self.max_bytes)]},
        )
        self._gate = gate("qdrant", urlsplit(address).netloc, Rate(rate))
        vectors: Any = self._call(lambda: self._client.get_collection(collection).config.params.vectors)
        named = vectors if isinstance(vectors, dict) else {"": vectors} if vectors else {}
        self._vector = self._options.get("vector", next(iter(named)) if len(named) == 1 else "")
        if self._vector not in named or named[self._vector].size != embedder.dimension:
            sizes = ", ".join(f"{kind or 'unnamed'} of {vector.size}" for kind, vector in named.items()) or "none"
            raise SettingsError(
                f"the collection {collection!r} has the vectors: {sizes}; choose one of {embedder.dimension} "
                f"dimensions with ?vector=NAME, or the model that made them with ?embedder=, not {embedder.name}"
            )

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        """Return passages of up to ``k`` URLs, nearest first; see the protocol.

        Raises SearchError: the collection could not be searched, or no point found has text.
        """
        query = one_line(query)
        if not query or k < 1:
            return ()
        vector = [float(number) for number in self._embedder.embed([query])[0]]
        limit, using = k * PASSAGES, self._vector or None
        points = self._call(
            lambda: self._client.query_points(self._collection, query=vector, limit=limit, using=using).points
        )
        snippets = [snippet for point in points if (snippet := self._snippet(point.id, point.payload or {}))]
        if points and not snippets:
            present = ", ".join(sorted({name for point in points for name in point.payload or {}})) or "none"
            raise SearchError(
                f"no point found in the collection {self._collection!r} has a text in the field "
                f"{self._options.get('text', 'text')!r}; name another, as in ?text=body (fields present: {present})"
            )
        return best_passages(dict.fromkeys(snippets), k, PASSAGES)

    def _snippet(self, point: object, payload: Mapping[str, Any]) -> Snippet | None:
        url, title, text, published, page = (_value(payload, self._options.get(name, name)) for name in _FIELDS)
        place = plain_text(url) or f"qdrant:{self._collection}/{point}"
        given = (plain_text(title), plain_text(text), iso_date(published), page_number(page), self.name)
        return Snippet(place, *given) if given[1] else None

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
                kind = TransientError if error.status_code in RETRIED_STATUSES else SearchError
                remedy = f"check the address, the collection {self._collection!r}, and the key in {KEY_VARIABLE}"
                raise kind(f"qdrant answered {error.status_code}: {remedy}") from error
            except ResponseHandlingException as error:
                if not isinstance(error.source, ValueError):
                    raise TransientError("qdrant could not be reached, or did not answer in time") from error
                raise SearchError(_UNKNOWN) from error
            except (AssertionError, LookupError, TypeError, AttributeError, ValueError) as error:
                raise SearchError(_UNKNOWN) from error

        return self._gate.call(attempt, self._patience)


_UNKNOWN = "qdrant answered in an unknown format; check the server's address and version (1.10 on)"


def _value(payload: Mapping[str, Any], name: str) -> Any:
    outer, _, inner = name.partition(".")
    if name in payload or not isinstance(within := payload.get(outer), Mapping):
        return payload.get(name)
    return within.get(inner)
