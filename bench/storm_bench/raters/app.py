"""The web application in which people and programs rate."""

import sqlite3
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from storm_bench.errors import RatingError
from storm_bench.raters.sheets import Sheet, marks, sheets_of
from storm_bench.raters.store import CLOSED, Ratings
from storm_bench.raters.study import RaterTable
from storm_pipeline.api import Pages, Reach, behind_links, caller_name, page_values

_PAGES = Pages("storm_bench.raters", ("raters.css", "raters.js"))
OTHER = "this page belongs to another rater: open your own link again, in another tab"


class Given(BaseModel):
    """Answers on a page; an empty value takes an answer back."""

    model_config = ConfigDict(extra="forbid")

    page: str
    answers: dict[str, str]


class Desk:
    """The pages of a rater, with the answers given on them."""

    def __init__(self, ratings: Ratings, rater: RaterTable) -> None:
        self.rater = rater
        self._ratings = ratings
        self.sheets = sheets_of(ratings.round, rater.name)
        given = defaultdict[tuple[int, int], dict[str, str]](dict)
        for one in ratings.answers(rater.name):
            given[one.number, one.article][one.question] = one.value
        self.answers = {sheet.name: given[sheet.number, sheet.place] for sheet in self.sheets}
        self.done = [sheet.name for sheet in self.sheets if not sheet.missing(self.answers[sheet.name])]

    @property
    def page_id(self) -> str:
        """Hash of the rater's name, which his pages send with answers: the session may be another rater's by then."""
        study = self._ratings.round.study
        return sha256(f"{study.title}\n{study.seed}\n{self.rater.name}".encode()).hexdigest()[:16]

    @property
    def next_sheet(self) -> Sheet | None:
        """The first page that is not complete; None if all are."""
        return next((sheet for sheet in self.sheets if sheet.name not in self.done), None)

    def sheet(self, name: str) -> Sheet:
        """Return a page. Raises RatingError: the rater has no such page."""
        if (found := next((sheet for sheet in self.sheets if sheet.name == name), None)) is None:
            raise RatingError(f"you have no page {name[:100]!r}")
        return found

    def beside(self, name: str, step: int) -> Sheet | None:
        """Return the page before (-1) or after (1) a page; None if there is none."""
        place = [sheet.name for sheet in self.sheets].index(name) + step
        return self.sheets[place] if 0 <= place < len(self.sheets) else None

    def save(self, name: str, given: dict[str, str]) -> "Desk":
        """Save answers on a page, and return the desk with them. Raises RatingError: closed, or they do not fit."""
        sheet = self.sheet(name)
        self._ratings.save(self.rater.name, sheet.number, sheet.accept(given))
        return Desk(self._ratings, self.rater)

    def progress(self) -> dict[str, Any]:
        """Return the number of complete pages and of all, and whether the round is open."""
        return {"done": len(self.done), "of": len(self.sheets), "is_open": self._ratings.is_open}

    def record(self, sheet: Sheet | None) -> dict[str, Any]:
        """Return a page for a program, with the progress; ``page`` is None if all are complete."""
        return self.progress() | (sheet.as_record(self.answers[sheet.name]) if sheet else {"page": None})


def _desk(request: Request) -> Desk:
    ratings: Ratings = request.app.state.ratings
    return Desk(ratings, next(rater for rater in ratings.round.study.raters if rater.name == caller_name()))


async def _form(request: Request) -> dict[str, str]:
    return dict(parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True))


_Desk = Annotated[Desk, Depends(_desk)]


def _desk_of_page(request: Request, desk: _Desk, rater: str = "") -> Desk:
    """Return the desk of the rater whose page sends answers; programs with a token have no page."""
    if rater != desk.page_id and (rater or "authorization" not in request.headers):
        raise HTTPException(409, OTHER, {"Retry-After": "3"})
    return desk


_DeskOfPage = Annotated[Desk, Depends(_desk_of_page)]
_Form = Annotated[dict[str, str], Depends(_form)]


