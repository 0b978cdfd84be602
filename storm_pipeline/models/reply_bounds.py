"""Bounds on a reply while it is read: its size, and the time until it is complete.

DSPy's client limits only the wait for the next byte. So a reply that drips would never end, and one without end would
fill the memory. It has no setting for either, so its transport is wrapped, once in the process; that changes no call
outside :func:`reply_within`. Providers that DSPy asks through LiteLLM have its limits only.
"""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

LARGEST_REPLY = 32 * 2**20
"""Bytes of a reply, unpacked."""
TOO_SLOW = "the reply was not complete in time"

_ends: ContextVar[float | None] = ContextVar("storm_reply_ends", default=None)
"""When the reply that is being read must be complete, in monotonic seconds."""


@contextmanager
def reply_within(seconds: float) -> Iterator[None]:
    """Whatever the block requests must be complete after so many seconds, and at most :data:`LARGEST_REPLY` long."""
    _wrap_transport()
    token = _ends.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _ends.reset(token)


@dataclass(frozen=True)
class _TimedSocket:
    """A socket whose reads end when the reply must be complete."""

    inner: socket.socket

    def recv(self, size: int) -> bytes:
        ends = _ends.get()
        if ends is None:
            return self.inner.recv(size)
        idle = self.inner.gettimeout()
        left = ends - time.monotonic()
        if left <= 0:
            raise TimeoutError(TOO_SLOW)
        self.inner.settimeout(left if idle is None else min(left, idle))
        try:
            return self.inner.recv(size)
        finally:
            self.inner.settimeout(idle)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@cache
def _wrap_transport() -> None:
    from dspy._vendor.lm15.transports import ProtocolError, StdlibTransport

    opened, streamed = StdlibTransport._open, StdlibTransport.stream

    def open_timed(self: Any, *args: Any, **kwargs: Any) -> Any:
        connection = opened(self, *args, **kwargs)
        connection.sock = _TimedSocket(connection.sock)
        return connection

    def stream_bounded(self: Any, request: Any) -> Any:
        response = streamed(self, request)
        if _ends.get() is not None:
            response._chunks = bounded(response._chunks)
        return response

    def bounded(chunks: Iterator[bytes]) -> Iterator[bytes]:
        read = 0
        for chunk in chunks:
            read += len(chunk)
            if read > LARGEST_REPLY:
                raise ProtocolError(f"the reply is larger than {LARGEST_REPLY >> 20} MiB")
            yield chunk

    StdlibTransport._open = open_timed
    StdlibTransport.stream = stream_bounded
