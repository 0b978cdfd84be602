"""Semantic search in the user's Qdrant vector database on a server or in a folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.run.assets import EMBEDDER
from storm_pipeline.sources.search.engine_info import EngineConfig, EngineInfo, require_argument
from storm_pipeline.sources.search.paging import PASSAGES, best_passages
from storm_pipeline.sources.search.vectors import KEY_VARIABLE, VectorCollection
from storm_pipeline.text.configuration.addresses import is_web_address, redacted
from storm_pipeline.text.configuration.variables import variable
from storm_pipeline.text.plain import iso_date, one_line, page_number, plain_text
from storm_pipeline.types import Snippet

if TYPE_CHECKING:
    from qdrant_client.models import ScoredPoint

    from storm_pipeline.evidence.retrieval.embedder import Embedder

INFO = EngineInfo(
    "qdrant:PLACE#COLLECTION",
    needs=f"the extra `qdrant`, and a server (its key, if any, in {KEY_VARIABLE}) or a folder",
    free=True,
    returns="passages of your own vector database, found by semantic search",
    open_web=False,
    remote=False,
    is_private=True,
)
_FORM = "qdrant:FOLDER#COLLECTION or qdrant:http://HOST:6333#COLLECTION"


@dataclass(frozen=True)
class Payload:
    """Names of the payload fields with a snippet's data; ``a.b`` is field ``b`` inside ``a``."""

    url: str = "url"
    title: str = "title"
    text: str = "text"
    published: str = "published"
    page: str = "page"


def open_engine(argument: str, config: EngineConfig) -> "QdrantSearch":
    """Open the engine of ``qdrant:PLACE#COLLECTION?OPTIONS``.

    Options are names of payload fields (``text=body&url=metadata.source``, see :class:`Payload`), ``vector``, the
    vector's name if a collection has several, and ``embedder``, the model that made the vectors.
    """
    place, _, rest = argument.partition("#")
    name, _, query = rest.partition("?")
    require_argument("qdrant", place and name, "a place and a collection", _FORM)
    options = dict(parse_qsl(query))
    payload_names = {field.name for field in fields(Payload)}
    if unknown := sorted(options.keys() - payload_names - {"vector", "embedder"}):
        known = ", ".join(sorted(payload_names | {"vector", "embedder"}))
        raise SettingsError(f"the search engine `qdrant` has no option {', '.join(unknown)}; it has: {known}")
    if "://" in place and not is_web_address(place):
        raise SettingsError(f"{redacted(repr(place))} is not the address of a server: write {_FORM}")
    collection = VectorCollection(place, name, variable(KEY_VARIABLE), rate=config.rate or 50.0)
    if config.open_embedder is None:
        raise SettingsError("the search engine `qdrant` needs an embedder: give EngineConfig(open_embedder=…)")
    embedder = config.open_embedder(options.pop("embedder", EMBEDDER))
    vector = options.pop("vector", None)
    return QdrantSearch(collection, embedder, payload=replace(Payload(), **options), vector=vector)


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
