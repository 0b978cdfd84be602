"""The runs of one caller: what requests may do to a service."""

from collections.abc import Iterator, Mapping
from typing import Any

from storm_pipeline.server.callers import CALLER, Caller
from storm_pipeline.server.orders import RunOrder
from storm_pipeline.server.run_folders import UnknownRunError
from storm_pipeline.server.run_service import RunService
from storm_pipeline.server.run_view import RunView
from storm_pipeline.types import Article


class CallerRuns:
    """The runs that a caller has access to; others' are unknown to him.

    Methods are those of :class:`RunService`, and raise as they do.
    """

    def __init__(self, service: RunService, caller: Caller) -> None:
        self._service = service
        self._caller = caller

    def known(self, name: str) -> str:
        """Return the name of a run that he has access to. Raises UnknownRunError: there is none."""
        if not self._caller.has_access(self._service.folders.order(name)[0]):
            raise UnknownRunError("there is no run of this name")
        return name

    def start(self, order: RunOrder) -> str:
        """Accept a run, and return its name."""
        return self._service.start(order, self._caller)

    def resume(self, name: str, settings: Mapping[str, Any] | None = None) -> str:
        """Resume a run, and return its name."""
        return self._service.resume(self.known(name), settings)

    def stop(self, name: str) -> None:
        """Stop a run, or take it out of the queue."""
        self._service.stop(self.known(name))

    def delete(self, name: str) -> None:
        """Delete a run with everything that it has."""
        self._service.delete(self.known(name))

    def view(self, name: str) -> RunView:
        """Return the state and the usage of a run."""
        return self._service.view(self.known(name))

    def views(self, most: int) -> tuple[RunView, ...]:
        """Return the newest runs, newest first."""
        return self._service.views(most, self._caller)

    def article(self, name: str) -> Article:
        """Return the article of a run."""
        return self._service.article(self.known(name))

    def outline(self, name: str) -> str:
        """Return the outline of a run, as Markdown."""
        return self._service.folders.outline(self.known(name))

    def events(self, name: str, after: int = 0) -> Iterator[tuple[int, dict[str, Any]] | None]:
        """Follow the events of a run."""
        return self._service.events(self.known(name), after)


def own_runs(service: RunService) -> CallerRuns:
    """Return the runs of whoever makes the current request. Raises LookupError: nobody does."""
    return CallerRuns(service, CALLER.get())
