"""A circuit breaker: a service that keeps failing is left alone for a while, and that is said."""

import threading
import time
from collections.abc import Callable

from storm_pipeline.errors import SearchError


class CircuitOpenError(SearchError):
    """The service was not asked, because it failed too often just before."""


class Circuit:
    """Counts failures in a row. Thread-safe.

    After ``failures`` of them it is open: :meth:`check` refuses for ``seconds``. Then it lets requests try again; the
    first that fails opens it anew, one that succeeds closes it.

    Args:
        service: name for messages.
        failures: failures in a row that open it, >= 1.
        seconds: how long it stays open, >= 0.
        clock: monotonic seconds.
    """

    def __init__(
        self, service: str, *, failures: int = 5, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._service = service
        self._most = failures
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._until = 0.0
        self._last = ""

    def check(self) -> None:
        """Raise :class:`CircuitOpenError` while the service is to be left alone."""
        with self._lock:
            if self._failures >= self._most and (left := self._until - self._clock()) > 0:
                raise CircuitOpenError(
                    f"{self._service} failed {self._failures} times in a row and is left alone for {left:.0f} s more; "
                    f"the last time: {self._last}"
                )

    def failed(self, error: Exception) -> None:
        """Count a failure."""
        with self._lock:
            self._failures += 1
            self._last = str(error)
            self._until = self._clock() + self._seconds

    def succeeded(self) -> None:
        """Forget the failures."""
        with self._lock:
            self._failures = 0
