"""Rendering of pages, with the headers that let a browser run nothing but the server's own scripts."""

import functools
import hashlib
from importlib.resources import files
from itertools import chain
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

_WEB = "storm_pipeline.interfaces.web"
_STATIC = dict.fromkeys("article.css article.js style.css web.js htmx.min.js hx-sse.js".split(), _WEB)
"""Files that pages load, and their packages; those of the article are its exporter's."""
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


class Pages:
    """The pages of an application: these templates, and ``more`` files that they load, of a package that has others."""

    def __init__(self, package: str = _WEB, more: tuple[str, ...] = ()) -> None:
        self._packages = dict.fromkeys((package, _WEB))
        self._files = _STATIC | dict.fromkeys(more, package)

    def page(self, request: Request, template: str, status_code: int = 200, **values: Any) -> HTMLResponse:
        """Return a page; its values also have the path of the request, and whether the browser is logged in."""
        known = {"here": request.url.path, "has_session": cookie_name(request.scope) in request.cookies}
        text = self._environment.get_template(template).render(known | values)
        return HTMLResponse(text, status_code, _HEADERS)

    def static_file(self, name: str) -> Response:
        """Return a file that pages load, or raise HTTPException."""
        if name not in self._files:
            raise HTTPException(404)
        headers = {"Cache-Control": "max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
        kind = "css" if name.endswith(".css") else "javascript"
        return Response(self._static(name), media_type=f"text/{kind}", headers=headers)

    def _static(self, name: str) -> bytes:
        if name.startswith("article.") and (loader := self._environment.loader):
            return loader.get_source(self._environment, name)[0].encode()
        return files(self._files[name]).joinpath("static", name).read_bytes()

    def _address(self, name: str) -> str:
        """Return the address of a static file, which changes with its content."""
        return f"/static/{name}?{hashlib.sha256(self._static(name)).hexdigest()[:12]}"

    @functools.cached_property
    def _environment(self) -> "Environment":
        environment = page_environment(*self._packages)
        environment.globals |= {"static": functools.cache(self._address), "version": __version__, "noun": with_noun}
        environment.globals["most"] = 1000  # entries of a list
        environment.filters |= {"chain": chain.from_iterable, "clock": clock, "plain": plain_name, "shorten": shorten}
        environment.filters |= {
            "plainly": plainly,
            "begin": lambda text: text[:1].upper() + text[1:],
            "path": lambda text: quote(text, safe=""),
            "by_id": lambda sources: {source.id: source for source in sources},
        }
        return environment


page, static_file = (pages := Pages()).page, pages.static_file


def error_page(request: Request, status_code: int, problem: str) -> HTMLResponse:
    """Return the page of an error, or for a part of a page one line; ``problem``: what is wrong, and what to do."""
    is_part = "hx-request" in request.headers
    return page(request, "problem.html" if is_part else "error.html", status_code, status=status_code, problem=problem)


def plainly(text: str) -> str:
    """Return a message with the fields of the form and the server's settings in place of command-line options."""
    for option, name in sorted(((option_name(name), name) for name in Settings.model_fields), reverse=True):
        text = text.replace(option, f"“{_FIELDS[name]}”" if name in _FIELDS else f"the server’s setting “{name}”")
    return text
