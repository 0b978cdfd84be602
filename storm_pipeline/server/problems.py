"""Errors of the HTTP API: their form, their statuses, and how routes declare them."""

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
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
from storm_pipeline.server.bodies import SlowBodyError, TooLargeError
from storm_pipeline.server.documents import (
    EmptySetError,
    FullError,
    InUseError,
    TooManySetsError,
    UnknownDocumentsError,
)
from storm_pipeline.server.run_folders import NotReadyError, UnknownRunError
from storm_pipeline.server.run_queue import BusyError
from storm_pipeline.server.run_service import UnderWayError
from storm_pipeline.text.words import encodable


class ForbiddenError(StormError):
    """The caller may not have what is the owner's."""


class Problem(BaseModel):
    """What every error is answered with."""

    error: str = Field(description="What is wrong, and what to do.")
    kind: str = Field(description="Name of the error, such as `SettingsError`.")


_STATUS: dict[type[Exception], int] = {
    UnknownRunError: 404,
    UnknownDocumentsError: 404,
    UnknownStyleError: 404,
    ForbiddenError: 403,
    SlowBodyError: 408,
    TooLargeError: 413,
    FullError: 507,
    TooManySetsError: 409,
    EmptySetError: 409,
    InUseError: 409,
    NotReadyError: 409,
    UnderWayError: 409,
    DamagedRunError: 409,
    ContradictionError: 409,
    BusyError: 429,
    BudgetSpentError: 402,
    MissingExtraError: 501,
    DatasetError: 400,
    SettingsError: 400,
    StormError: 500,
}
"""Status codes by error, the most specific first."""
_BUSY_SECONDS = "30"
_MEANINGS = {
    400: "What was sent cannot be used: a topic, a setting, a recipe, a format, an outline, an article.",
    401: "The token is missing or wrong.",
    402: "The budget over all runs, or the caller's of this month, is spent.",
    403: "The request names another host, a page of another site makes it, or only the owner may make it.",
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
_ALWAYS = (403, 408, 413, 429, 500, 503)
"""What every route can give: all but the last but one are the gate's."""


def header(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return how a header that an answer always has is declared."""
    return {"description": description, "required": True, "schema": schema}


_CONTENT = {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
"""Not by FastAPI's ``model``, which takes an error for an event where a success is a stream of events."""
_LATER = {"headers": {"Retry-After": header("Seconds to wait.", {"type": "integer", "minimum": 0})}}
_HEADERS = {
    401: {"headers": {"WWW-Authenticate": header("How to authenticate.", {"type": "string", "const": "Bearer"})}},
    429: _LATER,
    503: _LATER,
}


def declared(errors: Iterable[int], *, is_open: bool = False) -> dict[int | str, dict[str, Any]]:
    """Return how FastAPI is told of a route's errors, those that every route can give included.

    ``is_open``: whether the route needs no token.
    """
    statuses = sorted({*errors, *_ALWAYS, *(() if is_open else (401,))})
    return {
        status: {"description": _MEANINGS[status], "content": _CONTENT, **_HEADERS.get(status, {})}
        for status in statuses
    }


def handle_errors(app: FastAPI, redact: Callable[[str], str]) -> None:
    """Let an application answer every error as a :class:`Problem`, its text redacted."""

    async def failed(_: Request, error: Exception) -> JSONResponse:
        status = next(status for kind, status in _STATUS.items() if isinstance(error, kind))
        if isinstance(error.__cause__, Timeout):  # another process holds the run
            status = 409
        return _answer(status, redact(str(error)), type(error).__name__, **_retry_after(status))

    app.add_exception_handler(StormError, failed)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _unexpected)


def _answer(status: int, error: str, kind: str, **headers: str) -> JSONResponse:
    """Answer; what is repeated of a request may hold lone surrogates, which UTF-8 cannot encode."""
    return JSONResponse({"error": encodable(error), "kind": kind}, status, headers=headers)


def _retry_after(status: int) -> dict[str, str]:
    return {"Retry-After": _BUSY_SECONDS} if status == HTTPStatus.TOO_MANY_REQUESTS else {}


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    where = ".".join(str(part) for part in first.get("loc", ()))
    return _answer(422, f"{where}: {first.get('msg', 'invalid')}", "RequestValidationError")


async def _refused(request: Request, error: Exception) -> JSONResponse:
    """Answer an error of the framework: there is no such path, or not with this method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    reasons = {404: "there is no such path", 405: f"this path takes no {request.method}"}
    phrase = HTTPStatus(status).phrase
    headers = {"Allow": ", ".join(_methods(request))} if status == HTTPStatus.METHOD_NOT_ALLOWED else {}
    return _answer(
        status, f"{reasons.get(status, phrase.lower())}; see docs/api.md", phrase.title().replace(" ", ""), **headers
    )


def _methods(request: Request) -> list[str]:
    """All methods of a path; the framework names those of one route, and a path may have several."""
    routes = request.app.router.routes
    found = (route.methods or () for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    return sorted({method for methods in found for method in methods})


async def _unexpected(_: Request, error: Exception) -> JSONResponse:
    del error  # it is in the server's log
    return _answer(500, "unexpected error; its traceback is in the server's log", "Unexpected")
