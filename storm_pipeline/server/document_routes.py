"""Routes for documents that callers send; see docs/api.md."""

import asyncio
from collections.abc import Callable
from typing import Annotated

from fastapi import FastAPI, Path, Request
from starlette.requests import ClientDisconnect

from storm_pipeline.server.bodies import SlowBodyError, announced_size
from storm_pipeline.server.callers import CALLER
from storm_pipeline.server.documents import ID, NAME, DocumentSet
from storm_pipeline.server.run_folders import UnknownRunError
from storm_pipeline.server.run_service import RunService

_Set = Annotated[str, Path(description="Name of the set of documents.", pattern=ID)]
_Name = Annotated[str, Path(description="Name of the file, whose ending tells its format.", pattern=NAME)]


def add_document_routes(app: FastAPI, service: RunService) -> None:
    """Add the routes of documents to an application, which answers errors by their status."""
    routes = _Routes(service)
    add: Callable[..., None] = app.add_api_route
    body = {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
    add("/documents", routes.sets, methods=["GET"])
    add("/documents", routes.create, methods=["POST"], status_code=201)
    add("/documents/{documents}", routes.set, methods=["GET"])
    add("/documents/{documents}", routes.delete, methods=["DELETE"], status_code=204)
    add("/documents/{documents}/{name}", routes.put, methods=["PUT"], openapi_extra={"requestBody": body})


class _Routes:
    """The operations on documents."""

    def __init__(self, service: RunService) -> None:
        self._service = service
        self._sets = service.documents

    def sets(self) -> list[DocumentSet]:
        """Your sets of documents, oldest first."""
        return list(self._sets.views(CALLER.get()))

    def create(self) -> DocumentSet:
        """Make an empty set of documents; files are put into it, and an order names it."""
        return self._sets.create(CALLER.get())

    def set(self, documents: _Set) -> DocumentSet:
        """A set of documents with its files, and the runs that use it."""
        return self._sets.view(CALLER.get(), documents)

    def delete(self, documents: _Set) -> None:
        """Delete a set of documents, unless a run that uses it waits or is under way."""
        self._sets.delete(CALLER.get(), documents, self._is_running)

    async def put(self, documents: _Set, name: _Name, request: Request) -> DocumentSet:
        """Put a file into a set of documents that no run uses yet; one of the same name is replaced."""
        announced = announced_size(dict(request.headers))
        with self._sets.upload(CALLER.get(), documents, name, announced) as upload:
            try:
                async for piece in request.stream():
                    await asyncio.to_thread(upload.write, piece)
            except ClientDisconnect as error:
                raise SlowBodyError("the client went away before the whole file had arrived") from error
            await asyncio.to_thread(upload.commit)
        return await asyncio.to_thread(self._sets.view, CALLER.get(), documents)

    def _is_running(self, run: str) -> bool:
        try:
            return self._service.is_running(run)
        except UnknownRunError:  # its folder was deleted by hand
            return False
