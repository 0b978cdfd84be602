"""``storm serve``, ``storm mcp`` and ``storm web``: runs for other programs, and for the browser."""

import json
import logging
import os
import secrets
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import SettingsGroup, argument, flag, option
from storm_pipeline.interfaces.cli.output import choose_model, load_settings, say, show_table, tell
from storm_pipeline.text.files import read_plain, write_atomically

if TYPE_CHECKING:
    from storm_pipeline.interfaces.server.callers import Tokens
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
token_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Tokens of callers who have access to their own runs alone."
)
_Name = Annotated[str, argument("NAME", "Name of the token: small letters, digits and hyphens.")]
_Out = Annotated[Path | None, option("--out", "DIR", "Folder of the server's runs; default: runs.")]
_TokenBudget = Annotated[
    float | None, option("--budget", "DOLLARS", "What its runs may cost in a calendar month (UTC).")
]
_HOST, _PORTS = "127.0.0.1", range(8765, 8865)
_PORT = "Port to listen on; default: that of the last start, else 8765, or the next free one."
_NAMES = "web.json"  # port → its host name, in the folder of the server's records


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
    from storm_pipeline.interfaces.server.callers import TOKEN_VARIABLE, Tokens, require_valid_token
    from storm_pipeline.interfaces.server.reach import Reach
    from storm_pipeline.interfaces.server.serving import require_libraries, serve_api
    from storm_pipeline.text.configuration.variables import variable

    if not api:
        raise SettingsError("say what to serve: storm serve --api")
    settings = load_settings(ctx.obj)
    token = require_valid_token(host, variable(TOKEN_VARIABLE), Tokens(settings.out))
    reach = Reach.build(host, tuple(allow_host or ()), tuple(trust_proxy or ()))
    require_libraries("api")
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
    from storm_pipeline.interfaces.server.serving import require_libraries, serve_mcp

    require_libraries("mcp")
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


@token_app.command("add")
@with_guard
def add(ctx: typer.Context, name: _Name, *, budget: _TokenBudget = None, out: _Out = None) -> None:
    """Make the token NAME and print it once: only its hash is stored."""
    say(_tokens(ctx, out).add(name, budget))
    tell(f"give it to {name}, who sends it as `Authorization: Bearer …`; it is not shown again")


@token_app.command("list")
@with_guard
def list_tokens(ctx: typer.Context, *, out: _Out = None) -> None:
    """List the tokens with their budgets and their cost of this month."""
    from storm_pipeline.interfaces.server.budget import Budgets
    from storm_pipeline.interfaces.server.callers import Caller
    from storm_pipeline.interfaces.server.records import records_folder

    tokens = _tokens(ctx, out)
    rows = []
    for token in tokens.all():
        budget = Budgets(tokens.folder, None).of(Caller(token.name, token.budget))
        spent = ("-", "-") if budget is None else (f"{budget.most:g}", f"{budget.spent:.2f}")
        rows.append((token.name, token.created, "revoked" if token.revoked else "valid", *spent))
    if rows:
        show_table(("name", "created", "state", "dollars a month", "spent"), rows)
    else:
        tell(f"no tokens in {records_folder(tokens.folder)}: make one with `storm serve token add NAME`")


@token_app.command("revoke")
@with_guard
def revoke(ctx: typer.Context, name: _Name, *, out: _Out = None) -> None:
    """Revoke the token NAME, at once for a running server, which stops its runs and keeps them."""
    _tokens(ctx, out).revoke(name)
    tell(f"{name} is refused from now on")


def _tokens(ctx: typer.Context, out: Path | None) -> "Tokens":
    """Return the tokens in the folder of runs. ``ctx``: context of a subcommand of ``storm serve``."""
    from storm_pipeline.interfaces.server.callers import Tokens

    given = dict(ctx.obj or {})
    if set(given) - {"out"}:
        raise SettingsError("settings belong to the server: of `storm serve token` give --out alone")
    return Tokens(load_settings(given | ({"out": out} if out else {})).out)


