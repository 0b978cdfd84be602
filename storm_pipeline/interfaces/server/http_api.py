"""The HTTP API to start, follow and stop runs, and to get their results; see docs/api.md."""

import asyncio
from collections.abc import AsyncIterator
from importlib import import_module
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Header, Path, Query, Request
from fastapi.concurrency import contextmanager_in_threadpool
from fastapi.responses import Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, Field
from starlette.applications import Starlette
from starlette.concurrency import iterate_in_threadpool
from starlette.formparsers import MultiPartParser
from starlette.requests import ClientDisconnect
from starlette.routing import Route

from storm_pipeline import __version__
from storm_pipeline.errors import MissingExtraError, RunError
from storm_pipeline.interfaces.server.api_description import ARTICLE, FILE, TEXT, RunName, Service, describe, links
from storm_pipeline.interfaces.server.callers import CALLER, IS_KNOWN
from storm_pipeline.interfaces.server.checking import CheckOrder, CheckRecord
from storm_pipeline.interfaces.server.documents import ID, NAME, DocumentSet
from storm_pipeline.interfaces.server.errors import SlowBodyError, UnknownRunError
from storm_pipeline.interfaces.server.estimates import EstimateView
from storm_pipeline.interfaces.server.gate import Gate, Turns, announced_size
from storm_pipeline.interfaces.server.pieces import RunPieces
from storm_pipeline.interfaces.server.problems import answers, handle_errors, header
from storm_pipeline.interfaces.server.reach import Reach
from storm_pipeline.interfaces.server.remote_settings import (
    STYLE,
    ContinueOrder,
    QuestionOrder,
    ResumeOrder,
    RunOrder,
    article_as,
    article_format,
    article_formats,
)
from storm_pipeline.interfaces.server.run_folders import RunView
from storm_pipeline.interfaces.server.run_service import POLL, RunService
from storm_pipeline.interfaces.server.setup import Setup
from storm_pipeline.interfaces.web.entrance import OPEN_PAGES, Sessions
from storm_pipeline.interfaces.web.page import error_page
from storm_pipeline.output.export.formats import ArticleFormat
from storm_pipeline.types import Article

_HEALTH = "/health"
_SHARED = "/shared/"
_ORDERED = frozenset({400, 402, 404, 409, 422})  # what can be wrong with an order


_server, _runs, _articles, _documents = (
    APIRouter(tags=[tag], generate_unique_id_function=lambda route: route.name)
    for tag in ("server", "runs", "articles", "documents")
)
_Format = Annotated[str, Query(json_schema_extra={"enum": [format_.name for format_ in article_formats()]})]
_SharedFormat = Annotated[str, Query(json_schema_extra={"enum": [f.name for f in article_formats(of_shared=True)]})]
_Style = Annotated[
    str | None, Query(description="Name of a CSL style, such as apa.", json_schema_extra={"pattern": f"^{STYLE}$"})
]
_Set = Annotated[str, Path(description="Name of the set of documents.", pattern=ID)]
_Name = Annotated[str, Path(description="Name of the file, whose ending names its format.", pattern=NAME)]


def create_app(service: RunService, token: str = "", reach: Reach | None = None, *, key: str = "") -> Gate:
    """Create the ASGI application of a service.

    ``token``: the owner's, see :class:`Gate`, also for ``reach``. ``key``: the one-time key of the owner's browser.
    """
    mcp = _open_mcp(service)
    app = FastAPI(
        title="storm-pipeline",
        version=__version__,
        docs_url=None,  # these pages load scripts from another site
        redoc_url=None,
        redirect_slashes=False,
        lifespan=mcp.router.lifespan_context if mcp else None,
    )
    app.state.service = service
    app.router.routes += [route for router in (_server, _runs, _articles, _documents) for route in router.routes]
    sessions = Sessions(service.tokens, token, key)
    has_pages = _add_pages(app, sessions)
    describe(app, service.remote, lambda: bool(token) or service.tokens.required)
    app.router.routes += mcp.routes if mcp else [Route("/mcp", _no_mcp, methods=["GET", "POST", "DELETE"])]
    handle_errors(app, service.redactor.text, error_page if has_pages else None)
    of_session, open_pages = (sessions.find, OPEN_PAGES) if has_pages else (None, ())
    open_paths = (_SHARED, *open_pages)
    app.add_middleware(Turns)
    return Gate(
        app,
        token,
        service.tokens,
        reach,
        open_path=_HEALTH,
        of_session=of_session,
        open_pages=open_paths,
        problem=error_page,
    )


