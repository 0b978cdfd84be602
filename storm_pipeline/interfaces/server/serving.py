"""Serving of the HTTP API and MCP, with checks at the start that runs can begin."""

import asyncio
import copy
import logging
import os
import socket
import threading
from collections.abc import Sequence
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any

from storm_pipeline.errors import needs_extra
from storm_pipeline.evidence.run_search import open_engine
from storm_pipeline.interfaces.server.callers import CALLER, OWNER
from storm_pipeline.interfaces.server.reach import Reach
from storm_pipeline.method.session import require_keys
from storm_pipeline.run.log import RedactingFormatter, logger
from storm_pipeline.settings import Settings
from storm_pipeline.sources.search.registry import engines

if TYPE_CHECKING:
    from uvicorn import Config
    from uvicorn.protocols.http.h11_impl import H11Protocol

    from storm_pipeline.interfaces.server.run_service import RunService

_STREAM_SECONDS, _TASK_SECONDS, _SAVE_SECONDS = 2.0, 3, 1.0
"""At shutdown: seconds for runs and then event streams to end; for answers; and again for runs."""
_INTERRUPTED = 130
_MOST_CONNECTIONS = 512  # beyond which requests are answered 503
_LIBRARIES = {
    "api": ("the HTTP API", "fastapi", "uvicorn"),
    "web": ("storm in a browser", "fastapi", "uvicorn", "python_multipart"),
    "mcp": ("the MCP server", "mcp.server.mcpserver"),
}
"""Extra → what needs it, and modules that it has."""


def require_libraries(extra: str) -> None:
    """Check that the libraries of an extra are installed. Raises MissingExtraError: one is not."""
    what, *modules = _LIBRARIES[extra]
    with needs_extra(extra, what):
        for module in modules:
            import_module(module)


def serve_api(
    service: "RunService",
    host: str,
    port: int,
    token: str,
    reach: Reach,
    *,
    key: str = "",
    listening: Sequence[socket.socket] = (),
) -> None:
    """Serve the API until SIGINT or SIGTERM; a second one ends the process at once.

    Active runs and their event streams are then stopped. The process ends within five seconds: a run waiting for its
    model is interrupted and can be resumed; other work is abandoned. ``token``: the owner's, see
    :func:`storm_pipeline.interfaces.server.callers.require_valid_token`. ``reach``: the server's names and proxies.
    ``key``: the one-time key of the owner's browser. ``listening``: sockets that are bound to the address.
    """
    import uvicorn

    from storm_pipeline.interfaces.server.http_api import create_app

    class Server(uvicorn.Server):
        """A server that ends runs and streams before waiting for connections."""

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - a signal's handler
            """Handle a signal, without uvicorn's re-raising of it."""
            if self.should_exit:
                os._exit(_INTERRUPTED)
            self.should_exit = True

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            last = threading.Timer(_TASK_SECONDS + _SAVE_SECONDS, end)
            last.daemon = True  # it ends the process only if other threads still work by then
            last.start()
            await asyncio.to_thread(service.queue.halt, _STREAM_SECONDS)
            await super().shutdown(sockets)

    def end() -> None:
        if not service.queue.join(0.0):
            logger.warning("runs whose model has not answered are interrupted: resume them")
        os._exit(0)

    server = Server(server_config(create_app(service, token, reach, key=key), host, port, reach))
    logging.getLogger("uvicorn.access").addFilter(lambda record: "/alive" not in (record.args or ()))
    server.run(list(listening) or None)
    if not server.started:
        raise SystemExit(3)  # the reason is logged
    if not service.close(_SAVE_SECONDS):
        end()  # the threads of runs would be waited for


def server_config(app: Any, host: str, port: int, reach: Reach, *, access_log: bool = True) -> "Config":
    """Return uvicorn's configuration for an application behind a gate, with limits, and no secrets in logs."""
    import uvicorn

    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=_protocol(),
        ws="none",
        limit_concurrency=_MOST_CONNECTIONS,
        proxy_headers=bool(reach.proxies),  # the client is then the last address that no proxy of these wrote
        forwarded_allow_ips=list(map(str, reach.proxies)),
        timeout_graceful_shutdown=_TASK_SECONDS,
        server_header=False,
        access_log=access_log,
        log_config=_logging(uvicorn.config.LOGGING_CONFIG),
    )


def _protocol() -> type["H11Protocol"]:
    """Return uvicorn's protocol on h11 that refuses bodies without a length, whose pieces take processor time each."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Connection(h11.Connection):
        def next_event(self) -> Any:
            event = super().next_event()
            if isinstance(event, h11.Request) and any(name == b"transfer-encoding" for name, _ in event.headers):
                raise h11.RemoteProtocolError("a body needs a Content-Length")
            return event

    class Protocol(H11Protocol):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            self.conn = Connection(h11.SERVER)

    return Protocol


def _logging(config: dict[str, Any]) -> dict[str, Any]:
    """Return uvicorn's logging configuration, without secrets in messages, tracebacks and paths."""
    from uvicorn.logging import AccessFormatter, DefaultFormatter

    class Formatter(RedactingFormatter, DefaultFormatter):
        """Uvicorn's formatter with redaction."""

    class Access(AccessFormatter):
        """Uvicorn's formatter of requests, without the keys of links and of the one-time address."""

        def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - uvicorn's name
            client, method, path, *rest = record.args  # type: ignore[misc]  # as uvicorn logs them
            shown = next((f"{start}…" for start in ("/shared/", "/enter?") if str(path).startswith(start)), path)
            record.args = (client, method, shown, *rest)
            return super().formatMessage(record)

    changed = copy.deepcopy(config)
    changed["formatters"]["access"]["()"] = Access
    changed["formatters"]["default"]["()"] = Formatter
    return changed


def serve_mcp(service: "RunService") -> None:
    """Serve MCP until standard input ends."""
    from storm_pipeline.interfaces.server.mcp_tools import create_mcp_server

    CALLER.set(OWNER)
    create_mcp_server(service).run("stdio")


def require_runnable(settings: Settings) -> None:
    """Check that runs with these settings can begin: keys, prices under a cap, and the owner's documents.

    Without downloads and calls. Raises SettingsError: missing key or price, or unknown engine; CorpusError: unreadable
    documents.
    """
    require_keys(settings)
    if any(f"{info.base_name}:" in settings.search for info in engines() if info.is_private):
        open_engine(settings)
