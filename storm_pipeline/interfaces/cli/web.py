"""``storm web``: the pages of this machine's own server, opened in its browser."""

import os
import secrets
import socket
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import flag, option
from storm_pipeline.interfaces.cli.output import choose_model, load_settings, say
from storm_pipeline.interfaces.cli.serve import open_service

if TYPE_CHECKING:
    from storm_pipeline.settings import Settings

_HOST, _PORTS = "127.0.0.1", range(8765, 8865)
_PORT = "Port to listen on; default: 8765, or the next free one."


@with_guard
def web(
    ctx: typer.Context,
    *,
    port: Annotated[int | None, option("--port", "PORT", _PORT, min=1, max=65535)] = None,
    no_browser: Annotated[bool, flag("--no-browser", "Only print the address.")] = False,
) -> None:
    """Write, watch and read articles in your browser.

    The pages are served on this machine alone. The address that is printed and opened works once, within 10 minutes.
    Runs that an earlier server left interrupted or waiting go on.
    """
    from storm_pipeline.interfaces.server.callers import Tokens
    from storm_pipeline.interfaces.server.gate import TOKEN_VARIABLE, require_valid_token
    from storm_pipeline.interfaces.server.serving import require_pages, serve_api
    from storm_pipeline.text.configuration.variables import variable

    require_pages()
    settings = choose_model(load_settings(ctx.obj))
    token = require_valid_token(_HOST, variable(TOKEN_VARIABLE) or secrets.token_urlsafe(32), Tokens(settings.out))
    key = secrets.token_urlsafe(32)
    with _listen(port) as listening:
        chosen = listening.getsockname()[1]
        address = f"http://{_HOST}:{chosen}/enter?key={key}"
        with open_service(settings, [*_choices(settings)], 2, 100, None, go_on=True, may_lack=True) as service:
            say(f"storm is at {address}")
            if not no_browser:
                threading.Thread(target=_open, args=(address,), daemon=True).start()
            serve_api(service, _HOST, chosen, token, key=key, listening=listening)


def _choices(settings: "Settings") -> Iterator[str]:
    """Yield the models and engines that the user can choose on the pages, as rules of ``--allow``."""
    from storm_pipeline.sources.search.registry import engines
    from storm_pipeline.text.configuration.variables import PROVIDERS

    usable = (info for info in engines() if not (info.composite or ":" in info.name or info.key_set is False))
    yield from (f"lm={name}" for name in dict.fromkeys((settings.lm, *(p.model for p in PROVIDERS if p.key_variable))))
    yield from (f"search={name}" for name in dict.fromkeys((settings.search, "auto", *(i.base_name for i in usable))))


def _listen(port: int | None) -> socket.socket:
    """Return a socket that listens on a port; by default the first free one of a hundred.

    Raises SettingsError: the port, or each of them, is taken.
    """
    for number in (port,) if port else _PORTS:
        listening = socket.socket()
        with suppress(OSError):
            if os.name == "posix":  # elsewhere it would share the port
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((_HOST, number))
            listening.listen()
            return listening
        listening.close()
    taken = f"port {port} is taken, or not yours to use" if port else "no port from 8765 on is free"
    raise SettingsError(f"{taken}: name another one with --port")


def _open(address: str) -> None:
    """Open an address in the user's browser, if there is one with a window."""
    with suppress(webbrowser.Error, OSError):
        browser = webbrowser.get()
        if type(browser) is not webbrowser.GenericBrowser or os.environ.get("BROWSER"):  # others take the terminal
            browser.open(address)