class Health(BaseModel):
    """The state of the server."""

    status: Literal["ok"]
    version: str = Field(description="Version of storm-pipeline.")


@_server.get(_HEALTH, responses=answers(is_open=True))
def get_health() -> Health:
    """Return the state of the server."""
    return Health(status="ok", version=__version__)


@_server.get("/formats", responses=answers())
def list_formats() -> list[ArticleFormat]:
    """List the formats of articles."""
    return list(article_formats())


@_server.get("/settings", responses=answers())
def list_settings(service: Service) -> list[str]:
    """List the names of the settings that callers may choose."""
    return list(service.remote.choices())


@_server.get("/doctor", responses=answers())
def get_setup(service: Service) -> Setup:
    """Return which model writes, what judges and searches, and what is missing; as `storm doctor`, without paths."""
    return service.setup()


@_articles.post("/check", responses=answers(400, 422), response_model=CheckRecord)
def check_article(service: Service, order: CheckOrder) -> dict[str, Any]:
    """Judge every sentence of an article by the sources that it cites; as `storm check --json`."""
    return service.checks.record(order.markdown, order.title, order.sources, fetch=order.fetch)


@_runs.post("/estimate", responses=answers(400, 404, 409, 422))
def estimate_run(service: Service, order: RunOrder) -> EstimateView:
    """Estimate calls, tokens, dollars and minutes of a run by a formula; no model is asked."""
    return service.estimate(order, CALLER.get())


@_runs.get("/runs", responses=answers(422))
def list_runs(service: Service, most: Annotated[int, Query(ge=1, le=1000)] = 100) -> list[RunView]:
    """List the newest runs, newest first."""
    return list(service.views(most, CALLER.get()))


_STARTED = header("Location", "Path of the run.", type="string") | {
    "links": links("run", "get_run", "stop_run", "resume_run", "delete_run", "follow_run", "get_article", "get_outline")
}


@_runs.post("/runs", responses=answers(*_ORDERED, success=202, **_STARTED), status_code=202)
def start_run(service: Service, order: RunOrder, response: Response) -> RunView:
    """Start a run; it waits if the maximum number of runs is active."""
    name = service.start(order, CALLER.get())
    response.headers["Location"] = f"/runs/{quote(name)}"
    return service.view(name)


@_runs.get("/runs/{run}", responses=answers(404))
def get_run(service: Service, run: RunName) -> RunView:
    """Return the state and the usage of a run."""
    return service.view(run)


@_runs.delete("/runs/{run}", responses=answers(404, 409, success=204), status_code=204)
def delete_run(service: Service, run: RunName) -> None:
    """Delete a run and its folder."""
    service.delete(run)


@_runs.post("/runs/{run}/resume", responses=answers(*_ORDERED, success=202), status_code=202)
def resume_run(service: Service, run: RunName, order: ResumeOrder | None = None) -> RunView:
    """Resume a run that ended early; its paid calls are not repeated."""
    return service.view(service.resume(run, order.settings if order else None))


@_runs.post("/runs/{run}/continue", responses=answers(*_ORDERED, success=202, **_STARTED), status_code=202)
def continue_run(service: Service, run: RunName, order: ContinueOrder, response: Response) -> RunView:
    """Write an article from edited pieces of a run, in a new run; what was paid and is not edited is not paid again."""
    name = service.continue_from(run, caller=CALLER.get(), **order.model_dump())
    response.headers["Location"] = f"/runs/{quote(name)}"
    return service.view(name)


