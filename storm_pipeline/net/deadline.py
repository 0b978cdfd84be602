"""A time limit for work that has none of its own, such as looking up a host's name."""

from collections.abc import Callable
from concurrent.futures import TimeoutError as OutOfTime
from typing import TypeVar

from storm_pipeline.concurrency import in_own_thread

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T | None:
    """The result of ``work``, or None if it takes longer; it then goes on in a thread that keeps no process alive.

    Raises whatever ``work`` raises in time.
    """
    future = in_own_thread(work, "within")
    try:
        return future.result(seconds)
    except OutOfTime:
        if future.done():  # the work's own error
            raise
        return None
