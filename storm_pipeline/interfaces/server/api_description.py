"""Additions to FastAPI's ``/openapi.json``: access, formats, settings to choose; and what routes depend on."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Annotated, Any, cast

from fastapi import Depends, FastAPI, Path, Request
from fastapi.openapi.utils import get_openapi

from storm_pipeline.interfaces.server.problems import Problem
from storm_pipeline.interfaces.server.remote_settings import RemoteSettings, article_formats
from storm_pipeline.interfaces.server.run_folders import RUN
from storm_pipeline.interfaces.server.run_service import RunService
from storm_pipeline.recipes import OUTLINES, RECIPES, WITHOUT_OUTLINE

_ABOUT = """Starts, follows and stops runs that research a topic and write an article, and returns their results.

Every error is JSON of the form `Problem`. In that form a path that does not exist answers 404, and one that takes no
such method 405 with `Allow`."""
_TAGS = [
    {"name": "runs", "description": "Starting, following and stopping runs."},
    {"name": "articles", "description": "Results of runs, and checks of articles."},
    {"name": "documents", "description": "Documents of your own, which a run can search."},
    {"name": "server", "description": "What the server offers, and how it is."},
]
_BEARER = {"bearer": {"type": "http", "scheme": "bearer", "description": "The owner's token, or a named one."}}
TEXT = {"schema": {"type": "string"}}
FILE = {"schema": {"type": "string", "format": "binary"}}
ARTICLE: dict[str, Any] = {
    format_.media_type: {"schema": {}} if format_.media_type.endswith("json") else TEXT if format_.is_text else FILE
    for format_ in article_formats()
}
"""Media types of articles → description of their content. Markdown, the default, comes first."""


async def _service(request: Request) -> RunService:
    return cast("RunService", request.app.state.service)


Service = Annotated[RunService, Depends(_service)]


# These patterns are for clients; look-ups of unchecked values give better messages.
_shape: dict[str, Any] = {"json_schema_extra": {"pattern": RUN, "maxLength": 255}}
_path = Path(description="Name of the run.", examples=["silk-road-20261122-203616"], **_shape)


def _accessible_run(service: Service, run: Annotated[str, _path]) -> str:
    return service.accessible(run)


RunName = Annotated[str, Depends(_accessible_run)]


def links(parameter: str, *names: str) -> dict[str, Any]:
    """Return links from an answer with the name of a run or a set of documents to operations on it."""
    return {name: {"operationId": name, "parameters": {parameter: f"$response.body#/{parameter}"}} for name in names}


def describe(app: FastAPI, remote: RemoteSettings, is_secured: Callable[[], bool]) -> None:
    """Set the description of an application; ``is_secured``: whether callers need a token, which may change."""

    @cache
    def description(*, secured: bool) -> dict[str, Any]:
        return _description(app, remote, secured=secured)

    app.openapi = lambda: description(secured=is_secured())  # type: ignore[method-assign]  # FastAPI's own way


def _description(app: FastAPI, remote: RemoteSettings, *, secured: bool) -> dict[str, Any]:
    servers = [{"url": "/", "description": "This server."}]
    schema = get_openapi(
        title=app.title, version=app.version, description=_ABOUT, routes=app.routes, tags=_TAGS, servers=servers
    )
    schemas = schema["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):  # FastAPI's; errors have another form here
        schemas.pop(unused, None)
    schemas |= {"Problem": Problem.model_json_schema(), "ChosenSettings": remote.json_schema()}
    for order in ("RunOrder", "ResumeOrder"):
        schemas[order]["properties"]["settings"] = {"$ref": "#/components/schemas/ChosenSettings"}
    schemas["RunOrder"] |= _combinations()
    for operation in (operation for path in schema["paths"].values() for operation in path.values()):
        answers = operation["responses"]
        if "HTTPValidationError" in str(answers.get("422")):  # FastAPI adds it to every operation with a parameter
            del answers["422"]
        if not secured:
            answers.pop("401", None)
        elif "401" in answers:
            operation["security"] = [{name: []} for name in _BEARER]
    if secured:
        schema["components"]["securitySchemes"] = _BEARER
    return schema


def _combinations() -> dict[str, Any]:
    """Return the valid combinations of result, recipe and outline."""

    def recipes(names: Iterable[str]) -> dict[str, Any]:
        return {"recipe": {"enum": [*names, None]}}

    return {
        "if": {"properties": {"makes": {"const": "outline"}}, "required": ["makes"]},
        "then": {"properties": {"outline": {"type": "null"}, **recipes(OUTLINES)}},
        "else": {
            "properties": recipes(RECIPES),
            "if": {"properties": {"outline": {"type": "string"}}, "required": ["outline"]},
            "then": {"properties": recipes(name for name in RECIPES if name not in WITHOUT_OUTLINE)},
        },
    }
