"""The routes of the pages, which call the service of the HTTP API; actions are forms, answered by redirects."""

import re
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import Annotated, Any
from urllib.parse import parse_qs, quote, urlencode

from fastapi import APIRouter, Depends, Request
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from storm_pipeline.errors import ContradictionError, SettingsError, StormError
from storm_pipeline.interfaces.server import remote_settings as orders
from storm_pipeline.interfaces.server.api_description import RunName, Service
from storm_pipeline.interfaces.server.callers import CALLER, digest
from storm_pipeline.interfaces.server.documents import DocumentSet
from storm_pipeline.interfaces.server.estimates import expected_calls
from storm_pipeline.interfaces.server.pieces import RunPieces, changes_of_outline
from storm_pipeline.interfaces.server.run_service import RunService
from storm_pipeline.interfaces.server.setup import offered_model
from storm_pipeline.interfaces.web.entrance import Sessions, entrance
from storm_pipeline.interfaces.web.page import page, static_file
from storm_pipeline.interfaces.web.recording import recorded_article, recorded_events, recorded_pieces
from storm_pipeline.interfaces.web.research_map import research_map
from storm_pipeline.interfaces.web.run_pages import Progress
from storm_pipeline.output.render.html import page_values
from storm_pipeline.sources.documents.reader import FORMATS
from storm_pipeline.types import Article

_pages = APIRouter(include_in_schema=False)
_Row = tuple[str, str]  # of a form: level and heading, or name and focus
_Kept = tuple[DocumentSet | None, list[str]]  # what was added to a form, and why some files were not
_MOST_RUNS, _NEWEST, _FIELDS = 500, 20, 2000  # in the library; of those looked at for interrupted ones; of a form
_MOST_ANSWERS, _LONGEST = 500, 8000  # answers that are kept; characters of an address
_MOST_ROWS, _MOST_ASKERS = 900, 50  # headings and perspectives of the form for an outline, two fields each
_ANSWERS: dict[tuple[str, str], Article] = {}  # of a run, by a hash of the question, the oldest first


def routes(sessions: Sessions) -> list[BaseRoute]:
    """Return the routes of an application whose ``state`` has the service."""
    return [*_pages.routes, *entrance(sessions, page).routes]


async def _form(request: Request) -> dict[str, list[str]]:
    try:
        return parse_qs((await request.body()).decode(errors="replace"), keep_blank_values=True, max_num_fields=_FIELDS)
    except ValueError as error:
        raise SettingsError(f"the form has more than {_FIELDS:,} fields: send fewer") from error


_Form = Annotated[dict[str, list[str]], Depends(_form)]


def _go(*parts: str) -> Response:
    return RedirectResponse("/" + "/".join(quote(part, safe="") for part in parts), 303)


_pages.get("/static/{name}")(static_file)
_pages.get("/alive", status_code=204)(lambda: None)  # asked by each open page


@_pages.get("/")
@_pages.get("/api")
def _home(request: Request, service: Service) -> Response:
    values = page_values(recorded_article()) | {"setup": service.setup(), "references_at": "/example"}
    template = "api.html" if request.url.path == "/api" else "home.html"
    return page(request, template, interrupted=len(_interrupted(service)), base_url=request.base_url, **values)


# Articles: those of runs, the recording, and those that others may read


@dataclass(frozen=True)
class _Book:
    """An article as its pages show it: their address, and what they may offer."""

    base: str
    article: Article
    pieces: Callable[[], RunPieces] | None = None
    run: str | None = None
    is_linked: bool = False
    is_recording: bool = False
    is_shared: bool = False
    changes: Sequence[str] = ()  # of the outline that was given
    answers: Sequence[_Row] = ()  # keys and questions

    def page(self, request: Request, template: str = "read.html", status: int = 200, **more: Any) -> Response:
        """Return a page of the article."""
        said_of = {revision.after: revision for revision in self.article.revisions if revision.after}
        shown = vars(self) | {"title": self.article.title, "link": "", "problem": "", "given": {}, "said_of": said_of}
        values = page_values(self.article) | shown | more
        return page(request, template, status, formats=orders.article_formats(self.is_shared), **values)

    def part(self, request: Request, part: str, format: str, citation_style: str) -> Response:  # noqa: A002
        """Return the page of a part: the article itself, a file of it, how it was made, or its map."""
        match part:
            case "":
                return self.page(request)
            case "file":
                try:
                    return self.file(format, citation_style.strip() or None)
                except SettingsError as error:  # such as a style that nobody has
                    given = {"format": format, "citation_style": citation_style}
                    return self.page(request, status=400, problem=str(error), given=given)
            case "wikitext":
                text = orders.article_as(self.article, "wikitext").decode()
                return self.page(request, "wikitext.html", wikitext=text)
            case "made" if self.pieces:
                return self.page(request, "made.html", pieces=self.pieces())
            case "map" if self.pieces:
                return self.page(request, "map.html", map=research_map(self.article))
        raise HTTPException(404)

    def file(self, format: str, citation_style: str | None) -> Response:  # noqa: A002
        """Return the article as a file to save."""
        chosen = orders.article_format(format, of_shared=self.is_shared)
        content = orders.article_as(self.article, chosen.name, citation_style=citation_style)
        name = re.sub(r"[\W_]+", "-", self.article.title).strip("-")[:80] or "article"
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name + chosen.suffix)}",
            "Content-Security-Policy": "default-src 'none'",
            "X-Content-Type-Options": "nosniff",
        }
        return Response(content, media_type=chosen.media_type, headers=headers)


