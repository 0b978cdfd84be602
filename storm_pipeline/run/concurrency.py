"""Thread pools that keep order and context."""

import asyncio
import contextvars
import ctypes
import gc
import inspect
import sys
import threading
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, ParamSpec, Self, TypeVar

from storm_pipeline.errors import StoppedError

P = ParamSpec("P")
A = TypeVar("A")
B = TypeVar("B")

MAX_WORKERS = 64
_M_ARENA_MAX = -8
_LOOK_AGAIN = 1.0  # seconds between checks that an event loop still runs

callers_loop = contextvars.ContextVar[asyncio.AbstractEventLoop | None]("storm_loop", default=None)
"""The event loop that awaits the run while its threads work; None if the run is not awaited."""


def result_of(awaitable: Awaitable[B]) -> B:
    """Wait in a thread of a run for the user's awaitable, in the loop that awaits the run or in our own.

    Raises RuntimeError: the loop ended before the awaitable.
    """

    async def work() -> B:
        return await awaitable

    loop = callers_loop.get() or _start_loop()
    coroutine = work()
    try:
        future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    except RuntimeError:  # it is closed
        for unused in (coroutine, awaitable):
            if inspect.iscoroutine(unused):
                unused.close()  # else Python prints that it was never awaited
        raise
    while True:
        try:
            return future.result(_LOOK_AGAIN)
        except CancelledError as error:
            raise RuntimeError("the event loop was closed") from error
        except TimeoutError:
            if future.done():
                raise  # the awaitable's error
            if not loop.is_running():
                raise RuntimeError("the event loop was stopped") from None


@cache
def _start_loop() -> asyncio.AbstractEventLoop:
    """Start a loop that runs in a thread until the process ends."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="storm-loop", daemon=True).start()
    return loop


class Tasks:
    """A thread pool whose tasks run in copies of the caller's context, with ``dspy.context`` and the current stage.

    Leaving the block waits for every task; an exception drops tasks that have not started. Every block has its own
    threads, so nested blocks cannot starve each other.
    """

    def __init__(self, workers: int = MAX_WORKERS) -> None:
        self._pool = ThreadPoolExecutor(max_workers=max(1, workers))

    def start(self, work: Callable[P, B], *args: P.args, **kwargs: P.kwargs) -> "Future[B]":
        """Start ``work(*args, **kwargs)``."""
        context = contextvars.copy_context()
        return self._pool.submit(lambda: context.run(work, *args, **kwargs))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        interrupted = kind is not None and not issubclass(kind, Exception)
        self._pool.shutdown(wait=not interrupted, cancel_futures=kind is not None)


def parallel_map(work: Callable[[A], B], items: Iterable[A], *, workers: int) -> list[B]:
    """Apply ``work`` to every item on up to ``workers`` threads; results keep the order of the items.

    Raises the first exception in the order of the items; items that have not started by then are dropped.
    """
    items = list(items)
    if not items:
        return []
    with Tasks(min(workers, len(items))) as tasks:
        return [future.result() for future in [tasks.start(work, item) for item in items]]


def in_own_thread(
    work: Callable[[], B], name: str, context: contextvars.Context | None = None, *, daemon: bool = True
) -> "Future[B]":
    """Start ``work`` in a thread, in a context, by default a copy of the caller's."""
    future: Future[B] = Future()
    given = future, work, context or contextvars.copy_context()
    threading.Thread(target=_fulfil, args=given, name=name, daemon=daemon).start()
    return future


def _fulfil(future: "Future[B]", work: Callable[[], B], context: contextvars.Context) -> None:
    """Set the result of ``work`` or its error, unless the future was cancelled before."""
    if future.set_running_or_notify_cancel():
        try:
            future.set_result(context.run(work))
        except BaseException as error:  # noqa: BLE001 - raised where the result is wanted
            future.set_exception(error)


