"""The HTTP API: starts, follows and stops runs, and returns their results; see docs/api.md."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from filelock import Timeout
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import iterate_in_threadpool
from starlette.exceptions import HTTPException
from starlette.routing import Route

from storm_pipeline import __version__
from storm_pipeline.errors import (
    BudgetSpentError,
    DamagedRunError,
    DatasetError,
    MissingExtraError,
    SettingsError,
    StormError,
)
from storm_pipeline.render.links import IMAGE_POLICY
from storm_pipeline.server.bodies import SlowBodyError, TooLargeError
from storm_pipeline.server.caller_runs import CallerRuns, own_runs
from storm_pipeline.server.callers import CALLER, OWNER
from storm_pipeline.server.checking import ArticleCheck, SentPage
from storm_pipeline.server.document_routes import add_document_routes
from storm_pipeline.server.documents import FullError, InUseError, UnknownDocumentsError
from storm_pipeline.server.gate import Gate
from storm_pipeline.server.metrics import Metrics
from storm_pipeline.server.orders import RunOrder
from storm_pipeline.server.reach import Reach
from storm_pipeline.server.remote_settings import article_as, article_format, article_formats
from storm_pipeline.server.run_folders import NotReadyError, RunView, UnknownRunError
from storm_pipeline.server.run_queue import BusyError
from storm_pipeline.server.run_service import RunService, UnderWayError
from storm_pipeline.server.serving import mcp_app

_POLL = 0.25  # seconds between two checks for new events
_HEALTH = "/health"


class ForbiddenError(StormError):
    """The caller may not have what is the owner's."""


_STATUS: dict[type[Exception], int] = {
    UnknownRunError: 404,
    UnknownDocumentsError: 404,
    ForbiddenError: 403,
    SlowBodyError: 408,
    TooLargeError: 413,
    FullError: 507,
    InUseError: 409,
    NotReadyError: 409,
    UnderWayError: 409,
    DamagedRunError: 409,
    BusyError: 429,
    BudgetSpentError: 402,
    MissingExtraError: 501,
    DatasetError: 400,
    SettingsError: 400,
    StormError: 500,
}
"""Status codes by error, the most specific first."""


class CheckOrder(BaseModel):
    """The body of a request to check an article."""

    model_config = ConfigDict(extra="forbid")

    markdown: str = Field(max_length=1_000_000, description="The article, with footnotes or numbers of references.")
    title: str = Field(default="", max_length=300)
    sources: list[SentPage] = Field(default_factory=list, max_length=500, description="Pages that it cites.")
    fetch: bool = Field(default=False, description="Fetch cited pages that were not sent.")


class ResumeOrder(BaseModel):
    """The body of a request to resume a run; it may be left out."""

    model_config = ConfigDict(extra="forbid")

    settings: dict[str, Any] = Field(default_factory=dict, description="Settings to change, such as a cap.")


def create_app(service: RunService, token: str = "", reach: Reach | None = None) -> Gate:
    """The ASGI application of a service. ``token``: the owner's, see :class:`Gate`, which has ``reach`` as well."""
    check = ArticleCheck(service.remote.owner)
    metrics = Metrics(service)
    mcp = mcp_app(service, check)
    app = FastAPI(
        title="storm-pipeline",
        version=__version__,
        docs_url=None,  # these pages load scripts from another site
        redoc_url=None,
        redirect_slashes=False,
        lifespan=mcp.router.lifespan_context if mcp else None,
    )
    routes = _Routes(service, check, metrics)
    add: Callable[..., None] = app.add_api_route
    add(_HEALTH, routes.health, methods=["GET"])
    add("/formats", routes.formats, methods=["GET"])
    add("/settings", routes.settings, methods=["GET"])
    add("/check", routes.check, methods=["POST"])
    add("/runs", routes.runs, methods=["GET"])
    add("/runs", routes.start, methods=["POST"], status_code=202)
    add("/runs/{run}", routes.run, methods=["GET"])
    add("/runs/{run}", routes.delete, methods=["DELETE"], status_code=204)
    add("/runs/{run}/resume", routes.resume, methods=["POST"], status_code=202)
    add("/runs/{run}/stop", routes.stop, methods=["POST"], status_code=202)
    watched = [Depends(routes.known)]  # an unknown run is refused before the stream of events begins
    add("/runs/{run}/events", routes.events, methods=["GET"], response_class=EventSourceResponse, dependencies=watched)
    add("/runs/{run}/article", routes.article, methods=["GET"])
    add("/runs/{run}/outline", routes.outline, methods=["GET"])
    add("/metrics", routes.figures, methods=["GET"])
    add_document_routes(app, service)
    app.router.routes.extend(mcp.routes if mcp else [Route("/mcp", _no_mcp, methods=["GET", "POST", "DELETE"])])
    app.add_exception_handler(StormError, routes.failed)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(Exception, _unexpected)
    return Gate(app, token, service.tokens, reach, open_path=_HEALTH, observe=metrics.request)


