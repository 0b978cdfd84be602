"""The server process of the HTTP API."""

from typing import TYPE_CHECKING

from storm_pipeline.errors import MissingExtraError
from storm_pipeline.server.gate import Access

if TYPE_CHECKING:
    from storm_pipeline.server.run_service import RunService

_MOST_CONNECTIONS = 100
_SHUTDOWN_SECONDS = 5
"""Seconds that open connections, such as event streams, have to end when the server shuts down."""


def require_api() -> None:
    """Check that the libraries of the API are installed.

    Raises:
        MissingExtraError: they are not.
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("the HTTP API needs the extra 'api': pip install 'storm-pipeline[api]'") from error


def serve_api(service: "RunService", host: str, port: int, access: Access) -> None:
    """Serve the API until the process is interrupted; runs under way are then stopped gracefully.

    Args:
        service: the runs.
        host: address to listen on.
        port: port to listen on.
        access: who may call, see :meth:`Access.build`.
    """
    import uvicorn

    from storm_pipeline.server.http_api import create_app

    uvicorn.run(
        create_app(service, access),
        host=host,
        port=port,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        server_header=False,
    )