def create_app(folder: Path, reach: Reach) -> Any:
    """Return the application of a round; ``reach``: the names that the server answers to."""
    app = FastAPI(title="Ratings", docs_url=None, redoc_url=None, openapi_url=None)
    ratings = app.state.ratings = Ratings(folder)
    app.get("/static/{name}", include_in_schema=False)(_PAGES.static_file)

    @app.exception_handler(HTTPException)
    async def refuse(request: Request, error: HTTPException) -> Response:
        answer = _problem(request, error.status_code, error.detail)
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(RequestValidationError)
    async def correct(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        return _problem(request, 422, f"{'.'.join(map(str, first['loc'][1:]))}: {first['msg']}")

    @app.exception_handler(RatingError)
    async def reject(request: Request, error: RatingError) -> Response:
        return _problem(request, 409 if str(error) == CLOSED else 422, str(error))

    @app.exception_handler(sqlite3.Error)
    async def fail(request: Request, error: sqlite3.Error) -> Response:
        return _problem(request, 503, f"this answer was not saved: {error}. Try again")

    _add_pages(app)
    _add_programs(app)
    return behind_links(app, ratings.holder, reach, _PAGES.page, _problem)


def _problem(request: Request, status: int, why: str) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": why}, status)
    return _PAGES.page(request, "raters_problem.html", status, status=status, problem=why)


def _add_pages(app: FastAPI) -> None:
    """Add the pages for browsers; all work without JavaScript."""

    @app.get("/", include_in_schema=False)
    def start(request: Request, desk: _Desk) -> Response:
        study = request.app.state.ratings.round.study
        return _PAGES.page(request, "raters_start.html", study=study, desk=desk, **desk.progress())

    @app.get("/sheet/{name}", include_in_schema=False)
    def show(request: Request, name: str, desk: _Desk) -> Response:
        return _show(request, desk, name)

    @app.post("/sheet/{name}", include_in_schema=False)
    def take(request: Request, name: str, desk: _DeskOfPage, form: _Form) -> Response:
        action = form.pop("do", "next")
        if number := form.pop("sentence", "").strip():
            form[f"error.{number}"] = form.pop("class", "")
        form.pop("class", None)
        try:
            desk = desk.save(name, form)
        except RatingError as error:
            return _show(request, desk, name, problem=str(error))
        if action == "next" and (missing := desk.sheet(name).missing(desk.answers[name])):
            return _show(request, desk, name, missing)
        after = desk.beside(name, 1) if action == "next" else desk.sheet(name)
        return RedirectResponse(f"/sheet/{after.name}" if after else "/", 303)


def _show(request: Request, desk: Desk, name: str, missing: list[str] | None = None, problem: str = "") -> Response:
    sheet = desk.sheet(name)
    status = 422 if missing or problem else 200
    values = page_values(sheet.article) if sheet.article else {"article": None}
    answers = desk.answers[name]
    around = {"before": desk.beside(name, -1), "after": desk.beside(name, 1), "marked": marks(answers)}
    shown = {"sheet": sheet, "rater": desk.page_id, "answers": answers, "missing": missing or [], "problem": problem}
    return _PAGES.page(request, "raters_sheet.html", status, **values, **around, **shown, **desk.progress())


def _add_programs(app: FastAPI) -> None:
    """Add the routes for programs, which the pages use too."""

    @app.get("/api/next")
    def following(desk: _Desk) -> dict[str, Any]:
        """Return the first page that is not complete, and how many are; ``page`` is null at the end."""
        return desk.record(desk.next_sheet)

    @app.get("/api/pages/{name}")
    def one(name: str, desk: _Desk) -> dict[str, Any]:
        """Return a page with the answers given on it."""
        return desk.record(desk.sheet(name))

    @app.post("/api/answers")
    def answer(given: Given, desk: _DeskOfPage) -> dict[str, Any]:
        """Save answers on a page, all or none; return what is missing there, and how many pages are complete."""
        after = desk.save(given.page, given.answers)
        return after.progress() | {"missing": after.sheet(given.page).missing(after.answers[given.page])}
