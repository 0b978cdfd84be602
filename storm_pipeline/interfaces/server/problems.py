"""Errors of the HTTP API: their form, their statuses, and how routes declare them."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from filelock import Timeout
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match

from storm_pipeline.errors import (
    BudgetSpentError,
    ContradictionError,
    DamagedRunError,
    DatasetError,
    MissingExtraError,
    SettingsError,
    StormError,
    UnknownStyleError,
)
from storm_pipeline.interfaces.server import errors
from storm_pipeline.text.words import encodable


class Problem(BaseModel):
    """The answer to every error."""

    error: str = Field(description="What is wrong, and what to do.")
    kind: str = Field(description="Name of the error, such as `SettingsError`.")


_ERRORS: dict[int, tuple[type[Exception], ...]] = {
    404: (errors.UnknownRunError, errors.UnknownDocumentsError, UnknownStyleError),
    408: (errors.SlowBodyError,),
    413: (errors.TooLargeError,),
    507: (errors.FullError,),
    409: (errors.ConflictError, DamagedRunError, ContradictionError),
    429: (errors.BusyError,),
    402: (BudgetSpentError,),
    501: (MissingExtraError,),
    400: (DatasetError, SettingsError, errors.EncodingError),
    500: (StormError,),
}
"""Status code → errors, the most specific first."""
_BUSY_SECONDS = "30"
_MEANINGS = {
    400: "What was sent cannot be used: a topic, a setting, a recipe, a format, an outline, an article, an encoding.",
    401: "The token is missing or wrong.",
    402: "The budget over all runs, or the caller's of this month, is spent.",
    403: "The request names another host, or a page of another site makes it.",
    404: "The caller has no run, set of documents or citation style of this name.",
    408: "The body did not arrive in time.",
    409: "Not in this state: under way, in use, not ready or damaged; or what was sent contradicts itself.",
    413: "The body is larger than the server allows.",
    422: "The body or a parameter has another form.",
    429: "Too many runs wait, or too many requests of the caller are under way.",
    500: "Anything else; the details are in the server's log.",
    501: "An extra is needed that the server lacks.",
    503: "Too many requests are under way.",
    507: "The server's disk is full.",
}
_ALWAYS = (403, 408, 413, 429, 500, 503)  # statuses of every route; all except 500 come from the gate


def header(name: str, description: str, **schema: Any) -> dict[str, Any]:
    """Return the OpenAPI declaration of a constant header."""
    return {"headers": {name: {"description": description, "required": True, "schema": schema}}}


_CONTENT = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
"""Not by FastAPI's ``model``, which would declare errors of event streams as events."""
_LATER = header("Retry-After", "Seconds to wait.", type="integer", minimum=0)
_HEADERS = {
    401: header("WWW-Authenticate", "How to authenticate.", type="string", const="Bearer"),
    429: _LATER,
    503: _LATER,
}


def answers(*statuses: int, is_open: bool = False, success: int = 200, **about: Any) -> dict[int | str, dict[str, Any]]:
    """Return the declaration of a route's answers for FastAPI.

    ``statuses``: errors in addition to those of every route. ``is_open``: whether no token is needed. ``success``:
    status of a success; ``about``: its headers, content and links in OpenAPI.
    """
    wrong = sorted({*statuses, *_ALWAYS, *(() if is_open else (401,))})
    problems = {s: {"description": _MEANINGS[s], "content": _CONTENT} | _HEADERS.get(s, {}) for s in wrong}
    return {success: {"description": "Done.", **about}, **problems}


def handle_errors(
    app: FastAPI, redact: Callable[[str], str], page: Callable[[Request, int, str], Response] | None = None
) -> None:
    """Make an application answer every error with a redacted :class:`Problem`, or a browser with a page of it."""

    async def answer(request: Request, error: Exception) -> Response:
        text, headers = "unexpected error; its traceback is in the server's log", {}
        status, kind = 500, "Unexpected"
        if isinstance(error, StormError):
            is_held = isinstance(error.__cause__, Timeout)  # another process holds the run
            status = 409 if is_held else next(code for code, kinds in _ERRORS.items() if isinstance(error, kinds))
            text, kind = redact(str(error)), type(error).__name__
            headers = {"Retry-After": _BUSY_SECONDS} if status == HTTPStatus.TOO_MANY_REQUESTS else {}
        elif isinstance(error, RequestValidationError):
            first = error.errors()[0]
            status, kind = 422, "RequestValidationError"
            text = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        elif isinstance(error, HTTPException):  # errors of the framework
            status, phrase = error.status_code, HTTPStatus(error.status_code).phrase
            reasons = {404: "there is no page or route of this address", 405: f"this path takes no {request.method}"}
            text, kind = f"{reasons.get(status, phrase.lower())}; see docs/api.md", phrase.title().replace(" ", "")
            headers = {"Allow": _methods(request)} if status == HTTPStatus.METHOD_NOT_ALLOWED else {}
        if page and "text/html" in request.headers.get("accept", ""):
            return page(request, status, text)
        # quotes of a request may contain lone surrogates, which UTF-8 cannot encode
        return JSONResponse({"error": encodable(text), "kind": kind}, status, headers=headers)

    for handled in (StormError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(handled, answer)


def _methods(request: Request) -> str:
    """Return all methods of a path; the framework names only those of one route."""
    routes = request.app.router.routes
    matched = (route.methods or () for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    return ", ".join(sorted({method for methods in matched for method in methods}))
