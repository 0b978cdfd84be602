"""Bounds on size and time of a reply while it is read, for which clients have no setting.

The transports of httpx and DSPy are wrapped once per process; only requests within :func:`bounded_replies` are bounded.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
from dspy._vendor.lm15 import transports  # not exported elsewhere by DSPy
from dspy.utils.exceptions import LMConfigurationError, LMError, LMTransportError

from storm_pipeline.models.request import WEB_PAGE, Answer
from storm_pipeline.run.retrying import MOST_VALUES

LARGEST_REPLY = 8 * 2**20  # bytes
_GRACE = 1.0  # grace in seconds before an abandoned reply is closed


@dataclass
class _Bounds:
    """The bounds of the replies in a block."""

    ends: float  # deadline of reading, in monotonic seconds
    answer: Answer  # receives the beginning of the last answer
    broken: str = ""  # error of a reply that exceeded the bounds
    is_redirect: bool = False

    def begin(self, response: Any, status: int, header: Callable[[str], str | None], error: type[Exception]) -> None:
        """Record the head of an answer; raises the client's ``error`` for a compressed answer or a redirect."""
        self.answer.begin(status, header("content-type"))
        self.is_redirect = 300 <= status < 400  # some clients would follow it with their keys
        if self.is_redirect:
            self.broken = "it redirects to another address, which is not followed"
        elif (header("content-encoding") or "identity").lower() != "identity":
            self.broken = "the reply is compressed, which was not asked for"
        if self.broken:
            response.close()
            raise error(self.broken)


_bounds: ContextVar[_Bounds | None] = ContextVar("storm_reply_bounds", default=None)


@contextmanager
def bounded_replies(seconds: float, answer: Answer) -> Iterator[None]:
    """Bound the replies within the block to :data:`LARGEST_REPLY` bytes and about ``seconds``.

    Raises LMTransportError: a reply is larger, or compressed; LMConfigurationError: it is a web page or a redirect.
    """
    _wrap_clients()
    bounds = _Bounds(time.monotonic() + seconds + _GRACE, answer)
    token = _bounds.set(bounds)
    try:
        yield
    except LMError as error:
        if bounds.broken and not bounds.is_redirect:  # clients reword or hide it
            raise LMTransportError(bounds.broken, model=error.model) from error
        if bounds.is_redirect or answer.is_page:
            why = bounds.broken or "it answered with a web page, not a completion"
            raise LMConfigurationError(why, model=error.model, code=WEB_PAGE) from error
        raise
    finally:
        _bounds.reset(token)


@dataclass
class _Bounded(httpx.SyncByteStream):
    """The stream of a reply; ``broken`` and ``late`` are its client's error classes."""

    stream: Any
    bounds: _Bounds
    broken: Callable[[str], Exception]
    late: Callable[[str], Exception]

    def __iter__(self) -> Iterator[bytes]:
        read = values = 0
        for chunk in self.stream:
            read += len(chunk)
            values += chunk.count(b"[") + chunk.count(b"{")
            self.bounds.answer.add(chunk)
            if read > LARGEST_REPLY or values > MOST_VALUES:
                most = f"{MOST_VALUES:,} values" if read <= LARGEST_REPLY else f"{LARGEST_REPLY >> 20} MiB"
                self.bounds.broken = f"the reply is larger than {most}"
                raise self.broken(self.bounds.broken)
            if time.monotonic() > self.bounds.ends:
                raise self.late("the reply was not complete in time")
            yield chunk

    def close(self) -> None:
        self.stream.close()


@cache
def _wrap_clients() -> None:
    """Wrap httpx's transport, for OpenAI's client and LiteLLM, and that of DSPy's client."""
    handle, stream = httpx.HTTPTransport.handle_request, transports.StdlibTransport.stream

    def handle_bounded(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        bounds = _bounds.get()
        if bounds is None:
            return handle(self, request)
        request.headers["Accept-Encoding"] = "identity"  # a small reply may unpack to a large one
        response = handle(self, request)
        bounds.begin(response, response.status_code, response.headers.get, httpx.RemoteProtocolError)
        response.stream = _Bounded(response.stream, bounds, httpx.RemoteProtocolError, httpx.ReadTimeout)
        return response

    def stream_bounded(self: Any, request: Any) -> Any:  # which does not request compression
        response, bounds = stream(self, request), _bounds.get()
        if bounds is None:
            return response
        bounds.begin(response, response.status, response.header, transports.ProtocolError)
        response._chunks = iter(_Bounded(response._chunks, bounds, transports.ProtocolError, transports.ReadTimeout))
        return response

    httpx.HTTPTransport.handle_request = handle_bounded  # type: ignore[method-assign]
    transports.StdlibTransport.stream = stream_bounded
