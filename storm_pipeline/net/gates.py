"""One gate per service and process: concurrent runs share its rate limit and circuit breaker."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from storm_pipeline.errors import SearchError
from storm_pipeline.net.circuit import Circuit
from storm_pipeline.net.limiter import Limiter
from storm_pipeline.net.refusals import QueryRefusedError
from storm_pipeline.net.retrying import Patience, with_retries

T = TypeVar("T")


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

        Raises:
            SearchError: the last failure.
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
_lock = threading.Lock()


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
