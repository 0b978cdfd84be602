"""The runs of a server that are under way, and those that wait for their turn, in the order in which they came."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from storm_pipeline.errors import SettingsError, StoppedError, StormError
from storm_pipeline.interfaces.server.budget import Budget, Budgets, Reservation
from storm_pipeline.interfaces.server.errors import BusyError
from storm_pipeline.run.events import CallbackSink, Event, EventSink, RunStarted
from storm_pipeline.run.log import logger


@dataclass(frozen=True, eq=False)
class Job:
    """A run to be done."""

    name: str  # name of the run
    # does it, with a sink, an event that halts it, and what it may spend; None if no budget limits it
    work: Callable[[EventSink, threading.Event, float | None], object]
    failed: Callable[[str, Exception], None]  # called with the error of a run that could not begin
    cap: float = 0.0  # US dollars that it may spend in this session, which budgets reserve
    budget: Budget | None = None  # what its caller may spend in a month
    caller: str = ""  # name of the caller; empty for the owner
    halt: threading.Event = field(default_factory=threading.Event)  # stops the run
    # done once the run has begun; holds the error of one that could not
    begun: "Future[None]" = field(default_factory=Future)


class RunQueue:
    """Does jobs, each in a thread of its own, so many at once, while others wait. Thread-safe.

    Attributes:
        observers: called with every event of every run, in its thread.

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
        self.observers: list[Callable[[Event], None]] = []
        self._lock = threading.RLock()
        self._waiting: dict[str, Job] = {}
        self._under_way: dict[str, tuple[Job, threading.Thread]] = {}
        self.closed: float | None = None
        """When streams of events end although their runs have not, in monotonic seconds, once the queue is closing."""

    def require_room(self, budget: Budget | None = None, caller: str = "") -> None:
        """Check that another job can be added. Raises BusyError, BudgetSpentError: it cannot, or all is spent.

        ``budget``: what its caller may spend; ``caller``: his name, by which a quarter of the places may be taken.
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

    def add(self, job: Job) -> None:
        """Begin a job, or let it wait; returns once it has begun, if it need not. Raises why it could not begin."""
        with self._lock:
            self._waiting[job.name] = job
            self._begin_next()
            waits = job.name in self._waiting
        if not waits:
            job.begun.result()

    def waiting(self) -> list[str]:
        """Names of the jobs that wait, in their order."""
        with self._lock:
            return list(self._waiting)

    def has(self, name: str) -> bool:
        """Whether a job waits or is under way."""
        with self._lock:
            return name in self._waiting or name in self._under_way

    def withdraw(self, name: str) -> bool:
        """Take a job that waits out of the queue; False if none of this name does."""
        with self._lock:
            return self._waiting.pop(name, None) is not None

    def stop(self, name: str) -> bool:
        """Stop a job that is under way gracefully; False if none of this name is."""
        with self._lock:
            job, _ = self._under_way.get(name, (None, None))
        if job:
            job.halt.set()
        return job is not None

    def halt(self, seconds: float = 0.0) -> None:
        """Begin nothing further, and stop what is under way gracefully; streams of events end within these seconds."""
        with self._lock:
            if self.closed is None:
                self.closed = time.monotonic() + seconds
            jobs = [job for job, _ in self._under_way.values()]
        for job in jobs:
            job.halt.set()

    def join(self, seconds: float | None = None) -> bool:
        """Wait until nothing is under way; False if something is after so many seconds."""
        ends = None if seconds is None else time.monotonic() + seconds
        with self._lock:
            threads = [thread for _, thread in self._under_way.values()]
        for thread in threads:
            thread.join(None if ends is None else max(0.0, ends - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _begin_next(self) -> None:
        """Begin the jobs that come next, as long as there is room; the caller holds the lock."""
        under_way = Counter(job.caller for job, _ in self._under_way.values())
        for name, job in sorted(self._waiting.items(), key=lambda item: under_way[item[1].caller]):
            if self.closed is not None or len(self._under_way) >= self._at_once:
                return
            if job.budget and job.budget.available(job.cap) is None:
                continue  # his other runs have to end first, which keeps nobody else waiting
            reservation = self._budgets.reserve(job.budget, job.cap)
            if reservation is None:
                return  # when a run ends, what it did not spend is free
            del self._waiting[name]
            thread = threading.Thread(target=self._do, args=(job, reservation), name="storm-server-run")
            self._under_way[name] = job, thread
            thread.start()

    def _do(self, job: Job, reservation: Reservation) -> None:
        def emit(event: Event) -> None:
            if isinstance(event, RunStarted) and not job.begun.done():
                job.begun.set_result(None)
            reservation.count(event)
            for observe in self.observers:
                observe(event)

        failure: Exception | None = None
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
        if not job.begun.done():  # only now, so that whoever waits for it finds it ended
            job.begun.set_exception(failure) if failure else job.begun.set_result(None)
