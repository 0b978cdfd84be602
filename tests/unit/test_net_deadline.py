"""A time limit for work that has none of its own."""

import time

import pytest

from storm_pipeline.net.retrying import within


def test_a_result_in_time() -> None:
    assert within(5, lambda: 3) == 3


def test_work_that_takes_longer() -> None:
    start = time.monotonic()
    assert within(0.05, lambda: time.sleep(1)) is None
    assert time.monotonic() - start < 0.8


@pytest.mark.parametrize("error", [ValueError("no"), TimeoutError("the work's own")])
def test_an_error_in_time(error: Exception) -> None:
    def work() -> None:
        raise error

    with pytest.raises(type(error), match=str(error)):
        within(5, work)
