"""``storm serve`` and ``storm mcp``: runs for other programs."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import SettingsGroup, flag, option
from storm_pipeline.interfaces.cli.output import choose_model, load_settings, tell
from storm_pipeline.interfaces.cli.tokens import token_app

if TYPE_CHECKING:
    from storm_pipeline.interfaces.server.run_service import RunService
    from storm_pipeline.settings import Settings

_ALLOW = (
    "A further setting that callers may choose, or one value of it; repeatable. By default they may choose "
    "settings of research and article that you do not set, and lower caps."
)
_Allow = Annotated[list[str] | None, option("--allow", "NAME[=VALUE]", _ALLOW)]
_Queue = Annotated[int, option("--queue", "N", "Maximum number of runs that wait for their turn.")]
_BUDGET = (
    "What all runs in the folder of runs may cost together, those of earlier servers included; needs --max-cost, "
    "which each run reserves."
)
_Budget = Annotated[float | None, option("--budget", "DOLLARS", _BUDGET)]
_GoOn = Annotated[bool, flag("--go-on", "Resume the runs that an earlier server left interrupted or waiting.")]
_AtOnce = Annotated[int, option("--at-once", "N", "Maximum number of concurrent runs.")]
_ALLOW_HOST = (
    "A name by which callers reach the server, such as its domain; repeatable. Others are refused, but for this "
    "machine's own and the address that was reached."
)
_TRUST_PROXY = "Address or network of a proxy, whose X-Forwarded-For tells clients apart; repeatable."
serve_app = typer.Typer(cls=SettingsGroup, invoke_without_command=True, rich_markup_mode=None)
serve_app.add_typer(token_app, name="token")


@serve_app.callback()
@with_guard
def serve(
    ctx: typer.Context,
    *,
    api: Annotated[bool, flag("--api", "Serve the HTTP API.")] = False,
    host: Annotated[str, option("--host", "ADDRESS", "Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, option("--port", "PORT", "Port to listen on.", min=1, max=65535)] = 8765,
    allow_host: Annotated[list[str] | None, option("--allow-host", "NAME", _ALLOW_HOST)] = None,
    trust_proxy: Annotated[list[str] | None, option("--trust-proxy", "CIDR", _TRUST_PROXY)] = None,
    allow: _Allow = None,
    at_once: _AtOnce = 2,
    queue: _Queue = 100,
    budget: _Budget = None,
    go_on: _GoOn = False,
) -> None:
    """Serve runs over HTTP: other programs start, follow and stop runs, and fetch articles; MCP is at /mcp.

    The settings apply to every run. Callers send the owner's token, set in STORM_API_TOKEN, or a token of `storm serve
    token add`, which gives access to their own runs only. A token is required unless only this machine can reach the
    server.
    """
    if ctx.invoked_subcommand:
        return
    from storm_pipeline.interfaces.server.callers import Tokens
    from storm_pipeline.interfaces.server.gate import TOKEN_VARIABLE, require_valid_token
    from storm_pipeline.interfaces.server.reach import Reach
    from storm_pipeline.interfaces.server.serving import require_api, serve_api
    from storm_pipeline.text.configuration.variables import variable

    if not api:
        raise SettingsError("say what to serve: storm serve --api")
    settings = load_settings(ctx.obj)
    token = require_valid_token(host, variable(TOKEN_VARIABLE), Tokens(settings.out))
    reach = Reach.build(host, tuple(allow_host or ()), tuple(trust_proxy or ()))
    require_api()
    with open_service(choose_model(settings), allow, at_once, queue, budget, go_on=go_on) as service:
        serve_api(service, host, port, token, reach)


@with_guard
def mcp(
    ctx: typer.Context,
    *,
    allow: _Allow = None,
    at_once: _AtOnce = 2,
    queue: _Queue = 100,
    budget: _Budget = None,
    go_on: _GoOn = False,
) -> None:
    """Serve runs to an assistant by the Model Context Protocol on standard input and output.

    The settings apply to every run.
    """
    from storm_pipeline.interfaces.server.serving import require_mcp, serve_mcp

    require_mcp()
    with open_service(load_settings(ctx.obj), allow, at_once, queue, budget, go_on=go_on) as service:
        serve_mcp(service)


@contextmanager
def open_service(
    settings: "Settings",
    allow: list[str] | None,
    at_once: int,
    queue: int,
    budget: float | None,
    *,
    go_on: bool,
    has_pages: bool = False,
) -> "Iterator[RunService]":
    """Yield the service with its logs shown.

    ``go_on``: resume unfinished runs of earlier servers; ``has_pages``: start although runs cannot begin, for pages say
    what is missing, and continue runs.
    """
    from storm_pipeline.interfaces.server.checking import judge_of_checks
    from storm_pipeline.interfaces.server.remote_settings import RemoteSettings
    from storm_pipeline.interfaces.server.run_service import RunService
    from storm_pipeline.interfaces.server.serving import require_runnable

    remote = RemoteSettings.build(settings, allow or ())
    with RunService(remote, at_once=at_once, most_waiting=queue, budget=budget) as service:
        if not has_pages:
            require_runnable(settings)
        _show_logs()
        if judge_of_checks(settings) != settings.judge_of_articles:
            name = settings.lm_of("judge").partition("@")[0]  # without an address
            tell(f"the price of {name} is unknown: checks of articles ask no model without --price {name}=IN/OUT")
        if go_on:
            for name in service.resume_unfinished():
                tell(f"going on with {name}")
        elif left := len(service.folders.unfinished()):
            runs = "1 run of an earlier server is" if left == 1 else f"{left} runs of earlier servers are"
            how = "the library continues them" if has_pages else "--go-on resumes them, or POST /runs/RUN/resume one"
            tell(f"{runs} interrupted or waiting: {how}")
        yield service


def _show_logs() -> None:
    """Show warnings and errors on standard error, which other commands silence."""
    from storm_pipeline.run.log import RedactingFormatter

    logging.disable(logging.NOTSET)
    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
