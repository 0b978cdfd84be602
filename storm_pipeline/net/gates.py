"""One gate per service and process: concurrent runs share its rate limit and its circuit breaker."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from storm_pipeline.errors import SearchError
from storm_pipeline.net.refusals import QueryRefusedError
from storm_pipeline.net.retrying import Patience, with_retries

T = TypeVar("T")
_lock = threading.Lock()


class Limiter:
    """A token bucket with a concurrency limit: ``with limiter:`` waits for a token and a slot.

    Args:
        rate: sustained entries per second, > 0; infinite for no limit.
        burst: entries allowed at once after an idle period, >= 1.
        concurrent: maximum number of threads inside, >= 1.
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

    def __exit__(self, *_: object) -> None:
        self._slots.release()


class CircuitOpenError(SearchError):
    """No request was made, because the service failed too often just before."""


class Circuit:
    """Counts consecutive failures. Thread-safe.

    After ``failures`` of them it is open: :meth:`check` raises for ``seconds``. Then requests pass again; the first
    that fails reopens it, one that succeeds closes it.

    Args:
        failures: consecutive failures that open it, >= 1.
        seconds: how long it stays open, >= 0.
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


@dataclass(frozen=True)
class Rate:
    """Rate limits of a service."""

    per_second: float = 10.0  # sustained requests per second, > 0
    burst: int = 1  # requests allowed at once after an idle period, >= 1
    concurrent: int = 32  # maximum number of concurrent requests, >= 1


@dataclass(frozen=True)
class Gate:
    """The rate limiter and circuit breaker that requests to a service go through."""

    limiter: Limiter
    circuit: Circuit

    def call(self, attempt: Callable[[], T], patience: Patience, *, sleep: Callable[[float], None] = time.sleep) -> T:
        """Call ``attempt`` within the rate limit, with retries, unless the circuit is open.

        Raises SearchError: the last failure.
        """
        self.circuit.check()

        def limited() -> T:
            with self.limiter:
                return attempt()

        try:
            answer = with_retries(limited, patience, sleep=sleep)
        except QueryRefusedError:
            raise
        except SearchError as error:
            self.circuit.failed(error)
            raise
        self.circuit.succeeded()
        return answer


_gates: dict[tuple[str, str], Gate] = {}


def gate(service: str, host: str, rate: Rate, *, failures: int = 5) -> Gate:
    """The process-wide gate to a service at a host.

    The first caller sets burst, concurrency and how many consecutive ``failures`` open the circuit; the rate is that of
    the latest caller.
    """
    with _lock:
        known = _gates.get((service, host))
        if known is None:
            limiter = Limiter(rate.per_second, burst=rate.burst, concurrent=rate.concurrent)
            known = _gates[service, host] = Gate(limiter, Circuit(service, failures=failures))
    known.limiter.set_rate(rate.per_second)
    return known


def forget_gates() -> None:
    """Drop all gates, as in a fresh process; for tests."""
    with _lock:
        _gates.clear()
