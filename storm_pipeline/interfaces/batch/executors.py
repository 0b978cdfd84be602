"""Executors run independent jobs on threads of this process, on local processes, or on a Ray cluster."""

import os
import pickle
import sys
import sysconfig
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from storm_pipeline.errors import SettingsError
from storm_pipeline.run.concurrency import MAX_WORKERS, Tasks
from storm_pipeline.run.limits import in_force
from storm_pipeline.run.replica import Link, Recorder, Workplace, away

J = TypeVar("J")
R = TypeVar("R")

POLL_SECONDS = 0.25
"""Polling interval for a stop request, in seconds."""
AT_ONCE = 2
MAX_RETRIES = 3
"""Restarts of a job whose worker died."""


@dataclass(frozen=True)
class JobLost:
    """A job that ended without a result."""

    reason: str  # the error it raised, or why its worker died


@dataclass(frozen=True)
class Place:
    """Where a job runs."""

    halt: threading.Event  # asks it to stop cleanly
    recorder: Recorder | Link  # of the driver: itself in the driver's process, else a link to it
    scratch: str | None = None  # where a worker makes its folders; None: in the system's temporary folder


_place: ContextVar[Place | None] = ContextVar("job_place", default=None)


class Executor(AbstractContextManager["Executor"]):
    """Runs jobs concurrently. A context manager; ``run`` may be called repeatedly, but not concurrently.

    ``at_once``: maximum concurrent jobs.

    Attributes:
        name: on the command line.
        here: whether jobs run in this process, so that they and their results need not be picklable.
        recorder: takes the files and events of jobs that work in a :func:`workplace`, and were placed there before.

    Raises SettingsError: a value is invalid.
    """

    name: str
    here = False
    most = MAX_WORKERS  # jobs at once

    def __init__(self, at_once: int = 1) -> None:
        if not 1 <= at_once <= self.most:
            raise SettingsError(f"{at_once} jobs at once is out of range: 1 to {self.most} are allowed")
        self.at_once = at_once
        self.recorder = Recorder()

    def run(
        self,
        work: Callable[[J], R],
        jobs: Iterable[J],
        *,
        halt: threading.Event | None = None,
        is_patient: Callable[[], bool] = lambda: False,
    ) -> Iterator[tuple[J, R | JobLost]]:
        """Run every job and yield results in order of completion.

        A job is taken from ``jobs`` only when a slot is free and the next result is requested. Closing the iterator
        early, or an error of ``jobs``, stops the run and waits for running jobs.

        Args:
            work: an importable module-level function, which returns failures as values (exceptions become
                :class:`JobLost`) and stops cleanly once :func:`job_halt` is set.
            jobs: picklable frozen values, as are the results.
            halt: set it, from any thread, to start no further jobs and to set :func:`job_halt` for running ones. Jobs
                that stop cleanly still yield results; jobs that had not started do not.
            is_patient: whether a KeyboardInterrupt stops the run cleanly, too, and is raised at its end; a second one
                is raised at once.

        Raises SettingsError: the executor's configuration does not work.
        """
        halt, waiting = halt or threading.Event(), iter(jobs)
        self.recorder.limits = in_force()
        running: dict[Future[R | JobLost], J] = {}
        interrupts: list[KeyboardInterrupt] = []
        with self._starting(work, halt) as begin:
            try:
                while True:
                    for job in islice(waiting, 0 if halt.is_set() else self.at_once - len(running)):
                        if halt.is_set():
                            break
                        running[begin(job)] = job
                    if not running:
                        break
                    done = _wait(running, halt, interrupts, is_patient)
                    if halt.is_set():
                        self._cancel(running)
                    for future in done:
                        yield from self._result(running.pop(future), future, halt)
            except BaseException as error:
                halt.set()
                self._cancel(running)
                if isinstance(error, Exception | GeneratorExit):  # KeyboardInterrupt must not wait
                    wait(running)
                raise
        if interrupts:
            raise interrupts[0]

    def _result(self, job: J, future: "Future[R | JobLost]", halt: threading.Event) -> Iterator[tuple[J, R | JobLost]]:
        """Yield a job that has ended; nothing if it was cancelled. Raises SettingsError: no worker can do any job."""
        error = future.exception()
        if self.recorder.problem is not None:
            raise self.recorder.problem
        if error is None:
            yield job, future.result()
            return
        cause = getattr(error, "cause", None) or error
        if isinstance(cause, ImportError):
            raise SettingsError(
                f"a worker cannot import what it needs ({one_line(cause)}): install the same packages on all nodes"
            ) from error
        if not (halt.is_set() and self._is_cancelled(error)):
            yield job, JobLost(one_line(cause))

    @abstractmethod
    def _starting(
        self, work: Callable[[J], R], halt: threading.Event
    ) -> "AbstractContextManager[Callable[[J], Future[R | JobLost]]]":
        """Yield the function that starts a job."""

    def _cancel(self, running: "Iterable[Future[Any]]") -> None:
        """Notify running jobs of a halt that they do not see by themselves."""

    def _is_cancelled(self, error: BaseException) -> bool:
        """Return whether an error says that a job had not started."""
        return isinstance(error, CancelledError)

    def close(self) -> None:
        """Release the executor's resources. May be called repeatedly."""

    def __exit__(self, *error: object) -> None:
        self.close()


