"""Side-by-side work that keeps order, context and bounds."""

import contextvars
import ctypes
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

P = ParamSpec("P")
A = TypeVar("A")
B = TypeVar("B")

_MOST_TASKS = 64
_M_ARENA_MAX = -8
_in_flight: Counter[str] = Counter()
_changed = threading.Condition()


class Tasks:
    """Work started now and waited for later; each task runs in a copy of the context that started it.

    A copied context carries ``dspy.context`` and the current stage along. Leaving the block waits for every task;
    leaving it by an exception drops those that have not begun. Every block owns its threads, so nested blocks
    cannot starve each other; what must be bounded over all of them (model calls) is bounded where it happens.
    """

    def __init__(self, workers: int = _MOST_TASKS) -> None:
        self._pool = ThreadPoolExecutor(max_workers=max(1, workers))

    def start(self, work: Callable[P, B], *args: P.args, **kwargs: P.kwargs) -> "Future[B]":
        """Begin ``work(*args, **kwargs)``; its result or exception comes with ``result()``."""
        context = contextvars.copy_context()
        return self._pool.submit(lambda: context.run(work, *args, **kwargs))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        interrupted = kind is not None and not issubclass(kind, Exception)
        self._pool.shutdown(wait=not interrupted, cancel_futures=kind is not None)


def parallel_map(work: Callable[[A], B], items: Iterable[A], *, workers: int) -> list[B]:
    """Apply ``work`` to every item on up to ``workers`` threads; results keep the order of the items.

    Raises:
        The first exception in the order of the items; items that have not begun by then are dropped.
    """
    items = list(items)
    if not items:
        return []
    with Tasks(min(workers, len(items))) as tasks:
        return [future.result() for future in [tasks.start(work, item) for item in items]]


def few_arenas() -> None:
    """Let the C library keep its free memory in two places, not in up to eight a core.

    Threads that come and go with replies of megabytes otherwise leave each of these places in pieces: a process that
    writes many articles grew threefold. Only glibc has the setting; elsewhere nothing happens. It holds for the whole
    process, so only programs call this, such as the command line; the library leaves its host's memory alone.
    """
    try:
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)
    except (AttributeError, OSError, TypeError):  # another C library, or none that can be asked
        return


class TorchThreads:
    """Blocks in which torch computes on so many threads; afterwards it has again what the process had chosen.

    torch keeps the number both for the thread that sets it and for all threads that first use it later. So blocks that
    run side by side take what the first of them found, and each sets it back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks = 0
        self._found = 1

    @contextmanager
    def held_to(self, number: int) -> Iterator[None]:
        """``number`` threads for the block."""
        import torch

        with self._lock:
            if not self._blocks:
                self._found = torch.get_num_threads()
            self._blocks += 1
            torch.set_num_threads(number)
        try:
            yield
        finally:
            with self._lock:
                self._blocks -= 1
                torch.set_num_threads(self._found)


torch_threads = TorchThreads()


@contextmanager
def process_slot(name: str, limit: int) -> Iterator[None]:
    """One of ``limit`` places under a name that all threads of the process share; waits until one is free."""
    with _changed:
        _changed.wait_for(lambda: _in_flight[name] < limit)
        _in_flight[name] += 1
    try:
        yield
    finally:
        with _changed:
            _in_flight[name] -= 1
            _changed.notify_all()
