"""Memoization across threads: work is done once per key, even on concurrent calls."""

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SingleFlight(Generic[K, V]):
    """A memoized function: the first call with a key does the work, concurrent calls wait for it.

    Exceptions are memoized too.

    Args:
        work: key → result.
    """

    def __init__(self, work: Callable[[K], V]) -> None:
        self._work = work
        self._results: dict[K, Future[V]] = {}
        self._lock = threading.Lock()

    def __call__(self, key: K) -> V:
        """The result for a key; raises what the work raised."""
        with self._lock:
            result = self._results.get(key)
            is_first = result is None
            if result is None:
                result = self._results[key] = Future()
        if is_first:
            try:
                result.set_result(self._work(key))
            except BaseException as error:
                result.set_exception(error)
                raise
        return result.result()
