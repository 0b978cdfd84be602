"""``storm serve`` and ``storm mcp``: runs for other programs."""

import logging
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.model_choice import with_chosen_model

if TYPE_CHECKING:
    from storm_pipeline.server.run_service import RunService
    from storm_pipeline.settings import Settings

_Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="NAME[=VALUE]",
        help="A further setting that callers may choose, or one value of it; repeatable. By default they may choose "
        "settings of research and article that you do not set, and lower caps.",
        show_default=False,
    ),
]
_AtOnce = Annotated[int, typer.Option("--at-once", metavar="N", help="Maximum number of concurrent runs.")]
_Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks, and warnings and logs of libraries.")]


def serve(
    ctx: typer.Context,
    *,
    api: Annotated[bool, typer.Option("--api", help="Serve the HTTP API.")] = False,
    host: Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="PORT", min=1, max=65535, help="Port to listen on.")] = 8765,
    allow: _Allow = None,
    at_once: _AtOnce = 2,
    debug: _Debug = False,
) -> None:
    """Serve runs to other programs over HTTP: they start, follow and stop runs, and fetch articles.

    The settings apply to every run. Callers send the token that the environment variable STORM_API_TOKEN holds; it is
    required unless the server listens on this machine only.
    """
    with Guard(debug=debug):
        from storm_pipeline.configuration.layers import configured
        from storm_pipeline.configuration.variables import variable
        from storm_pipeline.errors import SettingsError
        from storm_pipeline.server.gate import TOKEN_VARIABLE, Access
        from storm_pipeline.server.http_server import require_api, serve_api

        if not api:
            raise SettingsError("say what to serve: storm serve --api")
        settings = configured(ctx.obj)  # also reads the token where .env holds it
        access = Access.build(host, variable(TOKEN_VARIABLE))
        require_api()
        with _service(with_chosen_model(settings), allow, at_once) as service:
            _show_logs()
            serve_api(service, host, port, access)


def mcp(
    ctx: typer.Context,
    *,
    allow: _Allow = None,
    at_once: _AtOnce = 2,
    debug: _Debug = False,
) -> None:
    """Serve runs to an assistant by the Model Context Protocol, on standard input and output.

    The settings apply to every run.
    """
    with Guard(debug=debug):
        from storm_pipeline.configuration.layers import configured
        from storm_pipeline.server.mcp_stdio import require_mcp, serve_mcp

        require_mcp()
        with _service(configured(ctx.obj), allow, at_once) as service:
            _show_logs()
            serve_mcp(service)


def _service(settings: "Settings", allow: list[str] | None, at_once: int) -> "RunService":
    from storm_pipeline.server.remote_settings import RemoteSettings
    from storm_pipeline.server.run_service import RunService

    return RunService(RemoteSettings.build(settings, allow or ()), at_once=at_once)


def _show_logs() -> None:
    """Show warnings and errors on standard error, which commands that print results silence."""
    from storm_pipeline.run.log import RedactingFormatter

    logging.disable(logging.NOTSET)
    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
