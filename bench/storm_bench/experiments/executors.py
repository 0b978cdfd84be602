"""Executors run independent jobs on threads of this process or on a Ray cluster."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import Self, TypeVar

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

    Args:
        at_once: maximum concurrent jobs, at least 1.

    Attributes:
        name: its name on the command line.

    Raises:
        SettingsError: a value is invalid.
    """

    name: str

    def __init__(self, at_once: int = 1) -> None:
        if at_once < 1:
            raise SettingsError(f"{at_once} concurrent jobs is out of range: at least 1 is needed")
        self._at_once = at_once
        self._stopped = threading.Event()
        self._halts: set[threading.Event] = set()

    @abstractmethod
    def run(self, work: Callable[[J], R], jobs: Iterable[J]) -> Iterator[tuple[J, R | JobLost]]:
        """Run every job and yield results in order of completion.

        A job is taken from ``jobs`` only when a slot is free and the next result is requested. Closing the iterator
        early stops the run like :meth:`stop` and waits for running jobs.

        Args:
            work: an importable module-level function. It returns failures as values; exceptions become
                :class:`JobLost`. It should stop cleanly once :func:`job_halt` is set.
            jobs: picklable frozen values, as are the results.

        Raises:
            SettingsError: the executor's configuration does not work.
        """

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

    @contextmanager
    def _halt_of_run(self) -> Iterator[threading.Event]:
        """The event that stops one run; already set if the executor was stopped earlier."""
        halt = threading.Event()
        self._halts.add(halt)
        if self._stopped.is_set():
            halt.set()
        try:
            yield halt
        finally:
            self._halts.discard(halt)


def open_executor(name: str, *, at_once: int = 1, address: str = "") -> Executor:
    """Open an executor by name.

    Args:
        at_once: maximum concurrent jobs, at least 1.
        address: of a Ray cluster, ``host:port`` or ``auto``; empty for workers on this machine.

    Raises:
        SettingsError: the name is unknown or a value is invalid.
        MissingExtraError: the executor needs a package that is not installed.
    """
    if name == "local":
        if address:
            raise SettingsError(f"the executor 'local' takes no address ({address}): use the executor 'ray'")
        return LocalExecutor(at_once)
    if name == "ray":
        from storm_bench.experiments.ray_executor import RayExecutor

        return RayExecutor(address, at_once=at_once)
    raise SettingsError(f"unknown executor {name!r}: use 'local' or 'ray'")


class LocalExecutor(Executor):
    """Runs jobs on threads of this process."""

    name = "local"

    def run(self, work: Callable[[J], R], jobs: Iterable[J]) -> Iterator[tuple[J, R | JobLost]]:
        """As :meth:`Executor.run`; results are not copied."""
        with self._halt_of_run() as halt, Tasks(self._at_once) as tasks:

            def begin(job: J) -> Future[R]:
                return tasks.start(run_with_halt, halt, work, job)

            with closing(run_concurrently(begin, jobs, at_once=self._at_once, halt=halt)) as ended:
                for job, future in ended:
                    error = future.exception()
                    yield job, JobLost(one_line(error)) if error else future.result()


def job_halt() -> threading.Event:
    """The event that asks the calling job to stop cleanly; never set outside a job."""
    return _halt.get() or threading.Event()


def run_with_halt(halt: threading.Event, work: Callable[[J], R], job: J) -> R:
    """Run a job with ``halt`` as its :func:`job_halt`; call it in a separate context."""
    _halt.set(halt)
    return work(job)


def run_concurrently(
    begin: "Callable[[J], Future[R]]",
    jobs: Iterable[J],
    *,
    at_once: int,
    halt: threading.Event,
    on_halt: Callable[[], None] = lambda: None,
) -> "Generator[tuple[J, Future[R]], None, None]":
    """Run jobs, at most ``at_once`` at a time; yield each one started, with its future, when it ends.

    Once ``halt`` is set no job is started; those running are waited for and yielded. Closing the iterator waits too.

    Args:
        jobs: consumed when a slot is free.
        halt: set by the caller to stop; set here when the iterator is closed early, or ``jobs`` or ``begin`` raises.
        on_halt: called, possibly repeatedly, after ``halt`` is set; notifies running jobs.
    """
    waiting = iter(jobs)
    running: dict[Future[R], J] = {}
    try:
        while True:
            for job in islice(waiting, 0 if halt.is_set() else at_once - len(running)):
                if halt.is_set():
                    break
                running[begin(job)] = job
            if not running:
                return
            done, _ = wait(running, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
            if halt.is_set():
                on_halt()
            for future in done:
                yield running.pop(future), future
    except (Exception, GeneratorExit):  # KeyboardInterrupt must not wait
        halt.set()
        on_halt()
        wait(running)
        raise


def one_line(error: BaseException) -> str:
    """An exception's type and message on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
