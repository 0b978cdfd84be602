"""Collections of a Qdrant vector database on a server or in a folder, by qdrant-client."""

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from storm_pipeline.errors import CorpusError, SearchError, needs_extra
from storm_pipeline.run.retrying import RETRIED_STATUSES, Patience, TransientError
from storm_pipeline.sources.transport.gates import Rate, gate

if TYPE_CHECKING:
    from qdrant_client import QdrantClient
    from qdrant_client.models import ScoredPoint

T = TypeVar("T")
KEY_VARIABLE = "QDRANT_API_KEY"
_lock = threading.Lock()
_open: "WeakValueDictionary[Path, QdrantClient]" = WeakValueDictionary()


class VectorCollection:
    """A collection for nearest-neighbour search. Thread-safe.

    A folder is one of ``QdrantClient(path=…)``. Only one process at a time can open it. Open only trusted folders,
    since the library pickles points.

    Args:
        place: address of a server (Qdrant 1.10 or later), such as ``http://localhost:6333``, or a folder.
        key: for a server.
        rate: requests per second to a server.

    Raises:
        MissingExtraError: qdrant-client is not installed.
        CorpusError: the folder cannot be opened, or has no such collection.
        SearchError: the server refused the request or could not be reached.
    """

    def __init__(
        self, place: str | Path, name: str, key: str = "", *, patience: Patience | None = None, rate: float = 50.0
    ) -> None:
        self.name, self._place, self._patience = name, str(place), patience or Patience()
        with needs_extra("qdrant", "a qdrant database"):
            from qdrant_client import QdrantClient
        if host := urlsplit(self._place).netloc if "://" in self._place else "":
            from storm_pipeline.sources.transport.bounded import bound

            headers = {"Accept-Encoding": "identity"} | ({"api-key": key} if key else {})
            self._client = QdrantClient(
                self._place,
                port=None,
                timeout=max(1, round(self._patience.read)),
                headers=headers,
                check_compatibility=False,
                event_hooks={"response": [bound]},
            )
        else:
            self._client = _opened(Path(place).expanduser().resolve(), name)
        self._gate = gate("qdrant", host or self._place, Rate(rate) if host else Rate(1e6, concurrent=1))
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
        """Call the database within its rate, with retries; translate the library's errors, which may quote the key."""
        import httpx
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
                if isinstance(error.source, httpx.TimeoutException):
                    raise TransientError("qdrant did not answer in time; check the network") from error
                if isinstance(error.source, httpx.HTTPError):
                    raise TransientError("qdrant could not be reached; check the network and the address") from error
                raise _unknown_format() from error
            except (AssertionError, LookupError, TypeError, AttributeError) as error:
                raise _unknown_format() from error
            except (ValueError, RuntimeError, OSError) as error:
                raise SearchError(f"the collection {self.name!r} in {self._place} failed: {error}") from error

        return self._gate.call(attempt, self._patience)

    def _refusal(self, status: int) -> SearchError:
        refused = f"set {KEY_VARIABLE} to a key that may read the collection {self.name!r}"
        absent = f"there is no collection {self.name!r}; check its name and the server's address"
        remedy = {401: refused, 403: refused, 404: absent}.get(status, "check the server, or try again later")
        return (TransientError if status in RETRIED_STATUSES else SearchError)(f"qdrant answered {status}: {remedy}")


def _opened(folder: Path, name: str) -> "QdrantClient":
    """Return the process's client of a folder with this collection."""
    from qdrant_client import QdrantClient

    if not (folder / "meta.json").is_file():  # the library would create a database there
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
    if not client.collection_exists(name):
        known = ", ".join(sorted(collection.name for collection in client.get_collections().collections))
        raise CorpusError(f"{folder} has no collection {name!r}; it has: {known or 'none'}")
    return client


def _unknown_format() -> SearchError:
    return SearchError("qdrant answered in an unknown format; check the server's address and version (1.10 on)")
