"""A time limit for work that has none of its own, such as looking up a host's name."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as OutOfTime
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T | None:
    """The result of ``work``, or None if it takes longer; it then goes on in a thread that keeps no process alive.

    Raises whatever ``work`` raises in time.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            future.set_exception(error)

    threading.Thread(target=run, name="within", daemon=True).start()
    try:
        return future.result(seconds)
    except OutOfTime:
        if future.done():  # the work's own error
            raise
        return None
