"""Executors run independent jobs on threads of this process or on a Ray cluster."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self, TypeVar

from storm_pipeline import SettingsError
from storm_pipeline.api import Tasks

J = TypeVar("J")
R = TypeVar("R")

POLL_SECONDS = 0.25
"""Polling interval for a stop request, in seconds."""
_halt: ContextVar[threading.Event | None] = ContextVar("job_halt", default=None)


@dataclass(frozen=True)
class JobLost:
    """A job that ended without a result."""

    reason: str  # the error it raised, or why its worker died


class Executor(ABC):
    """Runs jobs concurrently. A context manager; ``run`` may be called repeatedly, but not concurrently.

    ``name``: on the command line; ``at_once``: maximum concurrent jobs. Raises SettingsError: a value is invalid.
    """

    name: str

    def __init__(self, at_once: int = 1) -> None:
        if at_once < 1:
            raise SettingsError(f"{at_once} concurrent jobs is out of range: at least 1 is needed")
        self.at_once = at_once
        self._stopped = threading.Event()
        self._halts: set[threading.Event] = set()

    def run(self, work: Callable[[J], R], jobs: Iterable[J]) -> Iterator[tuple[J, R | JobLost]]:
        """Run every job and yield results in order of completion.

        A job is taken from ``jobs`` only when a slot is free and the next result is requested. Closing the iterator
        early, or an error of ``jobs``, stops the run like :meth:`stop` and waits for running jobs. ``work`` is an
        importable module-level function, which returns failures as values (exceptions become :class:`JobLost`) and
        stops cleanly once :func:`job_halt` is set; jobs and results are picklable frozen values. Raises SettingsError:
        the executor's configuration does not work.
        """
        halt, waiting = threading.Event(), iter(jobs)
        self._halts.add(halt)
        if self._stopped.is_set():
            halt.set()
        running: dict[Future[R], J] = {}
        try:
            with self._starting(work, halt) as begin:
                try:
                    while True:
                        for job in islice(waiting, 0 if halt.is_set() else self.at_once - len(running)):
                            if halt.is_set():
                                break
                            running[begin(job)] = job
                        if not running:
                            return
                        done, _ = wait(running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                        if halt.is_set():
                            self._cancel(running)
                        for future in done:
                            job, error = running.pop(future), future.exception()
                            if error is None:
                                yield job, future.result()
                            elif not (halt.is_set() and self._is_cancelled(error)):
                                yield job, JobLost(one_line(getattr(error, "cause", None) or error))
                except (Exception, GeneratorExit):  # KeyboardInterrupt must not wait
                    halt.set()
                    self._cancel(running)
                    wait(running)
                    raise
        finally:
            self._halts.discard(halt)

    @abstractmethod
    def _starting(
        self, work: Callable[[J], R], halt: threading.Event
    ) -> "AbstractContextManager[Callable[[J], Future[R]]]":
        """Yield the function that starts a job."""

    def _cancel(self, running: "Iterable[Future[Any]]") -> None:  # noqa: B027 - threads see it
        """Notify running jobs of a halt that they do not see by themselves."""

    def _is_cancelled(self, error: BaseException) -> bool:  # noqa: ARG002 - threads never are
        """Return whether an error says that a job had not started."""
        return False

    def stop(self) -> None:
        """Start no further jobs, now or later, and set :func:`job_halt` for running ones.

        May be called from any thread or signal handler. Jobs that stop cleanly still yield results; jobs that had not
        started do not.
        """
        self._stopped.set()
        for halt in tuple(self._halts):
            halt.set()

    def close(self) -> None:  # noqa: B027 - threads need none
        """Release the executor's resources. May be called repeatedly."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class LocalExecutor(Executor):
    """Runs jobs on threads of this process."""

    name = "local"

    @contextmanager
    def _starting(self, work: Callable[[J], R], halt: threading.Event) -> "Iterator[Callable[[J], Future[R]]]":
        with Tasks(self.at_once) as tasks:
            yield lambda job: tasks.start(run_with_halt, halt, work, job)


def job_halt() -> threading.Event:
    """Return the event that asks the calling job to stop cleanly; never set outside a job."""
    return _halt.get() or threading.Event()


def run_with_halt(halt: threading.Event, work: Callable[[J], R], job: J) -> R:
    """Run a job with ``halt`` as its :func:`job_halt`; call it in a separate context."""
    _halt.set(halt)
    return work(job)


def one_line(error: BaseException) -> str:
    """Return an exception's type and message on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
