"""Politeness: how many requests a service gets at once, and how many a second."""

import math
import threading
import time
from collections.abc import Callable
from types import TracebackType


class Limiter:
    """A token bucket that threads enter: ``with limiter:`` waits for its turn.

    Args:
        rate: entries a second in the long run, > 0; infinite for no limit.
        burst: entries that may follow each other at once after a rest, >= 1.
        concurrent: threads inside at the same time, >= 1.
        clock: monotonic seconds.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        rate: float = math.inf,
        *,
        burst: int = 1,
        concurrent: int = 4,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._interval = 1 / rate
        self._burst = burst
        self._slots = threading.BoundedSemaphore(concurrent)
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        # The moment at which the bucket would be full again; each entry takes one interval of it.
        self._full = clock()

    def slow_to(self, rate: float) -> None:
        """Change the rate from the next entry on; > 0."""
        with self._lock:
            self._interval = 1 / rate

    def hold(self, seconds: float) -> None:
        """Let nobody in for a while, as a server asked."""
        with self._lock:
            self._full = max(self._full, self._clock() + seconds + self._interval * (self._burst - 1))

    def __enter__(self) -> None:
        self._slots.acquire()
        with self._lock:
            now = self._clock()
            start = max(now, self._full - self._interval * (self._burst - 1))
            self._full = max(start, self._full) + self._interval
        if start > now:
            self._sleep(start - now)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._slots.release()