@_runs.post("/runs/{run}/stop", responses=answers(404, 409, success=202), status_code=202)
def stop_run(service: Service, run: RunName) -> RunView:
    """Stop a run gracefully, or remove it from the queue; it can be resumed."""
    service.stop(run)
    return service.view(run)


@_runs.get("/runs/{run}/pieces", responses=answers(404))
def get_pieces(service: Service, run: RunName) -> RunPieces:
    """Return what a run has found and written so far: interviews, sources with ratings, outline, sections."""
    return service.pieces(run)


@_runs.get("/runs/{run}/events", responses=answers(404, 422), response_class=EventSourceResponse)
async def follow_run(
    service: Service,
    run: RunName,
    after: Annotated[int, Query(ge=0)] = 0,
    last_event_id: Annotated[int, Header(ge=0)] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """Yield the events of a run as they happen, optionally after a given one, until it, the token or session ends."""
    try:
        async for event in iterate_in_threadpool(service.events(run, max(after, last_event_id))):
            if not IS_KNOWN.get()():
                state, reason = "refused", "the token was revoked, or the session has ended"
                break
            if event is None:
                await asyncio.sleep(POLL)
            else:
                yield ServerSentEvent(data=event[1], id=str(event[0]))
        else:
            state, reason = await asyncio.to_thread(service.ending, run)
    except UnknownRunError:
        state, reason = "deleted", "the run was deleted"
    except RunError as error:
        state, reason = "unreadable", service.redactor.text(str(error))
    yield ServerSentEvent(data={"state": state, "reason": reason}, event="end")


@_articles.get("/runs/{run}/article", responses=answers(400, 404, 409, 501, content=ARTICLE), response_class=Response)
def get_article(
    service: Service,
    run: RunName,
    format: _Format = "markdown",  # noqa: A002
    citation_style: _Style = None,
) -> Response:
    """Return the article of a run in a format."""
    return _rendered(service.article(run), format, citation_style)


@_articles.get(
    "/shared/{key}/article",
    responses=answers(400, 404, 409, 501, is_open=True, content=ARTICLE),
    response_class=Response,
)
def get_shared_article(
    service: Service,
    key: Annotated[str, Path(description="Key of a read-only link.")],
    format: _SharedFormat = "markdown",  # noqa: A002
    citation_style: _Style = None,
) -> Response:
    """Return the article of a read-only link in a format, without its research; needs no token."""
    chosen = article_format(format, of_shared=True).name
    return _rendered(service.shared_article(key), chosen, citation_style)


class Share(BaseModel):
    """A read-only link to an article."""

    key: str = Field(description="256 random bits, shown this once: the article is at `/shared/KEY/article`.")


@_articles.post("/runs/{run}/share", responses=answers(404, 409, success=201), status_code=201)
def share_article(service: Service, run: RunName) -> Share:
    """Make a read-only link to the article of a run, which replaces an earlier one."""
    return Share(key=service.share(run))


@_articles.delete("/runs/{run}/share", responses=answers(404, 409, success=204), status_code=204)
def unshare_article(service: Service, run: RunName) -> None:
    """Make the read-only link to an article invalid."""
    service.unshare(run)


@_articles.post("/runs/{run}/questions", responses=answers(*_ORDERED, 501, content=ARTICLE), response_class=Response)
def ask_about_article(
    service: Service,
    run: RunName,
    order: QuestionOrder,
    format: _Format = "markdown",  # noqa: A002
) -> Response:
    """Return an answer from the sources of an article alone, in a format of articles; it is paid once."""
    chosen = article_format(format).name  # before it is paid
    return _rendered(service.ask(run, order.question), chosen)


@_articles.get(
    "/runs/{run}/outline", responses=answers(404, 409, content={"text/markdown": TEXT}), response_class=Response
)
def get_outline(service: Service, run: RunName) -> Response:
    """Return the outline of a run, as Markdown."""
    text = service.redactor.text(service.folders.outline(run))
    return Response(text, media_type="text/markdown; charset=utf-8", headers=_safe("outline.md"))


@_documents.get("/documents", responses=answers())
def list_documents(service: Service) -> list[DocumentSet]:
    """List your sets of documents, oldest first."""
    return list(service.documents.views(CALLER.get()))


_MADE = header("Location", "Path of the set.", type="string") | {
    "links": links("documents", "get_documents", "delete_documents", "put_document")
}


@_documents.post("/documents", responses=answers(409, 507, success=201, **_MADE), status_code=201)
def create_documents(service: Service, response: Response) -> DocumentSet:
    """Make an empty set of documents, to which files are added, and which an order may name."""
    made = service.documents.create(CALLER.get())
    response.headers["Location"] = f"/documents/{made.documents}"
    return made


@_documents.get("/documents/{documents}", responses=answers(404, 422))
def get_documents(service: Service, documents: _Set) -> DocumentSet:
    """Return a set of documents with its files, and the runs that use it."""
    return service.documents.view(CALLER.get(), documents)


@_documents.delete("/documents/{documents}", responses=answers(404, 409, 422, success=204), status_code=204)
def delete_documents(service: Service, documents: _Set) -> None:
    """Delete a set of documents, unless a waiting or active run uses it."""
    service.documents.delete(CALLER.get(), documents, service.is_running)


@_documents.put(
    "/documents/{documents}/{name}",
    responses=answers(400, 404, 409, 422, 507),
    openapi_extra={"requestBody": {"required": True, "content": {"application/octet-stream": FILE}}},
)
async def put_document(service: Service, documents: _Set, name: _Name, request: Request) -> DocumentSet:
    """Put a file into a set of documents not used by a run, replacing one of the same name."""
    caller, sets = CALLER.get(), service.documents
    incoming = sets.upload(caller, documents, name, announced_size(dict(request.headers)))
    async with contextmanager_in_threadpool(incoming) as upload:
        try:
            async for piece in request.stream():
                await asyncio.to_thread(upload.write, piece)
        except ClientDisconnect as error:
            raise SlowBodyError("the client went away before the whole file had arrived") from error
        async with sets.reading[caller.name]:
            await asyncio.to_thread(upload.commit)
    return await asyncio.to_thread(sets.view, caller, documents)


def _rendered(article: Article, format_: str, citation_style: str | None = None) -> Response:
    chosen = article_format(format_)
    content = article_as(article, chosen.name, citation_style=citation_style)
    media_type = f"{chosen.media_type}; charset=utf-8" if chosen.is_text else chosen.media_type
    return Response(content, media_type=media_type, headers=_safe(f"article{chosen.suffix}"))


def _safe(name: str) -> dict[str, str]:
    """Return security headers for a file with text from the web; a page's own policy allows its script."""
    return {
        "Content-Disposition": f'inline; filename="{name}"',
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
    }


def _add_pages(app: FastAPI, sessions: Sessions) -> bool:
    """Add the pages for browsers; False without the extra ``web``."""
    try:
        import_module("python_multipart")
        MultiPartParser.spool_max_size = 1 << 16  # bytes of each file of a form that are held in memory
        pages = import_module("storm_pipeline.interfaces.web.app")
    except ImportError:
        return False
    app.router.routes += pages.routes(sessions)
    return True


def _open_mcp(service: RunService) -> Starlette | None:
    try:
        from storm_pipeline.interfaces.server.mcp_tools import mcp_app
    except ImportError:  # without the extra
        return None
    return mcp_app(service)


async def _no_mcp(_: Request) -> Response:
    raise MissingExtraError("MCP needs the extra 'mcp' of the server: pip install 'storm-pipeline[mcp]'")