class ThreadExecutor(Executor):
    """Runs jobs on threads of this process."""

    name = "local"
    here = True

    @contextmanager
    def _starting(
        self, work: Callable[[J], R], halt: threading.Event
    ) -> "Iterator[Callable[[J], Future[R | JobLost]]]":
        place = Place(halt, self.recorder)
        with Tasks(self.at_once) as tasks:
            yield lambda job: tasks.start(run_at, place, work, job)


def job_halt() -> threading.Event:
    """Return the event that asks the calling job to stop cleanly; never set outside a job."""
    place = _place.get()
    return place.halt if place else threading.Event()


@contextmanager
def workplace(task: str) -> Iterator[Workplace]:
    """Open the folder in which the calling job works, which the driver placed (:meth:`Recorder.place`).

    Raises RunError: another process writes to it, or this job was placed anew; SettingsError: this worker has another
    version of the package.
    """
    place = _place.get()
    if place is None:
        raise LookupError("a workplace is for jobs of an executor")
    if isinstance(place.recorder, Recorder):
        yield place.recorder.here(task)
    else:
        with away(place.recorder, task, place.scratch) as folder:
            yield folder


def _wait(
    running: "Iterable[Future[Any]]",
    halt: threading.Event,
    interrupts: list[KeyboardInterrupt],
    is_patient: Callable[[], bool],
) -> "set[Future[Any]]":
    """Return the jobs that have ended, after a while; a first KeyboardInterrupt may only be kept."""
    try:
        return wait(running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED).done
    except KeyboardInterrupt as error:
        if interrupts or not is_patient():
            raise
        interrupts.append(error)
        halt.set()
        return set()


def run_at(place: Place, work: Callable[[J], R], job: J) -> R:
    """Run a job at a place; call it in a separate context."""
    _place.set(place)
    return work(job)


def require_importable(value: object, what: str) -> None:
    """Raise SettingsError if a worker could not import a function or class."""
    with suppress(pickle.PicklingError, AttributeError, TypeError):
        pickle.dumps(value)
        if getattr(value, "__module__", "") != "__main__":
            return
    raise SettingsError(f"{what} must be a function of a module that worker processes can import")


def import_path() -> str:
    """Return the value of PYTHONPATH for a worker: ``sys.path`` without the installed packages, which it has itself."""
    installed = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    others = [path for path in sys.path if path and not any(Path(path).is_relative_to(place) for place in installed)]
    return os.pathsep.join(others)


def one_line(error: BaseException) -> str:
    """Return an exception's type and message on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
