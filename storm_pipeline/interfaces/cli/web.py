"""``storm web``: the pages of this machine's own server, opened in its browser."""

import json
import os
import secrets
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import flag, option
from storm_pipeline.interfaces.cli.output import choose_model, load_settings, say
from storm_pipeline.interfaces.cli.serve import open_service
from storm_pipeline.text.files import read_plain, write_atomically

if TYPE_CHECKING:
    from storm_pipeline.settings import Settings

_HOST, _PORTS = "127.0.0.1", range(8765, 8865)
_PORT = "Port to listen on; default: that of the last start, else 8765, or the next free one."
_NAMES = ".web.json"  # port → its host name, in the folder of runs


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
    from storm_pipeline.interfaces.server.callers import Tokens
    from storm_pipeline.interfaces.server.gate import TOKEN_VARIABLE, require_valid_token
    from storm_pipeline.interfaces.server.reach import Reach
    from storm_pipeline.interfaces.server.serving import require_pages, serve_api
    from storm_pipeline.text.configuration.variables import variable

    require_pages()
    settings = choose_model(load_settings(ctx.obj))
    token = require_valid_token(_HOST, variable(TOKEN_VARIABLE) or secrets.token_urlsafe(32), Tokens(settings.out))
    key = secrets.token_urlsafe(32)
    names = _known_names(settings.out)
    with _listen([port] if port else [*names, *_PORTS]) as listening:
        chosen = listening[0].getsockname()[1]
        name = names.pop(chosen, f"storm-{secrets.token_hex(8)}.localhost")
        _keep_names(settings.out, {chosen: name, **names})
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
    yield from (f"lm={name}" for name in dict.fromkeys((settings.lm, *(p.model for p in PROVIDERS if p.key_variable))))
    yield from (f"search={name}" for name in dict.fromkeys((settings.search, "auto", *(i.base_name for i in usable))))


def _known_names(folder: Path) -> dict[int, str]:
    """Return the host names of the ports of earlier starts, the last one first; none if others may know them."""
    path = folder / _NAMES
    try:
        about = path.lstat()
        is_secret = os.name == "nt" or (about.st_uid == os.getuid() and not about.st_mode & 0o077)
        return {int(port): str(name) for port, name in json.loads(read_plain(path)).items()} if is_secret else {}
    except (OSError, ValueError):
        return {}


def _keep_names(folder: Path, names: Mapping[int, str]) -> None:
    with suppress(OSError):  # they are then for this start alone
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / _NAMES, json.dumps(names), private=True)


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