def _recorded() -> _Book:
    return _Book("/example", recorded_article(), recorded_pieces, is_recording=True)


def _book(service: Service, run: RunName) -> _Book:
    article, is_linked = service.article(run), service.view(run).shared
    changes = changes_of_outline(service.folders.path(run), article)
    asked, base = [(key, answer.title) for (of, key), answer in [*_ANSWERS.items()] if of == run], f"/read/{quote(run)}"
    return _Book(base, article, partial(service.pieces, run), run, is_linked, changes=changes, answers=asked)


def _shared(service: Service, key: str) -> _Book:
    return _Book(f"/shared/{quote(key)}", service.shared_article(key), is_shared=True)


def _add_book(path: str, find: Callable[..., _Book]) -> None:
    """Add the pages of an article below a path; ``find``: a dependency."""

    def show(
        request: Request,
        book: Annotated[_Book, Depends(find)],
        part: str = "",
        format: str = "markdown",  # noqa: A002
        citation_style: str = "",
    ) -> Response:
        return book.part(request, part, format, citation_style)

    _pages.get(path)(show)
    _pages.get(f"{path}/{{part}}")(show)


@_pages.get("/example/watch")
def _watch_recording(request: Request) -> Response:
    progress = Progress.of(recorded_events())
    shown = {"progress": progress, "pieces": recorded_pieces(), "view": None, "expected": 0, "left": ""}
    return _recorded().page(request, "watch.html", 200, elapsed=progress.elapsed(), **shown)


_add_book("/example", _recorded)
_add_book("/read/{run}", _book)
_add_book("/shared/{key}", _shared)


@_pages.post("/read/{run}/share")
def _share(request: Request, service: Service, run: RunName) -> Response:
    base, name = request.base_url, request.base_url.hostname or ""
    base = base.replace(hostname="127.0.0.1") if name.endswith(".localhost") else base
    link = f"{base}shared/{service.share(run)}"  # never with the host name of a session, which is for its user alone
    return _book(service, run).page(request, link=link)


@_pages.post("/read/{run}/ask")
def _ask(request: Request, service: Service, run: RunName, form: _Form) -> Response:
    """Answer a question, at an address to come back to."""
    given = {"question": form.get("question", [""])[0]}
    try:
        answer = service.ask(run, orders.QuestionOrder.of(**given).question)
    except StormError as error:
        problem = service.redactor.text(str(error))
        return _book(service, run).page(request, status=400, problem=problem, given=given)
    _ANSWERS[run, key := digest(answer.title)[:16]] = answer  # asked again, it takes no other's place
    for oldest in [*_ANSWERS][:-_MOST_ANSWERS]:
        _ANSWERS.pop(oldest, None)
    return _go("read", run, "answers", key)


@_pages.get("/read/{run}/answers/{key}")
def _answer(request: Request, run: RunName, key: str) -> Response:
    if answer := _ANSWERS.get((run, key)):
        return page(request, "answer.html", base=f"/read/{quote(run)}", run=run, **page_values(answer))
    raise HTTPException(404)


# Writing and watching

_SETTINGS = ("lm", "search", "length", "article_language", "about", "style", "max_cost", "max_tokens")
# button that starts an order → the choices that it changes
_STARTS = {"start": {}, "start-extract": {"outline_first": ""}, "start-embedded": {"lm": "embedded:1.5b"}}


@_pages.get("/write")
def _write(request: Request, service: Service) -> Response:
    given = dict(request.query_params)
    if given.get("do", "").startswith("estimate"):
        return _take_order(request, service, given, ())
    documents, refused = _keep(service, given, ())
    return _order_page(request, service, given, documents=documents, refused=refused)


def _order_page(request: Request, service: RunService, given: dict[str, str], **more: Any) -> Response:
    settings, choices = service.remote.owner, set(service.remote.choices())
    allowed = {name: sorted(service.remote.allowed.get(name) or ()) for name in ("lm", "search")}
    status = 400 if more.get("problem") or more.get("refused") else 200
    values = {"estimate": None, "problem": "", "field": "", "refused": (), "form": "", "is_new": False} | more
    known = {"settings": settings, "choices": choices, "allowed": allowed, "readable": sorted(FORMATS)}
    known["offered"] = offered_model(settings) or ""
    return page(request, "write.html", status, given=given, **known, **values)


