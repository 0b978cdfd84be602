"""Limits on connections of the HTTP API: silent or excessive ones are closed."""

from asyncio import TimerHandle, Transport
from collections.abc import Collection
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from storm_pipeline.interfaces.server.reach import Reach

_HEADER_SECONDS, _READ_SECONDS = 10.0, 60.0
"""Within which the headers of a request must arrive, after the connection or the last answer, and within which a client
must read something of an answer that waits for him."""
_MOST_OF_ONE, _MOST = 128, 512
"""Open connections of one address that is no trusted proxy, and of all. Beyond, the one that has been idle longest is
closed. An address may have half as many requests under way, so that the next one is answered and not cut off."""
_MOST_LINES, _MOST_CHUNKS, _CHUNK = 100, 200, 32
"""Lines of a header, or behind a body; chunks of a body, beyond which they have so many bytes on average. Each takes
h11 as long as kilobytes of text, in which nobody else is answered."""


class _Connection(h11.Connection):
    """Parser of requests; raises h11.RemoteProtocolError for too many lines or chunks."""

    _chunks = _bytes = 0

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        event = super().next_event()
        if isinstance(event, h11.Request | h11.EndOfMessage):
            self._chunks = self._bytes = 0
            _require(len(event.headers) <= _MOST_LINES)
        elif isinstance(event, h11.Data):
            self._chunks += event.chunk_start
            self._bytes += len(event.data)
            _require(self._chunks <= _MOST_CHUNKS + self._bytes // _CHUNK)
        return event


def _require(is_usual: bool) -> None:  # noqa: FBT001
    if not is_usual:
        raise h11.RemoteProtocolError("too many lines or chunks")


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 with limits on the time for headers and unread answers, and on connections by address.

    Requests with very many lines or chunks are refused. ``reach``: names the proxies, which are only bound by the
    total.
    """

    reach = Reach()
    _silence: TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Make room for the connection and start the timeout of its headers."""
        super().connection_made(transport)
        self.conn = _Connection(h11.SERVER)
        self._wait_for_headers()
        others: Collection[Any] = self.connections
        if not self.reach.is_proxy(_address(self)):
            _make_room([connection for connection in others if _address(connection) == _address(self)], _MOST_OF_ONE)
        _make_room(others, _MOST)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeout."""
        self._stop_waiting()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the timeout of the client's reading."""
        super().pause_writing()
        self._wait_for_headers()

    def resume_writing(self) -> None:
        """Cancel the timeout, except that of the next request's headers."""
        super().resume_writing()
        if not self.is_idle:
            self._stop_waiting()

    def handle_events(self) -> None:
        """Parse the received bytes; cancel the timeout once the headers are complete."""
        super().handle_events()
        if not self.is_idle:
            self._stop_waiting()

    def send_400_response(self, msg: str) -> None:
        """Answer that a request cannot be parsed, unless an answer has begun."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.abort()

    def on_response_complete(self) -> None:
        """Start the timeout of the next request's headers."""
        self._wait_for_headers()
        super().on_response_complete()

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered, or the answer is not being read."""
        return self.cycle is None or self.cycle.response_complete or self.flow.write_paused

    def _wait_for_headers(self) -> None:
        self._since = self.loop.time()
        self._wait()

    def _wait(self) -> None:
        self._stop_waiting()
        unread = self.transport.get_write_buffer_size()
        seconds = _READ_SECONDS if unread else _HEADER_SECONDS
        self._silence = self.loop.call_later(seconds, self._close_unless_read, unread)

    def _close_unless_read(self, before: int) -> None:
        """Close the connection, unless the client has read some of the pending answer."""
        if self.transport.get_write_buffer_size() < before:
            self._wait()
        else:
            self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._silence is not None:
            self._silence.cancel()
            self._silence = None


def _make_room(connections: Collection[Any], most: int) -> None:
    """Close the longest idle connection if there are too many."""
    if len(connections) > most:
        idle = (c for c in connections if c.is_idle and not c.transport.is_closing())
        min(idle, key=lambda connection: connection._since).transport.abort()


def _address(connection: Any) -> str:
    return connection.client[0] if connection.client else ""
