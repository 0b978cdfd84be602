"""Rendering of pages, with the headers that let a browser run nothing but the server's own scripts."""

import functools
import hashlib
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from storm_pipeline import __version__
from storm_pipeline.interfaces.server.redaction import plain_name
from storm_pipeline.interfaces.web.entrance import cookie_name
from storm_pipeline.output.render.html import page_environment
from storm_pipeline.settings import Settings, option_name
from storm_pipeline.text.formatting import clock, shorten, with_noun

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = Path(__file__).parent
_TYPES = {".css": "text/css", ".js": "text/javascript"}
_STATIC = frozenset("article.css article.js style.css web.js htmx.min.js hx-sse.js".split())
"""Files that pages load; those of the article are its exporter's."""
_MOST = "At most, in"
_FIELDS = {"lm": "Model", "search": "Search engine", "max_cost": f"{_MOST} US dollars", "max_tokens": f"{_MOST} tokens"}
"""Setting → its field on the form; the others are the server's."""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


def page(request: Request, template: str, status_code: int = 200, **values: Any) -> HTMLResponse:
    """Return a page; its values also have the path of the request, and whether the browser is logged in."""
    known = {"here": request.url.path, "has_session": cookie_name(request.scope) in request.cookies}
    text = _environment().get_template(template).render(known | values)
    return HTMLResponse(text, status_code, _HEADERS)


def error_page(request: Request, status_code: int, problem: str) -> HTMLResponse:
    """Return the page of an error, or for a part of a page one line; ``problem``: what is wrong, and what to do."""
    is_part = "hx-request" in request.headers
    return page(request, "problem.html" if is_part else "error.html", status_code, status=status_code, problem=problem)


def static_file(name: str) -> Response:
    """Return a file that pages load, or raise HTTPException."""
    if name not in _STATIC:
        raise HTTPException(404)
    headers = {"Cache-Control": "max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
    return Response(_static(name), media_type=_TYPES[Path(name).suffix], headers=headers)


@functools.cache
def _static(name: str) -> bytes:
    if name.startswith("article."):
        loader = _environment().loader
        return loader.get_source(_environment(), name)[0].encode() if loader else b""
    return (_HERE / "static" / name).read_bytes()


def _address(name: str) -> str:
    """Return the address of a static file, which changes with its content."""
    return f"/static/{name}?{hashlib.sha256(_static(name)).hexdigest()[:12]}"


def plainly(text: str) -> str:
    """Return a message with the fields of the form and the server's settings in place of command-line options."""
    for option, name in sorted(((option_name(name), name) for name in Settings.model_fields), reverse=True):
        text = text.replace(option, f"“{_FIELDS[name]}”" if name in _FIELDS else f"the server’s setting “{name}”")
    return text


@functools.cache
def _environment() -> "Environment":
    environment = page_environment("storm_pipeline.interfaces.web")
    environment.globals |= {"static": _address, "version": __version__, "noun": with_noun}
    environment.filters |= {
        "begin": lambda text: text[:1].upper() + text[1:],
        "chain": chain.from_iterable,
        "clock": clock,
        "plain": plain_name,
        "plainly": plainly,
        "shorten": shorten,
        "path": lambda text: quote(text, safe=""),
        "by_id": lambda sources: {source.id: source for source in sources},
    }
    return environment
