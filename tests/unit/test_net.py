"""Rates, circuits, the gates that the runs of a process share, and a limit of time for work that has none."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.run.retrying import run_within
from storm_pipeline.sources.transport import gates
from storm_pipeline.sources.transport.gates import Limiter


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def entries(rate: float, idle: Sequence[float], held: float = 0.0) -> list[float]:
    """When calls enter, each so long after the one before, where the server asked for patience before all of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gates, "time", clock := Clock())
        limiter, times = Limiter(rate), []
        limiter.hold(held)
        for seconds in idle:
            clock.sleep(seconds)
            with limiter.turn():
                times.append(clock.now)
    return times


@given(rate=st.floats(0.1, 50), idle=st.lists(st.floats(0, 20), min_size=1, max_size=30))
def test_no_window_holds_more_than_the_rate_allows(rate: float, idle: list[float]) -> None:
    times = entries(rate, idle)
    for first in range(len(times)):
        for last in range(first, len(times)):
            assert last - first <= (times[last] - times[first]) * rate + 1e-6


def test_a_limiter_holds_everybody_when_the_server_asks() -> None:
    assert entries(math.inf, [0, 0], held=7) == [107, 107]


@pytest.mark.parametrize("error", [ValueError("no"), TimeoutError("the work's own")])
def test_an_error_in_time(error: Exception) -> None:
    def work() -> None:
        raise error

    with pytest.raises(type(error), match=str(error)):
        run_within(5, work)
