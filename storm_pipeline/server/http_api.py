"""The HTTP API: starts, follows and stops runs, and returns their results; see docs/api.md."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Depends, FastAPI, Header, Path, Query, Request
from fastapi.responses import Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, Field
from starlette.concurrency import iterate_in_threadpool
from starlette.routing import Route as PlainRoute

from storm_pipeline import __version__
from storm_pipeline.errors import MissingExtraError
from storm_pipeline.export.formats import ArticleFormat
from storm_pipeline.server.api_description import ARTICLE, FIGURES, OUTLINE, describe, run_links
from storm_pipeline.server.caller_runs import CallerRuns, own_runs
from storm_pipeline.server.callers import CALLER, OWNER
from storm_pipeline.server.checking import ArticleCheck, CheckOrder, CheckRecord
from storm_pipeline.server.document_routes import document_routes
from storm_pipeline.server.gate import Gate
from storm_pipeline.server.metrics import Metrics
from storm_pipeline.server.orders import ResumeOrder, RunOrder
from storm_pipeline.server.problems import ForbiddenError, handle_errors, header
from storm_pipeline.server.reach import Reach
from storm_pipeline.server.remote_settings import STYLE, article_as, article_format, article_formats
from storm_pipeline.server.routes import Route, add_routes
from storm_pipeline.server.run_service import POLL, RunService
from storm_pipeline.server.run_view import RUN, RunView
from storm_pipeline.server.serving import mcp_app

_HEALTH = "/health"
_FIGURES = "text/plain; version=0.0.4; charset=utf-8"
_ORDERED, _EXPORTED = (400, 402, 404, 409, 422), (400, 404, 409, 501)
"""What can be wrong with an order, and with an article in a format."""
# The forms of these are for clients. They are looked up as they come, which says better why there is no such thing.
_Run = Annotated[
    str,
    Path(
        description="Name of the run.",
        json_schema_extra={"pattern": RUN, "maxLength": 255},
        examples=["silk-road-20261122-203616"],
    ),
]
_Format = Annotated[str, Query(json_schema_extra={"enum": [one.name for one in article_formats()]})]
_Style = Annotated[
    str | None, Query(description="Name of a CSL style, such as apa.", json_schema_extra={"pattern": f"^{STYLE}$"})
]


class Health(BaseModel):
    """That the server answers."""

    status: Literal["ok"]
    version: str = Field(description="Version of storm-pipeline.")


def create_app(
    service: RunService, token: str = "", reach: Reach | None = None, check: ArticleCheck | None = None
) -> Gate:
    """The ASGI application of a service.

    ``token``: the owner's, see :class:`Gate`, which has ``reach`` as well. ``check``: the check that the server shares.
    """
    check = check or ArticleCheck(service.remote.owner)
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
    add_routes(app, (*_Routes(service, check, metrics).table(), *document_routes(service)))
    describe(app, service.remote, lambda: bool(token) or service.tokens.required)
    app.router.routes.extend(mcp.routes if mcp else [PlainRoute("/mcp", _no_mcp, methods=["GET", "POST", "DELETE"])])
    handle_errors(app, service.redactor.text)
    return Gate(app, token, service.tokens, reach, open_path=_HEALTH, observe=metrics.request)


class _Routes:
    """The operations on a service."""

    def __init__(self, service: RunService, check: ArticleCheck, metrics: Metrics) -> None:
        self._service = service
        self._check = check
        self._metrics = metrics

    def table(self) -> tuple[Route, ...]:
        """The operations, and what each can answer with."""
        known = [Depends(self._known)]  # an unknown run is refused before the stream of events begins
        followed = {"response_class": EventSourceResponse, "dependencies": known}
        location = {"Location": header("Path of the run.", {"type": "string"})}
        file, checked = {"response_class": Response}, {"response_model": CheckRecord}
        links = run_links("get_run", "stop_run", "resume_run", "delete_run", "follow_run", "get_article", "get_outline")
        return (
            Route("GET", _HEALTH, self.get_health, "server", is_open=True),
            Route("GET", "/formats", self.list_formats, "server"),
            Route("GET", "/settings", self.list_settings, "server"),
            Route("GET", "/metrics", self.get_metrics, "server", content=FIGURES, options=file),
            Route("POST", "/check", self.check_article, "articles", (400, 422), options=checked),
            Route("GET", "/runs", self.list_runs, "runs", (422,)),
            Route("POST", "/runs", self.start_run, "runs", _ORDERED, 202, headers=location, links=links),
            Route("GET", "/runs/{run}", self.get_run, "runs", (404,)),
            Route("DELETE", "/runs/{run}", self.delete_run, "runs", (404, 409), 204),
            Route("POST", "/runs/{run}/resume", self.resume_run, "runs", _ORDERED, 202),
            Route("POST", "/runs/{run}/stop", self.stop_run, "runs", (404, 409), 202),
            Route("GET", "/runs/{run}/events", self.follow_run, "runs", (404, 422), options=followed),
            Route("GET", "/runs/{run}/article", self.get_article, "articles", _EXPORTED, content=ARTICLE, options=file),
            Route(
                "GET", "/runs/{run}/outline", self.get_outline, "articles", (404, 409), content=OUTLINE, options=file
            ),
        )

    @property
    def _runs(self) -> CallerRuns:
        return own_runs(self._service)

    def get_metrics(self) -> Response:
        """Figures of the server for Prometheus; for its owner alone."""
        if CALLER.get() != OWNER:
            raise ForbiddenError("the figures of the server are its owner's")
        return Response(self._metrics.text(), media_type=_FIGURES)

    def get_health(self) -> Health:
        """Say that the server answers."""
        return Health(status="ok", version=__version__)

    def list_formats(self) -> list[ArticleFormat]:
        """The formats of articles."""
        return list(article_formats())

    def list_settings(self) -> list[str]:
        """Names of the settings that callers may choose."""
        return list(self._service.remote.choices())

    def check_article(self, order: CheckOrder) -> dict[str, Any]:
        """Judge every sentence of an article by the sources that it cites; as `storm check --json`."""
        return self._check.record(order.markdown, order.title, order.sources, fetch=order.fetch)

    def list_runs(self, most: Annotated[int, Query(ge=1, le=1000)] = 100) -> list[RunView]:
        """The newest runs, newest first."""
        return list(self._runs.views(most))

    def start_run(self, order: RunOrder, response: Response) -> RunView:
        """Start a run; where as many are under way as the server allows, it waits for its turn."""
        name = self._runs.start(order)
        response.headers["Location"] = f"/runs/{quote(name)}"
        return self._runs.view(name)

    def get_run(self, run: _Run) -> RunView:
        """The state and the usage of a run."""
        return self._runs.view(run)

    def delete_run(self, run: _Run) -> None:
        """Delete a run with everything that it has."""
        self._runs.delete(run)

    def resume_run(self, run: _Run, order: ResumeOrder | None = None) -> RunView:
        """Resume a run that ended early; its paid calls are not repeated."""
        return self._runs.view(self._runs.resume(run, order.settings if order else None))

    def stop_run(self, run: _Run) -> RunView:
        """Stop a run gracefully, or take it out of the queue; it can be resumed."""
        self._runs.stop(run)
        return self._runs.view(run)

    def _known(self, run: _Run) -> None:
        """Refuse a run that does not exist."""
        self._runs.known(run)

    async def follow_run(
        self,
        run: _Run,
        after: Annotated[int, Query(ge=0)] = 0,
        last_event_id: Annotated[int, Header(ge=0)] = 0,
    ) -> AsyncIterator[ServerSentEvent]:
        """Events of a run as they happen, from the first or after a given one, until it ends."""
        async for found in iterate_in_threadpool(self._runs.events(run, max(after, last_event_id))):
            if found is None:
                await asyncio.sleep(POLL)
            else:
                yield ServerSentEvent(data=found[1], id=str(found[0]))
        view = await asyncio.to_thread(self._runs.view, run)
        is_left = view.state in ("running", "queued") and self._service.queue.closed is not None
        state = "interrupted" if is_left else view.state  # what is in flight is not waited for
        yield ServerSentEvent(data={"state": state, "reason": view.reason}, event="end")

    def get_article(self, run: _Run, format: _Format = "markdown", citation_style: _Style = None) -> Response:  # noqa: A002
        """The article of a run in a format."""
        chosen = article_format(format)
        content = article_as(self._runs.article(run), chosen.name, citation_style=citation_style)
        media_type = f"{chosen.media_type}; charset=utf-8" if chosen.is_text else chosen.media_type
        return Response(content, media_type=media_type, headers=_safe(f"article{chosen.suffix}"))

    def get_outline(self, run: _Run) -> Response:
        """The outline of a run, as Markdown."""
        text = self._runs.outline(run)
        return Response(text, media_type="text/markdown; charset=utf-8", headers=_safe("outline.md"))


def _safe(name: str) -> dict[str, str]:
    """Headers for a file that holds text from the web."""
    return {
        "Content-Disposition": f'inline; filename="{name}"',
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        # a page's own policy names its script
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
    }


async def _no_mcp(_: Request) -> Response:
    raise MissingExtraError("MCP needs the extra 'mcp' of the server: pip install 'storm-pipeline[mcp]'")
