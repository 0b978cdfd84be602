"""Collections of a Qdrant vector database: on a server, over its REST interface, or in a folder, read in process."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote
from weakref import WeakValueDictionary

from storm_pipeline.errors import CorpusError, MissingExtraError, SearchError
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

KEY_VARIABLE = "QDRANT_API_KEY"
_lock = threading.Lock()
_open: "WeakValueDictionary[Path, QdrantClient]" = WeakValueDictionary()


@dataclass(frozen=True)
class Point:
    """What is stored with a vector."""

    id: str
    payload: Mapping[str, Any]


class VectorCollection(Protocol):
    """Points that are found by the nearness of their vectors. Called from several threads at once."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def sizes(self) -> Mapping[str, int]:
        """Length of the vectors, by their names; the name is empty where there is one kind only."""
        ...

    def nearest(self, vector: Sequence[float], count: int, using: str) -> list[Point]:
        """Up to ``count`` points, nearest first, by the vectors of a name.

        Raises:
            SearchError: the collection could not be searched.
        """
        ...


class ServerCollection:
    """A collection on a server (Qdrant 1.10 or later).

    Args:
        address: the server's, e.g. ``http://localhost:6333``.
        name: the collection's.
        key: API key; empty for none.
        patience: time limits.
        rate: requests a second.
    """

    def __init__(
        self, address: str, name: str, key: str = "", *, patience: Patience | None = None, rate: float = 50.0
    ) -> None:
        self.name = name
        refused = f"set {KEY_VARIABLE} to a key that may read the collection {name!r}"
        self._path = f"/collections/{quote(name, safe='')}"
        self._client = ApiClient(
            "qdrant",
            address.rstrip("/"),
            rate=Rate(rate),
            headers={"api-key": key} if key else {},
            remedies={
                401: refused,
                403: refused,
                404: f"there is no collection {name!r}; check its name and the server's address",
            },
            patience=patience,
        )

    @property
    def sizes(self) -> Mapping[str, int]:
        """See the protocol; asks the server.

        Raises:
            SearchError: it could not be asked.
        """
        try:
            vectors = self._client.get_json({}, self._path)["result"]["config"]["params"]["vectors"]
            return _sizes(vectors)
        except (LookupError, TypeError, AttributeError) as error:
            raise _unknown_format() from error

    def nearest(self, vector: Sequence[float], count: int, using: str) -> list[Point]:
        """See the protocol."""
        body = {"query": list(vector), "limit": count, "with_payload": True} | ({"using": using} if using else {})
        answer = self._client.post_json(body, f"{self._path}/points/query")
        try:
            return [Point(str(point["id"]), point.get("payload") or {}) for point in answer["result"]["points"]]
        except (LookupError, TypeError, AttributeError) as error:
            raise _unknown_format() from error


class FolderCollection:
    """A collection in a folder, as ``QdrantClient(path=…)`` keeps it. One process at a time can have it open.

    The library keeps points pickled: open only folders that you made yourself.

    Args:
        folder: the folder.
        name: the collection's.

    Raises:
        MissingExtraError: qdrant-client is not installed.
        CorpusError: there is no such collection, or it cannot be opened.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._folder = Path(folder).expanduser().resolve()
        self._client = _opened(self._folder)
        self._searching = threading.Lock()
        if not self._client.collection_exists(name):
            known = ", ".join(sorted(found.name for found in self._client.get_collections().collections))
            raise CorpusError(f"{self._folder} holds no collection {name!r}; it has: {known or 'none'}")

    @property
    def sizes(self) -> Mapping[str, int]:
        """See the protocol."""
        return _sizes(self._client.get_collection(self.name).model_dump()["config"]["params"]["vectors"])

    def nearest(self, vector: Sequence[float], count: int, using: str) -> list[Point]:
        """See the protocol."""
        with self._searching:
            try:
                found = self._client.query_points(
                    self.name, query=list(vector), limit=count, with_payload=True, using=using or None
                )
            except (ValueError, RuntimeError, OSError) as error:
                raise SearchError(f"the collection {self.name!r} in {self._folder} failed: {error}") from error
        return [Point(str(point.id), point.payload or {}) for point in found.points]


def _opened(folder: Path) -> "QdrantClient":
    """The client of a folder, one for all who use it in this process."""
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise MissingExtraError(
            "a qdrant folder needs the extra 'qdrant': pip install 'storm-pipeline[qdrant]'"
        ) from error
    if not (folder / "meta.json").is_file():  # the library would make a new database there
        raise CorpusError(f"{folder} is no folder of a Qdrant database; check the path")
    with _lock:
        client = _open.get(folder)
        if client is None:
            try:
                client = QdrantClient(path=str(folder), force_disable_check_same_thread=True)
            except RuntimeError as error:
                raise CorpusError(f"{folder} is in use by another program; end that, or run a Qdrant server") from error
            except (OSError, ValueError, LookupError, TypeError) as error:
                raise CorpusError(f"the Qdrant database {folder} cannot be opened ({error}); make it anew") from error
            _open[folder] = client
        return client


def _sizes(vectors: Any) -> dict[str, int]:
    """Length by name, from one kind's settings or from those of several; nothing for sparse vectors alone."""
    if vectors is None:
        return {}
    if isinstance(vectors.get("size"), int):
        return {"": vectors["size"]}
    return {name: int(kind["size"]) for name, kind in vectors.items()}


def _unknown_format() -> SearchError:
    return SearchError(
        "qdrant answered with JSON in an unknown format; check the server's address and version (1.10 on)"
    )
