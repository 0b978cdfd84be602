"""Politeness: how many requests an engine gets at once, and how close together."""

import threading
import time
from collections.abc import Callable
from types import TracebackType


class Limiter:
    """Context manager that lets a bounded number of threads in at once and spaces out their entries.

    Args:
        concurrent: blocks that may run at the same time, >= 1.
        interval: least number of seconds between the beginnings of two blocks, >= 0.
        clock: monotonic seconds.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        concurrent: int = 4,
        interval: float = 0.0,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._slots = threading.BoundedSemaphore(concurrent)
        self._interval = interval
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._next = clock()

    def __enter__(self) -> None:
        self._slots.acquire()
        with self._lock:
            now = self._clock()
            start = max(now, self._next)
            self._next = start + self._interval
        if start > now:
            self._sleep(start - now)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._slots.release()
