"""Operations of the HTTP API as a table: each says what it answers with, and which errors it can give."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI

from storm_pipeline.server.problems import declared


@dataclass(frozen=True)
class Route:
    """An operation, as it is served and described to clients."""

    method: str
    path: str
    answer: Callable[..., Any]  # its name is the operation's, its docstring the description
    tag: str  # the group that documentation and generated clients put it in
    errors: tuple[int, ...] = ()  # statuses beside those that every route can give
    status: int = 200
    gives: str = ""  # what a success is, in a few words
    headers: Mapping[str, Any] = field(default_factory=dict)  # of a success, as OpenAPI describes them
    content: Mapping[str, Any] = field(default_factory=dict)  # of a success: media type → schema; default: the result's
    links: Mapping[str, Any] = field(default_factory=dict)  # operations that what a success names is for
    is_open: bool = False  # whether it needs no token
    options: Mapping[str, Any] = field(default_factory=dict)  # further arguments for FastAPI


def add_routes(app: FastAPI, routes: Iterable[Route]) -> None:
    """Add operations to an application."""
    add: Callable[..., None] = app.add_api_route
    for route in routes:
        name = route.answer.__name__
        success: dict[str, Any] = {"description": route.gives or "Done."}
        success |= {key: dict(value) for key in ("headers", "content", "links") if (value := getattr(route, key))}
        add(
            route.path,
            route.answer,
            methods=[route.method],
            status_code=route.status,
            operation_id=name,
            summary=name.replace("_", " ").capitalize(),
            tags=[route.tag],
            responses={route.status: success, **declared(route.errors, is_open=route.is_open)},
            **route.options,
        )
