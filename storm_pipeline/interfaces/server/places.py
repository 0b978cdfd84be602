"""Places that callers hold during requests, with a limit per caller."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from storm_pipeline.interfaces.server.callers import CALLER, OWNER
from storm_pipeline.interfaces.server.errors import BusyError, OverloadedError


@dataclass(frozen=True)
class Places:
    """A number of places, with a maximum per client. Thread-safe."""

    what: str  # plural noun of the holders, for messages
    most: int
    most_of_one: int
    _held: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def hold(self, client: str) -> Iterator[None]:
        """Hold a place for a client within the block; ``client``: empty for no limit.

        Raises BusyError: the client holds the maximum. Raises OverloadedError: none is free.
        """
        with self._lock:
            if client and self._held[client] >= self.most_of_one:
                raise BusyError(f"{self.most_of_one} {self.what} of yours are under way: end some, or try again later")
            if self._held.total() >= self.most:
                raise OverloadedError(f"{self.most} {self.what} are under way: try again later")
            self._held[client] += 1
        try:
            yield
        finally:
            with self._lock:
                self._held[client] -= 1
                if not self._held[client]:
                    del self._held[client]


def make_places(what: str, most: int) -> Places:
    """Return places with a limit per client of a quarter, at least one."""
    return Places(what, most, max(1, most // 4))


def caller_name() -> str:
    """Return the name of the caller of the current request; empty for the owner."""
    return CALLER.get(OWNER).name
