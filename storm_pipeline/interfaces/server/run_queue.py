"""Queue of a server's active and waiting runs, first come, first served."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field

from storm_pipeline.errors import SettingsError, StoppedError, StormError
from storm_pipeline.interfaces.server.budget import Budget, Budgets, Reservation
from storm_pipeline.interfaces.server.callers import CALLER
from storm_pipeline.interfaces.server.errors import BusyError
from storm_pipeline.run.events import CallbackSink, Event, EventSink, RunStarted
from storm_pipeline.run.log import logger
from storm_pipeline.sources.documents.isolated import read_for


@dataclass(frozen=True, eq=False)
class Job:
    """A run in the queue."""

    name: str  # name of the run
    # executes it, given a sink, a halt event, and its limit in US dollars (None: no limit)
    work: Callable[[EventSink, threading.Event, float | None], object]
    failed: Callable[[str, Exception], None]  # receives the error of a run that could not begin
    cap: float = 0.0  # maximum US dollars in this session, reserved in budgets
    budget: Budget | None = None  # its caller's monthly budget
    caller: str = ""  # name of the caller; empty for the owner
    halt: threading.Event = field(default_factory=threading.Event)  # set to stop the run
    # completed at the run's start, with its error if it could not begin
    begun: "Future[None]" = field(default_factory=Future)


class RunQueue:
    """Executor of jobs in threads, ``at_once`` concurrently; others wait. Thread-safe.

    Raises SettingsError: ``at_once`` < 1, or ``most_waiting`` < 0.
    """

    def __init__(self, at_once: int, most_waiting: int, budgets: Budgets) -> None:
        if at_once < 1:
            raise SettingsError(f"a server needs room for at least one run, not {at_once}")
        if most_waiting < 0:
            raise SettingsError(f"the number of runs that may wait cannot be {most_waiting}")
        self._at_once = at_once
        self._most_waiting = most_waiting
        self._budgets = budgets
        self._lock = threading.RLock()
        self._waiting: dict[str, Job] = {}
        self._under_way: dict[str, tuple[Job, threading.Thread]] = {}
        self.closed: float | None = None
        """When streams of events end although their runs have not, in monotonic seconds, once the queue is closing."""

    def require_room(self, budget: Budget | None = None, caller: str = "") -> None:
        """Check that another job can be added. Raises BusyError, BudgetSpentError: full, or a budget is spent.

        ``budget``: of the caller; ``caller``: the name, for the limit of a quarter of the places.
        """
        self._budgets.check(budget)
        with self._lock:
            if self.closed is not None:
                raise BusyError("the server is shutting down")
            if len(self._under_way) >= self._at_once and len(self._waiting) >= self._most_waiting:
                raise BusyError(
                    f"{self._at_once} runs are under way and {self._most_waiting} wait, as many as this server allows: "
                    "try again later"
                )
            most = max(1, self._most_waiting // 4)
            if caller and sum(job.caller == caller for job in self._waiting.values()) >= most:
                raise BusyError(f"{most} runs of yours wait, as many as a caller may have: try again later")

    def add(self, job: Job) -> "Future[None]":
        """Start or enqueue a job; return a future that is completed at the start, or at once if it must wait.

        The future has the error of a job that could not begin. Names of queued and active jobs must be unique.
        """
        with self._lock:
            self._waiting[job.name] = job
            self._begin_next()
            if job.name in self._waiting:
                waits: Future[None] = Future()
                waits.set_result(None)
                return waits
        return job.begun

    def waiting(self) -> list[str]:
        """Return the names of the waiting jobs in order."""
        with self._lock:
            return list(self._waiting)

    def has(self, name: str) -> bool:
        """Return whether a job is waiting or active."""
        with self._lock:
            return name in self._waiting or name in self._under_way

    def withdraw(self, name: str) -> bool:
        """Remove a waiting job from the queue; False if there is none of this name."""
        with self._lock:
            return self._waiting.pop(name, None) is not None

    def stop(self, name: str) -> bool:
        """Stop an active job gracefully; False if there is none of this name."""
        with self._lock:
            job, _ = self._under_way.get(name, (None, None))
        if job:
            job.halt.set()
        return job is not None

    def is_stopping(self, name: str) -> bool:
        """Return whether an active job was stopped, and has not ended yet."""
        with self._lock:
            job, _ = self._under_way.get(name, (None, None))
        return job is not None and job.halt.is_set()

    def halt(self, seconds: float = 0.0) -> None:
        """Start no more jobs and stop active ones gracefully; event streams end within these seconds."""
        with self._lock:
            if self.closed is None:
                self.closed = time.monotonic() + seconds
            jobs = [job for job, _ in self._under_way.values()]
        for job in jobs:
            job.halt.set()

    def join(self, seconds: float | None = None) -> bool:
        """Wait until no job is active; False after a timeout."""
        ends = None if seconds is None else time.monotonic() + seconds
        with self._lock:
            threads = [thread for _, thread in self._under_way.values()]
        for thread in threads:
            thread.join(None if ends is None else max(0.0, ends - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    @contextmanager
    def reserving(self, cap: float) -> Iterator[Reservation | None]:
        """Reserve money of the current caller for other work than a run; None: it is spent, or reserved by runs."""
        with self._lock:
            reservation = self._budgets.reserve(self._budgets.of(CALLER.get()), cap)
        try:
            yield reservation if reservation and reservation.most != 0 else None
        finally:
            with self._lock:
                if reservation:
                    reservation.release()
                self._begin_next()

    def _begin_next(self) -> None:
        """Start the next jobs while there is room; the lock must be held."""
        under_way = Counter(job.caller for job, _ in self._under_way.values())
        for name, job in sorted(self._waiting.items(), key=lambda item: under_way[item[1].caller]):
            if self.closed is not None or len(self._under_way) >= self._at_once:
                return
            if job.budget and job.budget.available(job.cap) is None:
                continue  # waits for this caller's other runs only
            reservation = self._budgets.reserve(job.budget, job.cap)
            if reservation is None:
                return  # the end of a run releases its unspent money
            del self._waiting[name]
            thread = threading.Thread(target=self._execute, args=(job, reservation), name="storm-server-run")
            self._under_way[name] = job, thread
            thread.start()

    def _execute(self, job: Job, reservation: Reservation) -> None:
        def emit(event: Event) -> None:
            if isinstance(event, RunStarted) and not job.begun.done():
                job.begun.set_result(None)
            reservation.count(event)

        failure: Exception | None = None
        read_for.set(job.caller)
        try:
            reservation.check()
            job.work(CallbackSink(emit), job.halt, reservation.most)
        except Exception as error:  # noqa: BLE001 - raised in the caller's thread, or in the run's record
            failure = error
            if not job.begun.done():
                job.failed(job.name, error)
            elif not isinstance(error, StoppedError):
                logger.warning("%s: ended early: %s", job.name, error, exc_info=not isinstance(error, StormError))
        with self._lock:
            del self._under_way[job.name]
            reservation.release()
            self._begin_next()
        if not job.begun.done():  # last, so that waiting threads see the end
            job.begun.set_exception(failure) if failure else job.begun.set_result(None)