class FairThreads:
    """Threads for tasks by key, such as a page's host: of one key few run at once, so that it cannot hold all threads.

    Tasks run in copies of the caller's context. Nothing waits for their end, not even that of the process. Thread-safe.

    ``workers``: maximum number of tasks that run at once, ``of_one``: of one key; both >= 1.
    """

    def __init__(self, workers: int = 8, of_one: int = 2) -> None:
        self._workers, self._of_one = workers, of_one
        self._waiting: list[tuple[str, Future[Any], Callable[[], Any], contextvars.Context]] = []
        self._running = Counter[str]()
        self._lock = threading.Lock()

    def start(self, key: str, work: Callable[[], B]) -> "Future[B]":
        """Start ``work`` as soon as a thread is free for its key."""
        future: Future[B] = Future()
        with self._lock:
            self._waiting.append((key, future, work, contextvars.copy_context()))
            self._start_next()
        return future

    def _start_next(self) -> None:
        tasks = (task for task in self._waiting if self._running[task[0]] < self._of_one)
        if self._running.total() < self._workers and (task := next(tasks, None)):
            self._waiting.remove(task)
            self._running[task[0]] += 1
            threading.Thread(target=self._run, args=task, name="fair", daemon=True).start()

    def _run(self, key: str, *task: Any) -> None:
        _fulfil(*task)
        with self._lock:
            self._running[key] -= 1
            self._start_next()

    def close(self) -> None:
        """Cancel the tasks that have not started."""
        with self._lock:
            for _, future, *_ in self._waiting:
                future.cancel()
            self._waiting.clear()


def tune_process() -> None:
    """Tune the whole process; only for programs such as the command line, not for libraries.

    At most two malloc arenas of glibc, since short-lived threads with large replies fragment every arena; and a switch
    interval of 0.5 ms, not 5, since an encoder takes the interpreter's lock hundreds of times per batch. Python's
    collector looks for cycles a hundredth as often as by default: it took a fifth of a run's CPU time, and few arise.
    """
    with suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)
    sys.setswitchinterval(0.0005)
    gc.set_threshold(70_000, *gc.get_threshold()[1:])


@contextmanager
def within_block(variable: contextvars.ContextVar[B], value: B) -> Iterator[None]:
    """Set a context variable within a block."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


is_unwanted = contextvars.ContextVar[Callable[[], bool]]("storm_is_unwanted", default=lambda: False)
"""Whether nobody waits for the result of this context's work any more."""


def require_wanted() -> None:
    """Raise StoppedError if nobody waits for the result of this context's work any more."""
    if is_unwanted.get()():
        raise StoppedError("nobody waits for the result any more")


class TurnLock:
    """A lock that threads get in the order in which they asked for it, so that none waits for all work of another.

    Raises StoppedError: the work is unwanted.
    """

    def __init__(self) -> None:
        self._turns = deque[threading.Event]()  # the first has the lock
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        require_wanted()
        turn = threading.Event()
        with self._lock:
            self._turns.append(turn)
            self._turns[0].set()
        try:
            turn.wait()
        except BaseException:  # an interrupted program
            self._leave(turn)
            raise

    def __exit__(self, *_: object) -> None:
        self._leave(self._turns[0])

    def _leave(self, turn: threading.Event) -> None:
        with self._lock:
            self._turns.remove(turn)
            if self._turns:
                self._turns[0].set()


class TorchThreads:
    """Limit on torch's threads for a block; the previous number is restored afterwards.

    torch applies the number to threads that first use it later: concurrent blocks restore the number before the first
    one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks = 0
        self._previous = 1

    @contextmanager
    def limited_to(self, number: int) -> Iterator[None]:
        """Use ``number`` threads within the block."""
        import torch

        with self._lock:
            if not self._blocks:
                self._previous = torch.get_num_threads()
            self._blocks += 1
            torch.set_num_threads(number)
        try:
            yield
        finally:
            with self._lock:
                self._blocks -= 1
                torch.set_num_threads(self._previous)


torch_threads = TorchThreads()
