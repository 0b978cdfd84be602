"""Collections of a Qdrant vector database: on a server, over its REST interface, or in a folder, read in process."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from weakref import WeakValueDictionary

from storm_pipeline.errors import CorpusError, SearchError, needs_extra
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
    """A stored point, without its vector."""

    id: str
    payload: Mapping[str, Any]


class ServerCollection:
    """A collection on a server (Qdrant 1.10 or later).

    Args:
        address: URL of the server, e.g. ``http://localhost:6333``.
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
        """Dimension by vector name; the name is empty if there is only one unnamed vector.

        Raises SearchError: the request failed.
        """
        try:
            vectors = self._client.get_json({}, self._path)["result"]["config"]["params"]["vectors"]
            return _sizes(vectors)
        except (LookupError, TypeError, AttributeError) as error:
            raise _unknown_format() from error

    def nearest(self, vector: Sequence[float], count: int, using: str) -> list[Point]:
        """Up to ``count`` points, nearest first, by the named vector ``using``.

        Raises SearchError: the collection could not be searched.
        """
        body = {"query": list(vector), "limit": count, "with_payload": True} | ({"using": using} if using else {})
        answer = self._client.post_json(body, f"{self._path}/points/query")
        try:
            return [Point(str(point["id"]), point.get("payload") or {}) for point in answer["result"]["points"]]
        except (LookupError, TypeError, AttributeError) as error:
            raise _unknown_format() from error


class FolderCollection:
    """A collection in a folder, as ``QdrantClient(path=…)`` keeps it. Only one process at a time can open it.

    The library pickles points: open only trusted folders.

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
            raise CorpusError(f"{self._folder} has no collection {name!r}; it has: {known or 'none'}")

    @property
    def sizes(self) -> Mapping[str, int]:
        """As that of :class:`ServerCollection`."""
        return _sizes(self._client.get_collection(self.name).model_dump()["config"]["params"]["vectors"])

    def nearest(self, vector: Sequence[float], count: int, using: str) -> list[Point]:
        """As that of :class:`ServerCollection`."""
        with self._searching:
            try:
                found = self._client.query_points(
                    self.name, query=list(vector), limit=count, with_payload=True, using=using or None
                )
            except (ValueError, RuntimeError, OSError) as error:
                raise SearchError(f"the collection {self.name!r} in {self._folder} failed: {error}") from error
        return [Point(str(point.id), point.payload or {}) for point in found.points]


VectorCollection = ServerCollection | FolderCollection
"""A collection for nearest-neighbour search. Called from several threads at once."""


def _opened(folder: Path) -> "QdrantClient":
    """The client of a folder, shared within the process."""
    with needs_extra("qdrant", "a qdrant folder"):
        from qdrant_client import QdrantClient
    if not (folder / "meta.json").is_file():  # the library would create a new database there
        raise CorpusError(f"{folder} is not a folder of a Qdrant database; check the path")
    with _lock:
        client = _open.get(folder)
        if client is None:
            try:
                client = QdrantClient(path=str(folder), force_disable_check_same_thread=True)
            except RuntimeError as error:
                raise CorpusError(f"{folder} is in use by another program; end that, or run a Qdrant server") from error
            except (OSError, ValueError, LookupError, TypeError) as error:
                raise CorpusError(f"the Qdrant database {folder} cannot be opened ({error}); recreate it") from error
            _open[folder] = client
        return client


def _sizes(vectors: Any) -> dict[str, int]:
    """Dimension by name, from the settings of an unnamed vector or of named ones; empty if all are sparse."""
    if vectors is None:
        return {}
    if isinstance(vectors.get("size"), int):
        return {"": vectors["size"]}
    return {name: int(kind["size"]) for name, kind in vectors.items()}


def _unknown_format() -> SearchError:
    return SearchError(
        "qdrant answered with JSON in an unknown format; check the server's address and version (1.10 on)"
    )
