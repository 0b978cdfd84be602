"""One gate a service a process, whoever asks: runs side by side share its rate and its circuit."""

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
    """How much a service may be asked.

    Attributes:
        per_second: requests a second in the long run, > 0.
        burst: requests that may follow each other at once after a rest, >= 1.
        concurrent: requests at the same time, >= 1.
    """

    per_second: float = 10.0
    burst: int = 1
    concurrent: int = 32


@dataclass(frozen=True)
class Gate:
    """What a request to a service passes."""

    limiter: Limiter
    circuit: Circuit

    def passing(
        self, attempt: Callable[[], T], patience: Patience, *, sleep: Callable[[float], None] = time.sleep
    ) -> T:
        """What ``attempt`` returns, called in turn, again while patience lasts, and not while the circuit is open.

        Raises:
            SearchError: the last failure.
        """
        self.circuit.check()

        def in_turn() -> T:
            with self.limiter:
                return attempt()

        try:
            answer = with_retries(in_turn, patience, sleep=sleep)
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
    """The process's gate to a service at a host.

    The first caller sets burst, concurrency and how many ``failures`` in a row open the circuit; the rate is that of
    the latest caller.
    """
    with _lock:
        known = _gates.get((service, host))
        if known is None:
            limiter = Limiter(rate.per_second, burst=rate.burst, concurrent=rate.concurrent)
            known = _gates[service, host] = Gate(limiter, Circuit(service, failures=failures))
    known.limiter.slow_to(rate.per_second)
    return known


def forget_gates() -> None:
    """Begin anew, as in a fresh process; for tests."""
    with _lock:
        _gates.clear()
