"""What independent jobs are done with: threads of this process, or a Ray cluster."""

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import Protocol, Self, TypeVar

from storm_pipeline.concurrency import Tasks
from storm_pipeline.errors import SettingsError

J = TypeVar("J")
R = TypeVar("R")

LOOK = 0.25
"""Seconds between two looks at whether a run was stopped."""
_halt: ContextVar[threading.Event | None] = ContextVar("job_halt", default=None)


@dataclass(frozen=True)
class JobLost:
    """A job that has no result.

    Attributes:
        reason: the error that its work raised, or what became of its worker.
    """

    reason: str


class Executor(Protocol):
    """Does jobs side by side. Use it in ``with``; it may run several times, one after the other."""

    @property
    def name(self) -> str:
        """What it is called on the command line."""

    def run(self, work: Callable[[J], R], jobs: Iterable[J]) -> Iterator[tuple[J, R | JobLost]]:
        """Do every job; results come in any order, as soon as they are there.

        A job is taken only when a place is free and the next result is asked for. Closing the iterator early stops
        the run as :meth:`stop` does, and waits for what runs.

        Args:
            work: a function of a module that workers can import. It returns failures as values; what it raises is
                told as :class:`JobLost`. It ends early, in order, once :func:`job_halt` is set.
            jobs: plain frozen values, as are the results: they travel between processes.

        Raises:
            SettingsError: the executor cannot be used as it was set.
        """

    def stop(self) -> None:
        """Begin no further job, in this run or a later one, and set :func:`job_halt` of those that run.

        From any thread or signal handler. The results of jobs that end in order still come; a job that had not begun
        has none.
        """

    def close(self) -> None:
        """Give back what the executor holds. May be called again."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def open_executor(name: str, *, at_once: int = 1, address: str = "") -> Executor:
    """The executor of a name: ``local`` or ``ray``.

    Args:
        name: of the executor.
        at_once: jobs side by side, at least 1.
        address: of a Ray cluster, ``host:port`` or ``auto``; empty for workers on this machine.

    Raises:
        SettingsError: there is no such executor, or a value is not allowed.
        MissingExtraError: the executor needs a package that is not installed.
    """
    if name == "local":
        if address:
            raise SettingsError(f"the executor 'local' takes no address ({address}): use the executor 'ray'")
        return LocalExecutor(at_once)
    if name == "ray":
        from storm_pipeline.experiments.ray_executor import RayExecutor

        return RayExecutor(address, at_once=at_once)
    raise SettingsError(f"there is no executor {name!r}: use 'local' or 'ray'")


class LocalExecutor:
    """Does jobs on threads of this process.

    Args:
        at_once: jobs side by side, at least 1.
    """

    name = "local"

    def __init__(self, at_once: int = 1) -> None:
        self._at_once = checked_at_once(at_once)
        self._halts = Halts()

    def run(self, work: Callable[[J], R], jobs: Iterable[J]) -> Iterator[tuple[J, R | JobLost]]:
        """As :meth:`Executor.run`; results are not copied, they are the work's own."""
        with self._halts.of_a_run() as halt, Tasks(self._at_once) as tasks:

            def begin(job: J) -> Future[R]:
                return tasks.start(work_under, halt, work, job)

            with closing(side_by_side(begin, jobs, at_once=self._at_once, halt=halt)) as ended:
                for job, future in ended:
                    error = future.exception()
                    yield job, JobLost(told(error)) if error else future.result()

    def stop(self) -> None:
        """As :meth:`Executor.stop`."""
        self._halts.stop()

    def close(self) -> None:
        """Nothing is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def job_halt() -> threading.Event:
    """Set when the job that the caller is part of is to end in order; never set outside a job."""
    return _halt.get() or threading.Event()


def work_under(halt: threading.Event, work: Callable[[J], R], job: J) -> R:
    """Do a job, to be started in a context of its own, with ``halt`` as its :func:`job_halt`."""
    _halt.set(halt)
    return work(job)


class Halts:
    """What tells the runs of an executor to stop."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._halts: set[threading.Event] = set()

    @contextmanager
    def of_a_run(self) -> Iterator[threading.Event]:
        """An event that is set when the executor is stopped, or was before."""
        halt = threading.Event()
        self._halts.add(halt)
        if self._stopped.is_set():
            halt.set()
        try:
            yield halt
        finally:
            self._halts.discard(halt)

    def stop(self) -> None:
        """Set the events of all runs, those to come included."""
        self._stopped.set()
        for halt in tuple(self._halts):
            halt.set()


def side_by_side(
    begin: "Callable[[J], Future[R]]",
    jobs: Iterable[J],
    *,
    at_once: int,
    halt: threading.Event,
    tell: Callable[[], None] = lambda: None,
) -> "Generator[tuple[J, Future[R]], None, None]":
    """Keep up to ``at_once`` jobs going until there are no more or ``halt`` is set; each comes when it has ended.

    Args:
        begin: starts a job.
        jobs: taken when a place is free.
        at_once: places.
        halt: set by others to stop; set here when the iterator is closed early or ``jobs`` raises.
        tell: called once ``halt`` is set, perhaps several times: tells the jobs that run.
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
            done, _ = wait(running, timeout=LOOK, return_when=FIRST_COMPLETED)
            if halt.is_set():
                tell()
            for future in done:
                yield running.pop(future), future
    except (Exception, GeneratorExit):  # not an interruption: that does not wait
        halt.set()
        tell()
        wait(running)
        raise


def told(error: BaseException) -> str:
    """An error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def checked_at_once(at_once: int) -> int:
    """The number itself.

    Raises:
        SettingsError: it is less than 1.
    """
    if at_once < 1:
        raise SettingsError(f"{at_once} jobs at once is out of range: at least 1 is needed")
    return at_once
