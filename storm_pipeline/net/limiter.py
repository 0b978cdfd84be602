"""Rate limiting: concurrent requests, and requests per second."""

import math
import threading
import time
from collections.abc import Callable
from types import TracebackType


class Limiter:
    """A token bucket with a concurrency limit: ``with limiter:`` waits for a token and a slot.

    Args:
        rate: sustained entries per second, > 0; infinite for no limit.
        burst: entries allowed at once after an idle period, >= 1.
        concurrent: maximum number of threads inside, >= 1.
        clock: returns monotonic seconds.
        sleep: called with the seconds to wait.
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
        # When the bucket will be full again; each entry moves it one interval later.
        self._full = clock()

    def set_rate(self, rate: float) -> None:
        """Change the rate (> 0) from the next entry on."""
        with self._lock:
            self._interval = 1 / rate

    def hold(self, seconds: float) -> None:
        """Delay all further entries, as a server asked."""
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
