"""A cache around a function of many values at once, for judges and taggers that take long."""

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BatchCache(Generic[K, V]):
    """The latest ``size`` results of ``ask``, which is called in one thread at a time, and once for equal values."""

    def __init__(self, ask: Callable[[Sequence[K]], Sequence[V]], size: int) -> None:
        self._ask, self._size = ask, size
        self._known: dict[K, V] = {}
        self._lock = threading.Lock()

    def __call__(self, keys: Sequence[K]) -> list[V]:
        """Return a result for each value, in order."""
        with self._lock:
            if new := [key for key in dict.fromkeys(keys) if key not in self._known]:
                self._known.update(zip(new, self._ask(new), strict=True))
            found = [self._known[key] for key in keys]
            for oldest in list(self._known)[: max(0, len(self._known) - self._size)]:
                del self._known[oldest]
            return found
