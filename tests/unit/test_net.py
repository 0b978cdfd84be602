"""Rates, circuits and the gates that the runs of a process share."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.net.gates import Circuit, CircuitOpenError, Limiter, Rate, gate


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def entries(limiter: Limiter, clock: Clock, number: int) -> list[float]:
    times = []
    for _ in range(number):
        with limiter:
            times.append(clock.now)
    return times


@given(
    rate=st.floats(0.1, 50),
    burst=st.integers(1, 8),
    idle=st.lists(st.floats(0, 20), min_size=1, max_size=30),
)
def test_no_window_holds_more_than_burst_and_rate_allow(rate: float, burst: int, idle: list[float]) -> None:
    clock = Clock()
    limiter = Limiter(rate, burst=burst, clock=clock, sleep=clock.sleep)
    times = []
    for seconds in idle:
        clock.sleep(seconds)
        times += entries(limiter, clock, 1)
    for first in range(len(times)):
        for last in range(first, len(times)):
            assert last - first + 1 <= burst + (times[last] - times[first]) * rate + 1e-6


def test_a_burst_after_a_rest_and_then_the_rate() -> None:
    clock = Clock()
    limiter = Limiter(2.0, burst=3, clock=clock, sleep=clock.sleep)
    assert [round(t - 100, 3) for t in entries(limiter, clock, 5)] == [0, 0, 0, 0.5, 1.0]
    clock.sleep(60)
    assert [round(t - clock.now, 3) for t in entries(limiter, clock, 3)] == [0, 0, 0]


def test_a_limiter_holds_everybody_when_the_server_asks() -> None:
    clock = Clock()
    limiter = Limiter(math.inf, burst=2, clock=clock, sleep=clock.sleep)
    limiter.hold(7)
    assert entries(limiter, clock, 2) == [107, 107]


def test_a_circuit_opens_says_so_and_closes() -> None:
    clock = Clock()
    circuit = Circuit("brave", failures=2, seconds=30, clock=clock)
    circuit.failed(OSError("first"))
    circuit.succeeded()
    for message in ("one", "two"):
        circuit.check()
        circuit.failed(OSError(message))
    with pytest.raises(CircuitOpenError, match=r"brave failed 2 times in a row .* 30 s more; the last time: two"):
        circuit.check()
    clock.sleep(31)
    circuit.check()
    circuit.failed(OSError("three"))
    with pytest.raises(CircuitOpenError, match="three"):
        circuit.check()
    clock.sleep(31)
    circuit.succeeded()
    circuit.check()


def test_a_process_has_one_gate_a_service_and_host() -> None:
    one = gate("brave", "a.org", Rate(1))
    assert gate("brave", "a.org", Rate(2)) is one
    assert gate("brave", "b.org", Rate(1)) is not one
    assert gate("exa", "a.org", Rate(1)) is not one
