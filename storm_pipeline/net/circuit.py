"""A circuit breaker: requests to a service that keeps failing are refused for a while."""

import threading
import time
from collections.abc import Callable

from storm_pipeline.errors import SearchError


class CircuitOpenError(SearchError):
    """No request was made, because the service failed too often just before."""


class Circuit:
    """Counts consecutive failures. Thread-safe.

    After ``failures`` of them it is open: :meth:`check` raises for ``seconds``. Then requests pass again; the
    first that fails reopens it, one that succeeds closes it.

    Args:
        service: name for messages.
        failures: consecutive failures that open it, >= 1.
        seconds: how long it stays open, >= 0.
        clock: returns monotonic seconds.
    """

    def __init__(
        self, service: str, *, failures: int = 5, seconds: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._service = service
        self._max_failures = failures
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._until = 0.0
        self._last = ""

    def check(self) -> None:
        """Raise :class:`CircuitOpenError` while the circuit is open."""
        with self._lock:
            if self._failures >= self._max_failures and (left := self._until - self._clock()) > 0:
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
        """Reset the count."""
        with self._lock:
            self._failures = 0