@_pages.post("/write")
async def _order(request: Request, service: Service) -> Response:
    """Show the estimate of an order, or start it; files become a set of documents."""
    from starlette.concurrency import run_in_threadpool

    kind = request.headers.get("content-type", "").lower()
    if kind.startswith("multipart/") and "charset" in kind:
        raise SettingsError("forms with files are in UTF-8: name no other charset")  # some are slow, or not text
    async with request.form(max_files=100, max_fields=20, max_part_size=1 << 18) as form:
        given = {name: value.strip() for name, value in form.items() if isinstance(value, str)}
        files = [file for file in form.getlist("files") if isinstance(file, UploadFile) and file.filename]
        return await run_in_threadpool(_take_order, request, service, given, files)


def _take_order(request: Request, service: RunService, given: dict[str, str], files: Sequence[UploadFile]) -> Response:
    """Start an order, or lead to the address of its estimate, to which Back leads as well."""
    given |= {"documents": ""} if given.pop("without", "") else {}
    documents, refused = _keep(service, given, files)
    if refused:
        return _order_page(request, service, given, documents=documents, refused=refused)
    try:
        order = _parse_order(given, service.remote.choices(), documents)
        shown, do = digest(repr((order, documents and documents.files))), given.get("do", "")
        if do in _STARTS and given.get("form", shown) == shown:
            order = _parse_order(given | _STARTS[do], service.remote.choices(), documents)
            return _go("watch", service.start(order, CALLER.get()))
        query = urlencode(given | {"do": "estimate-anew" if do in _STARTS else "estimate", "form": ""})
        if request.method == "POST" and len(query) < _LONGEST:
            return RedirectResponse(f"/write?{query}", 303)
        estimate = service.estimate(order, CALLER.get())
    except (StormError, ValueError) as error:
        problem = service.redactor.text(str(error))
        field = "outline" if isinstance(error, ContradictionError) else getattr(error, "setting", "")
        return _order_page(request, service, given, problem=problem, field=field, documents=documents)
    new: dict[str, Any] = {"estimate": estimate, "form": shown, "is_new": do not in ("", "estimate")}
    return _order_page(request, service, given, documents=documents, **new)


def _parse_order(given: dict[str, str], choices: Iterable[str], documents: DocumentSet | None) -> orders.RunOrder:
    chosen = {name: given[name] for name in _SETTINGS if given.get(name) and name in choices}
    settings = {name: float(v) if v.replace(".", "", 1).isdecimal() else v for name, v in chosen.items()}
    makes, outline = "outline" if given.get("outline_first") else "article", given.get("outline") or None
    if outline and makes == "outline":
        raise ContradictionError("your own outline is used as it is: leave it out, or do not ask for one to change")
    topic, name = given.get("topic", ""), documents.documents if documents and documents.files else None
    return orders.RunOrder.of(topic=topic, makes=makes, outline=outline, settings=settings, documents=name)


def _keep(service: RunService, given: dict[str, str], files: Sequence[UploadFile]) -> _Kept:
    """Put files into the set of documents of a form, or into a new one; return it, and why some are not in it."""
    sets, caller, refused = service.documents, CALLER.get(), list[str]()
    kept, name = None, given.get("documents")
    try:
        kept = sets.view(caller, name) if name else None
    except StormError:
        refused.append("The files that you added earlier are no longer here: add them again")
    for file in files:
        name = file.filename or ""
        try:
            kept = kept or sets.create(caller)
            with sets.upload(caller, kept.documents, name, file.size) as upload:
                while piece := file.file.read(1 << 20):
                    upload.write(piece)
                upload.commit()
        except StormError as error:
            problem = service.redactor.text(str(error))
            refused.append(problem if problem.startswith(name) else f"{name} was not added: {problem}")
    given["documents"] = kept.documents if kept else ""
    return (sets.view(caller, kept.documents) if kept else None), refused


@_pages.get("/watch/{run}")
@_pages.get("/watch/{run}/now")
def _watch(request: Request, service: Service, run: RunName) -> Response:
    """Show a run under way, or the part of its page that changes."""
    view, pieces = service.view(run), service.pieces(run)
    progress = Progress.of(event for event in takewhile(bool, service.events(run)) if event)
    expected = expected_calls(service.folders.path(run), view.topic, view.recipe)
    expected = expected if view.state in ("running", "queued") else 0
    values: dict[str, Any] = {"view": view, "pieces": pieces, "progress": progress, "title": view.topic, "run": run}
    now = time.time() if view.state == "running" else 0.0
    values |= {"expected": expected, "left": progress.left(expected), "elapsed": progress.elapsed(now)}
    if view.state in ("stopped", "failed", "interrupted"):
        values["remote"] = service.remote
        values["again"] = {"topic": view.topic, "documents": view.documents or ""} | service.choices_of(run)
    template = "watch_now.html" if request.url.path.endswith("/now") else "watch.html"
    return page(request, template, base=f"/watch/{quote(run)}", is_stopping=service.queue.is_stopping(run), **values)


