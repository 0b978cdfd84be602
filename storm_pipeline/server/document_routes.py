"""Routes for documents that callers send; see docs/api.md."""

import asyncio
from typing import Annotated

from fastapi import Path, Request, Response
from starlette.requests import ClientDisconnect

from storm_pipeline.server.bodies import SlowBodyError, announced_size
from storm_pipeline.server.callers import CALLER
from storm_pipeline.server.documents import ID, NAME, DocumentSet
from storm_pipeline.server.problems import header
from storm_pipeline.server.routes import Route
from storm_pipeline.server.run_folders import UnknownRunError
from storm_pipeline.server.run_service import RunService

_Set = Annotated[str, Path(description="Name of the set of documents.", pattern=ID)]
_Name = Annotated[str, Path(description="Name of the file, whose ending tells its format.", pattern=NAME)]


_BODY = {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}


def document_routes(service: RunService) -> tuple[Route, ...]:
    """The operations on documents, and what each can answer with."""
    routes = _Routes(service)
    put = {"openapi_extra": {"requestBody": _BODY}}
    one = "/documents/{documents}"
    location = {"Location": header("Path of the set.", {"type": "string"})}
    links = {
        name: {"operationId": name, "parameters": {"documents": "$response.body#/documents"}}
        for name in ("get_documents", "delete_documents", "put_document")
    }
    return (
        Route("GET", "/documents", routes.list_documents, "documents"),
        Route(
            "POST", "/documents", routes.create_documents, "documents", (409, 507), 201, headers=location, links=links
        ),
        Route("GET", one, routes.get_documents, "documents", (404, 422)),
        Route("DELETE", one, routes.delete_documents, "documents", (404, 409, 422), 204),
        Route("PUT", f"{one}/{{name}}", routes.put_document, "documents", (400, 404, 409, 422, 507), options=put),
    )


class _Routes:
    """The operations on documents."""

    def __init__(self, service: RunService) -> None:
        self._service = service
        self._sets = service.documents

    def list_documents(self) -> list[DocumentSet]:
        """Your sets of documents, oldest first."""
        return list(self._sets.views(CALLER.get()))

    def create_documents(self, response: Response) -> DocumentSet:
        """Make an empty set of documents; files are put into it, and an order names it."""
        made = self._sets.create(CALLER.get())
        response.headers["Location"] = f"/documents/{made.documents}"
        return made

    def get_documents(self, documents: _Set) -> DocumentSet:
        """A set of documents with its files, and the runs that use it."""
        return self._sets.view(CALLER.get(), documents)

    def delete_documents(self, documents: _Set) -> None:
        """Delete a set of documents, unless a run that uses it waits or is under way."""
        self._sets.delete(CALLER.get(), documents, self._is_running)

    async def put_document(self, documents: _Set, name: _Name, request: Request) -> DocumentSet:
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
