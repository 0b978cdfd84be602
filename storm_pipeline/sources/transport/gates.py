"""Gates to services: a rate limit and a circuit breaker shared by all runs of the process."""

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from storm_pipeline.errors import SearchError
from storm_pipeline.run.retrying import Patience, run_within, with_retries
from storm_pipeline.sources.transport.refusals import QueryRefusedError

T = TypeVar("T")
_lock = threading.Lock()
_CLOSED_SECONDS = 60.0


class Limiter:
    """A rate and concurrency limit.

    ``rate``: entries per second, > 0; infinite for no limit. ``concurrent``: maximum number of threads inside, >= 1.
    """

    def __init__(self, rate: float = math.inf, *, concurrent: int = 4) -> None:
        self._interval = 1 / rate
        self._slots = threading.BoundedSemaphore(concurrent)
        self._lock = threading.Lock()
        self._next = time.monotonic()  # time of the next entry

    def set_rate(self, rate: float) -> None:
        """Change the rate (> 0) from the next entry on."""
        with self._lock:
            self._interval = 1 / rate

    def hold(self, seconds: float) -> None:
        """Delay further entries by a server's Retry-After."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)

    @contextmanager
    def turn(self, within: float | None = None) -> Iterator[None]:
        """Wait for a slot and a turn before the block. Raises TimeoutError: they come later than ``within`` seconds."""
        latest = math.inf if within is None else time.monotonic() + within
        if not self._slots.acquire(timeout=within):
            raise TimeoutError
        try:
            with self._lock:
                now = time.monotonic()
                start = max(now, self._next)
                if start > latest:
                    raise TimeoutError
                self._next = start + self._interval
            if start > now:
                time.sleep(start - now)
            yield
        finally:
            self._slots.release()


class CircuitOpenError(SearchError):
    """A request was not made, since the service failed too often just before."""


@dataclass(frozen=True)
class Rate:
    """Limits of a service."""

    per_second: float = 10.0  # requests per second, > 0
    concurrent: int = 32  # maximum number of concurrent requests, >= 1
    failures: int = 5  # consecutive failures after which calls stop for a minute, >= 1


class Gate:
    """The rate limiter and circuit breaker that requests to a service go through. Thread-safe.

    After ``rate.failures`` consecutive failures no calls pass for a minute. Then the next failure closes the gate for
    another minute, and a success resets the count.
    """

    def __init__(self, service: str, rate: Rate) -> None:
        self.limiter = Limiter(rate.per_second, concurrent=rate.concurrent)
        self._service, self._max_failures = service, rate.failures
        self._lock = threading.Lock()
        self._failures, self._until, self._last = 0, 0.0, ""

    def call(self, attempt: Callable[[], T], patience: Patience) -> T:
        """Call ``attempt`` within limits of rate and time, with retries, unless the circuit is open.

        Raises SearchError: the last failure; CircuitOpenError: no attempt was made.
        """
        with self._lock:
            if self._failures >= self._max_failures and (left := self._until - time.monotonic()) > 0:
                raise CircuitOpenError(
                    f"{self._service} failed {self._failures} times in a row and is left alone for {left:.0f} s more; "
                    f"the last time: {self._last}"
                )

        def call_once() -> T:
            with self.limiter.turn():  # no library bounds the time of headers, interim answers and trailers
                done = run_within(patience.total, lambda: (attempt(),))
            if done is None:
                late = f"{self._service} did not finish its answer within {patience.total:g} s; try again later"
                raise SearchError(late)
            return done[0]

        try:
            answer = with_retries(call_once, patience)
        except QueryRefusedError:
            raise
        except SearchError as error:
            with self._lock:
                self._failures += 1
                self._last, self._until = str(error), time.monotonic() + _CLOSED_SECONDS
            raise
        with self._lock:
            self._failures = 0
        return answer


_gates: dict[tuple[str, str], Gate] = {}


def gate(service: str, host: str, rate: Rate) -> Gate:
    """Return the process-wide gate to a service at a host.

    The first caller sets its limits, the latest caller the requests per second.
    """
    with _lock:
        known = _gates.setdefault((service, host), Gate(service, rate))
    known.limiter.set_rate(rate.per_second)
    return known


def forget_gates() -> None:
    """Drop all gates, as in a fresh process; for tests."""
    with _lock:
        _gates.clear()