def _add_action(part: str, what: str) -> None:
    """Add a form's action on a run, which leads to a page of the run, or to the library."""

    def act(service: Service, run: RunName) -> Response:
        getattr(service, what)(run)
        return _go(part) if part == "library" else _go(part, run)

    _pages.post(f"/{part}/{{run}}/{what}")(act)


for _part, _what in (("watch", "stop"), ("watch", "resume"), ("read", "unshare"), ("library", "delete")):
    _add_action(_part, _what)


# The library and the outline


@_pages.get("/library")
def _library(request: Request, service: Service, q: str = "") -> Response:
    views = service.views(_MOST_RUNS, CALLER.get())
    shown = [view for view in views if q.casefold() in view.topic.casefold()]
    return page(request, "library.html", views=shown, q=q, is_empty=not views, interrupted=len(_interrupted(service)))


@_pages.post("/library/resume")
def _resume_interrupted(service: Service) -> Response:
    """Resume the interrupted runs that can be, oldest first."""
    for run in reversed(_interrupted(service)):
        with suppress(StormError):
            service.resume(run)
    return _go("library")


def _interrupted(service: RunService) -> list[str]:
    return [view.run for view in service.views(_NEWEST, CALLER.get()) if view.state == "interrupted"]


@_pages.get("/outline/{run}")
def _outline(request: Request, service: Service, run: RunName) -> Response:
    pieces = service.pieces(run)
    lines = [line.strip() for line in pieces.outline.splitlines() if line.strip()]
    headings = [(str(min(3, len(line) - len(line.lstrip("#")))), line.lstrip("# ")) for line in lines]
    perspectives = [(asker.name, asker.focus) for asker in pieces.perspectives]
    rows: dict[str, Any] = {"headings": headings[:_MOST_ROWS], "perspectives": perspectives[:_MOST_ASKERS]}
    cut = [*map(len, rows.values())] != (count := [len(headings), len(perspectives)]) and count
    return page(request, "outline.html", run=run, view=service.view(run), cut=cut, **rows)


@_pages.post("/outline/{run}")
def _edit_outline(request: Request, service: Service, run: RunName, form: _Form) -> Response:
    """Move, add or remove a row, or go on from what the rows hold."""
    headings = list(zip(form.get("level", []), form.get("heading", []), strict=False))
    perspectives = list(zip(form.get("name", []), form.get("focus", []), strict=False))
    what, how, place = [*form.get("do", ["go"])[0].split("-"), "", ""][:3]
    problem = ""
    if what == "heading":
        headings = _moved(headings, how, place, ("1", ""))
    elif what == "perspective":
        perspectives = _moved(perspectives, how, place, ("", ""))
    else:
        try:
            if any(level not in ("1", "2", "3") for level, _ in headings):
                raise SettingsError("a heading has a level of 1, 2 or 3")
            outline = "\n".join(f"{'#' * int(level)} {title.strip()}" for level, title in headings if title.strip())
            if not outline:
                raise SettingsError("the outline is empty: write a heading for each section")
            asked = [{"name": name.strip(), "focus": focus.strip()} for name, focus in perspectives if name.strip()]
            known = [{"name": asker.name, "focus": asker.focus} for asker in service.pieces(run).perspectives]
            order = orders.ContinueOrder.of(outline=outline, perspectives=None if asked == known else asked)
            return _go("watch", service.continue_from(run, caller=CALLER.get(), **order.model_dump()))
        except StormError as error:
            problem = service.redactor.text(str(error))
    shown = {"run": run, "view": service.view(run), "headings": headings, "perspectives": perspectives}
    return page(request, "outline.html", 400 if problem else 200, problem=problem, **shown)


def _moved(rows: list[_Row], how: str, place: str, empty: _Row) -> list[_Row]:
    """Return the rows after ``up``, ``down``, ``remove`` or ``add`` (after it) of the row at a place."""
    at = next((number for number in range(len(rows)) if str(number) == place), len(rows))
    row, rest = rows[at : at + 1], rows[:at] + rows[at + 1 :]
    if how == "add":
        return [*rows[: at + 1], empty, *rows[at + 1 :]]
    to = max(0, at + (1 if how == "down" else -1))
    return rest if how == "remove" else [*rest[:to], *row, *rest[to:]]