class _Routes:
    """The operations on a service."""

    def __init__(self, service: RunService, check: ArticleCheck, metrics: Metrics) -> None:
        self._service = service
        self._check = check
        self._metrics = metrics

    @property
    def _runs(self) -> CallerRuns:
        return own_runs(self._service)

    def figures(self) -> Response:
        """Figures of the server for Prometheus; for its owner alone."""
        if CALLER.get() != OWNER:
            raise ForbiddenError("the figures of the server are its owner's")
        return Response(self._metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    def health(self) -> dict[str, str]:
        """Say that the server answers."""
        return {"status": "ok", "version": __version__}

    def formats(self) -> list[dict[str, str]]:
        """The formats of articles."""
        return [asdict(one) for one in article_formats()]

    def settings(self) -> list[str]:
        """Names of the settings that callers may choose."""
        return list(self._service.remote.choices())

    def check(self, order: CheckOrder) -> dict[str, Any]:
        """Judge every sentence of an article by the sources that it cites; as `storm check --json`."""
        return self._check.record(order.markdown, order.title, order.sources, fetch=order.fetch)

    def runs(self, most: Annotated[int, Query(ge=1, le=1000)] = 100) -> list[RunView]:
        """The newest runs, newest first."""
        return list(self._runs.views(most))

    def start(self, order: RunOrder, response: Response) -> RunView:
        """Start a run; where as many are under way as the server allows, it waits for its turn."""
        name = self._runs.start(order)
        response.headers["Location"] = f"/runs/{name}"
        return self._runs.view(name)

    def run(self, run: str) -> RunView:
        """The state and the usage of a run."""
        return self._runs.view(run)

    def delete(self, run: str) -> None:
        """Delete a run with everything that it has."""
        self._runs.delete(run)

    def resume(self, run: str, order: ResumeOrder | None = None) -> RunView:
        """Resume a run that ended early; its paid calls are not repeated."""
        return self._runs.view(self._runs.resume(run, order.settings if order else None))

    def stop(self, run: str) -> RunView:
        """Stop a run gracefully, or take it out of the queue; it can be resumed."""
        self._runs.stop(run)
        return self._runs.view(run)

    def known(self, run: str) -> None:
        """Refuse a run that does not exist."""
        self._runs.known(run)

    async def events(
        self,
        run: str,
        after: Annotated[int, Query(ge=0)] = 0,
        last_event_id: Annotated[int | None, Header(ge=0)] = None,
    ) -> AsyncIterator[ServerSentEvent]:
        """Events of a run as they happen, from the first or after a given one, until it ends."""
        known = after if last_event_id is None else last_event_id
        async for found in iterate_in_threadpool(self._runs.events(run, known)):
            if found is None:
                await asyncio.sleep(_POLL)
            else:
                yield ServerSentEvent(data=found[1], id=str(found[0]))
        view = await asyncio.to_thread(self._runs.view, run)
        is_left = view.state in ("running", "queued") and self._service.queue.closed is not None
        state = "interrupted" if is_left else view.state  # what is in flight is not waited for
        yield ServerSentEvent(data={"state": state, "reason": view.reason}, event="end")

    def article(self, run: str, format: str = "markdown", citation_style: str | None = None) -> Response:  # noqa: A002
        """The article of a run in a format."""
        chosen = article_format(format)
        content = article_as(self._runs.article(run), chosen.name, citation_style=citation_style)
        media_type = f"{chosen.media_type}; charset=utf-8" if chosen.is_text else chosen.media_type
        return Response(content, media_type=media_type, headers=_safe(f"article{chosen.suffix}"))

    def outline(self, run: str) -> Response:
        """The outline of a run, as Markdown."""
        text = self._runs.outline(run)
        return Response(text, media_type="text/markdown; charset=utf-8", headers=_safe("outline.md"))

    def failed(self, _: Request, error: Exception) -> JSONResponse:
        """Answer with what went wrong, without secrets."""
        status = next(status for kind, status in _STATUS.items() if isinstance(error, kind))
        if isinstance(error.__cause__, Timeout):  # another process holds the run
            status = 409
        body = {"error": self._service.redactor.text(str(error)), "kind": type(error).__name__}
        return JSONResponse(body, status, headers={"Retry-After": "30"} if status == 429 else None)


def _safe(name: str) -> dict[str, str]:
    """Headers for a file that holds text from the web."""
    return {
        "Content-Disposition": f'inline; filename="{name}"',
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        # a page's own policy names its script, and allows images only if it has any
        f"{IMAGE_POLICY}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
    }


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    where = ".".join(str(part) for part in first.get("loc", ()))
    return JSONResponse({"error": f"{where}: {first.get('msg', 'invalid')}", "kind": "RequestValidationError"}, 422)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    """An error of the framework: there is no such path, or not with this method."""
    status, headers = (error.status_code, error.headers) if isinstance(error, HTTPException) else (500, None)
    reasons = {404: "there is no such path", 405: f"this path takes no {request.method}"}
    phrase = HTTPStatus(status).phrase
    body = {"error": f"{reasons.get(status, phrase.lower())}; see docs/api.md", "kind": phrase.title().replace(" ", "")}
    return JSONResponse(body, status, headers=headers)


async def _unexpected(_: Request, error: Exception) -> JSONResponse:
    del error  # it is in the server's log
    return JSONResponse({"error": "unexpected error; its traceback is in the server's log", "kind": "Unexpected"}, 500)


async def _no_mcp(_: Request) -> Response:
    raise MissingExtraError("MCP needs the extra 'mcp' of the server: pip install 'storm-pipeline[mcp]'")