@with_guard
def web(
    ctx: typer.Context,
    *,
    port: Annotated[int | None, option("--port", "PORT", _PORT, min=1, max=65535)] = None,
    no_browser: Annotated[bool, flag("--no-browser", "Only print the address.")] = False,
) -> None:
    """Write, watch and read articles in your browser.

    The pages are served on this machine alone. The address that is printed and opened works once, within 10 minutes;
    those of the pages stay as they are at the next start.
    Interrupted and waiting runs go on when you say so in the library.
    """
    from storm_pipeline.interfaces.server.callers import TOKEN_VARIABLE, Tokens, require_valid_token
    from storm_pipeline.interfaces.server.reach import Reach
    from storm_pipeline.interfaces.server.records import records_folder
    from storm_pipeline.interfaces.server.serving import require_libraries, serve_api
    from storm_pipeline.text.configuration.variables import variable

    require_libraries("web")
    settings = choose_model(load_settings(ctx.obj))
    token = require_valid_token(_HOST, variable(TOKEN_VARIABLE) or secrets.token_urlsafe(32), Tokens(settings.out))
    key = secrets.token_urlsafe(32)
    records = records_folder(settings.out)
    names = _known_names(records)
    with _listen([port] if port else [*names, *_PORTS]) as listening:
        chosen = listening[0].getsockname()[1]
        name = names.pop(chosen, f"storm-{secrets.token_hex(8)}.localhost")
        with suppress(OSError):  # they are then for this start alone
            write_atomically(records / _NAMES, json.dumps({chosen: name, **names}), private=True)
        name = _HOST if sys.platform == "darwin" else name  # Safari finds no such name
        address = f"http://{name}:{chosen}/enter?key={key}"
        with open_service(settings, [*_choices(settings)], 2, 100, None, go_on=False, has_pages=True) as service:
            say(f"storm is at {address}")
            if not no_browser:
                threading.Thread(target=_open, args=(address, settings.out), daemon=True).start()
            serve_api(service, _HOST, chosen, token, Reach.build(_HOST, (name,)), key=key, listening=listening)


def _choices(settings: "Settings") -> Iterator[str]:
    """Yield the models and engines that the user can choose on the pages, as rules of ``--allow``."""
    from storm_pipeline.sources.search.registry import engines
    from storm_pipeline.text.configuration.variables import PROVIDERS

    usable = (info for info in engines() if not (info.composite or ":" in info.name or info.key_set is False))
    local = [settings.lm, "embedded", *(["embedded:1.5b"] if find_spec("xllamacpp") else [])]
    yield from (f"lm={name}" for name in dict.fromkeys((*local, *(p.model for p in PROVIDERS if p.key_variable))))
    yield from (f"search={name}" for name in dict.fromkeys((settings.search, "auto", *(i.base_name for i in usable))))


def _known_names(folder: Path) -> dict[int, str]:
    """Return the host names of the ports of earlier starts, the last one first; none if others may know them."""
    path = folder / _NAMES
    with suppress(OSError, ValueError):
        about = path.lstat()
        is_secret = os.name == "nt" or (about.st_uid == os.getuid() and not about.st_mode & 0o077)
        return {int(port): str(name) for port, name in json.loads(read_plain(path)).items()} if is_secret else {}
    return {}


@contextmanager
def _listen(ports: Sequence[int]) -> Iterator[list[socket.socket]]:
    """Yield sockets that listen on the first free one of these ports of this machine.

    A browser may ask the address of IPv6 first, which nobody else may then hold. Raises SettingsError: the port, or
    each of them, is taken.
    """
    kinds = {_HOST: socket.AF_INET}
    with suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        kinds["::1"] = socket.AF_INET6
    for number in ports:
        with ExitStack() as stack:
            try:
                made = (socket.create_server((host, number), family=kind) for host, kind in kinds.items())
                sockets = list(map(stack.enter_context, made))
            except OSError:
                continue
            yield sockets
            return
    taken = f"port {ports[0]} is taken, or not yours to use" if len(ports) == 1 else "no port from 8765 on is free"
    raise SettingsError(f"{taken}: name another one with --port")


def _open(address: str, folder: Path) -> None:
    """Open an address in the user's browser, if there is one with a window.

    All users of a machine see the arguments of its programs: these name a file in a folder, only the file the address.
    """
    with suppress(webbrowser.Error, OSError):
        browser = webbrowser.get()
        if type(browser) is not webbrowser.GenericBrowser or os.environ.get("BROWSER"):  # others take the terminal
            folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(".html", ".enter-", folder)  # readable by its owner alone
            page = Path(name).absolute()
            with os.fdopen(handle, "w") as file:
                file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={address}">')
            browser.open(page.as_uri())
            time.sleep(60)  # within which a browser starts
            page.unlink()


serve_app.add_typer(token_app, name="token")
