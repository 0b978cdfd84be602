"""Jobs in worker processes of this machine, which are replaced when they die and end when this process does."""

import os
import pickle
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any, TypeVar, cast

from storm_pipeline.errors import SettingsError
from storm_pipeline.evidence.retrieval.encoder_process import share_encoder_process
from storm_pipeline.interfaces.batch.executors import (
    AT_ONCE,
    MAX_RETRIES,
    Executor,
    JobLost,
    Place,
    import_path,
    one_line,
    run_at,
)
from storm_pipeline.run.concurrency import MAX_WORKERS, Tasks, in_own_thread, tune_process
from storm_pipeline.run.exchange import Exchange, ExchangeLink, attempt

J = TypeVar("J")
R = TypeVar("R")

_START = "from storm_pipeline.interfaces.batch.process_executor import work_for_driver; work_for_driver()"


@dataclass(eq=False)
class _Pending:
    data: bytes  # function and value
    future: "Future[Any]"
    run: int
    deaths: int = 0  # workers that died while they did it


@dataclass(eq=False)
class _Worker:
    process: "subprocess.Popen[bytes]"
    errors: IO[bytes]  # its standard error
    taken: dict[int, _Pending] = field(default_factory=dict)
    started: bool = False
    alive: bool = True


class ProcessExecutor(Executor):
    """Runs jobs in processes of this machine, each with several threads.

    A process that dies is replaced, and its jobs are run again, at most three times. The processes end within seconds
    when this one is killed. Nothing but this user's processes can reach their socket.

    ``processes``: their number, 1 to 64; ``at_once``: jobs over all of them; default: two each.
    """

    name = "local"
    most = MAX_WORKERS**2

    def __init__(self, processes: int, *, at_once: int | None = None) -> None:
        if not 1 <= processes <= MAX_WORKERS:
            raise SettingsError(f"{processes} processes is out of range: 1 to {MAX_WORKERS} are allowed")
        super().__init__(AT_ONCE * processes if at_once is None else at_once)
        self._processes = min(processes, self.at_once)
        self._lock = threading.RLock()
        self._queue: queue.SimpleQueue[_Pending | None] = queue.SimpleQueue()
        self._workers: dict[int, _Worker] = {}
        self._exchange: Exchange | None = None
        self._watches: list[Future[None]] = []
        self._scratch = TemporaryDirectory(prefix="storm-", ignore_cleanup_errors=True)  # killed workers leave theirs
        self._run = self._failed_starts = 0

    @contextmanager
    def _starting(
        self,
        work: Callable[[J], R],
        halt: threading.Event,  # noqa: ARG002 - workers have one of their own
    ) -> "Iterator[Callable[[J], Future[R | JobLost]]]":
        self._run += 1
        if self._exchange is None:
            self._exchange = exchange = Exchange(self._answer)
            for number in range(self._processes):
                self._start(exchange, self.at_once // self._processes + (number < self.at_once % self._processes))

        def begin(job: J) -> Future[R | JobLost]:
            pending = _Pending(pickle.dumps((work, job)), Future(), self._run)
            self._queue.put(pending)
            return pending.future

        yield begin

    def _start(self, exchange: Exchange, threads: int) -> None:
        """Start a process that does jobs in several threads."""
        with self._lock:
            if self._exchange is not exchange:  # closed
                return
            errors = TemporaryFile()  # noqa: SIM115 - closed when the process has ended
            process = subprocess.Popen(  # noqa: S603 - our own command
                [sys.executable, "-P", "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=os.environ | {"PYTHONPATH": import_path()},
                start_new_session=True,  # Ctrl-C is for this process only
            )
            self._workers[process.pid] = worker = _Worker(process, errors)
            self._tell(worker, pickle.dumps((exchange.address, exchange.key, threads, self._scratch.name)))
            self._watches.append(in_own_thread(partial(self._watch, worker, exchange, threads), "storm-worker"))

    def _tell(self, worker: _Worker, data: bytes) -> None:
        with suppress(OSError):  # it has ended
            cast("IO[bytes]", worker.process.stdin).write(data)
            cast("IO[bytes]", worker.process.stdin).flush()

    def _watch(self, worker: _Worker, exchange: Exchange, threads: int) -> None:
        """Wait for the end of a process; run its jobs again in another one."""
        code = worker.process.wait()
        with self._lock, worker.errors:
            worker.alive = False
            del self._workers[worker.process.pid]
            closing = self._exchange is None
            self._failed_starts = 0 if worker.started else self._failed_starts + 1
            if self._failed_starts >= MAX_RETRIES and not closing:
                worker.errors.seek(0)
                reason = worker.errors.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
                self.recorder.problem = SettingsError(
                    f"worker processes do not start ({reason or f'exit code {code}'})"
                )
                self._drop_waiting()
            for pending in worker.taken.values():
                pending.deaths += 1
                if closing or self.recorder.problem:
                    pending.future.set_exception(CancelledError())
                elif pending.deaths > MAX_RETRIES:
                    pending.future.set_result(JobLost(f"its worker process died {pending.deaths} times ({code})"))
                else:
                    self._queue.put(pending)
        with suppress(OSError):
            cast("IO[bytes]", worker.process.stdin).close()
        if not closing and self.recorder.problem is None:
            self._start(exchange, threads)

    def _answer(self, method: str, *args: Any) -> Any:
        methods: dict[str, Callable[..., Any]] = {"take": self._take, "give": self._give}
        return methods[method](*args) if method in methods else self.recorder.answer(method, *args)

    def _take(self, pid: int) -> tuple[int, int, bytes] | None:
        """Return the next job of a worker: its id, the number of its run, and the pickled function and value."""
        with self._lock:
            worker = self._workers[pid]
            worker.started = True
        pending = self._queue.get()
        with self._lock:
            if pending is None:
                return None
            if not worker.alive:
                self._queue.put(pending)
                return None
            worker.taken[id(pending)] = pending
            return id(pending), pending.run, pending.data

    def _give(self, pid: int, job: int, succeeded: bool, value: Any) -> None:  # noqa: FBT001
        """Take the pickled result of a job, or the error for which no worker can do it."""
        with self._lock:
            pending = self._workers[pid].taken.pop(job)
        if succeeded:
            pending.future.set_result(pickle.loads(value))  # noqa: S301 - of our own worker
        else:
            pending.future.set_exception(value)

    def _cancel(self, running: "Iterable[Future[Any]]") -> None:  # noqa: ARG002 - all are of this run
        with self._lock:
            self._drop_waiting()
            for worker in self._workers.values():
                self._tell(worker, b"%d\n" % self._run)

    def _drop_waiting(self) -> None:
        with suppress(queue.Empty):
            while pending := self._queue.get_nowait():
                pending.future.set_exception(CancelledError())

    def close(self) -> None:
        """End the processes; busy ones are killed. May be called repeatedly."""
        with self._lock:
            exchange, self._exchange = self._exchange, None
            workers = list(self._workers.values())
            for worker in workers:
                if worker.taken:
                    worker.process.kill()
        for _ in range(self.at_once if exchange else 0):
            self._queue.put(None)
        if wait(self._watches, timeout=10).not_done:
            for worker in workers:
                worker.process.kill()
            wait(self._watches)
        self._scratch.cleanup()
        if exchange:
            exchange.close()


def work_for_driver() -> None:
    """Do jobs for the process that started this one, which says on standard input where it is, and which runs to stop.

    The process ends with its standard input, which means that its driver was killed.
    """
    given = sys.stdin.buffer
    address, key, threads, scratch = pickle.load(given)  # noqa: S301 - from the process that started this one
    tune_process()
    share_encoder_process()
    halts: dict[int, threading.Event] = {}
    threading.Thread(target=_obey, args=(given, halts, scratch), name="storm-driver", daemon=True).start()
    with Tasks(threads) as tasks:
        for _ in range(threads):
            tasks.start(_do_jobs, ExchangeLink(address, key), halts, scratch)


def _obey(given: IO[bytes], halts: dict[int, threading.Event], scratch: str) -> None:
    for line in given:
        halts.setdefault(int(line), threading.Event()).set()
    for _ in range(100):  # threads still write into it
        shutil.rmtree(scratch, ignore_errors=True)
        if not Path(scratch).exists():
            break
    os._exit(1)


def _do_jobs(link: ExchangeLink, halts: dict[int, threading.Event], scratch: str) -> None:
    while taken := link("take", os.getpid()):
        job, run, data = taken
        place = Place(halts.setdefault(run, threading.Event()), link, scratch)
        succeeded, value = attempt(copy_context().run, _do, place, data)
        if not succeeded and not isinstance(value, ImportError):
            succeeded, value = True, pickle.dumps(JobLost(one_line(value)))
        link("give", os.getpid(), job, succeeded, value)


def _do(place: Place, data: bytes) -> bytes:
    work, job = pickle.loads(data)  # noqa: S301 - from the driver
    return pickle.dumps(run_at(place, work, job))
