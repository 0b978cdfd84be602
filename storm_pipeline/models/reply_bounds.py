"""Bounds on a reply while it is read: its size, and the time until it is complete.

Neither OpenAI's client, nor DSPy's own, nor LiteLLM has a setting for them: a reply without end would fill the memory,
and one that drips would be read on after its caller gave up. So what they read through is wrapped, once in the process;
that changes no request outside :func:`bounded_replies`. Not covered are the few providers of LiteLLM whose own library
speaks to the server with neither httpx nor DSPy's client.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx
from dspy._vendor.lm15 import transports  # DSPy names no other place for it
from dspy.utils.exceptions import LMConfigurationError, LMError, LMTransportError

from storm_pipeline.models.request import WEB_PAGE, Answer

LARGEST_REPLY = 32 * 2**20
"""Bytes of a reply."""
_GRACE = 1.0  # seconds after which reading ends when nobody waits any more


@dataclass
class _Bounds:
    """When reading must end, in monotonic seconds, and how a reply broke the bounds; empty if none did."""

    ends: float
    answer: Answer
    broken: str = ""


_bounds: ContextVar[_Bounds | None] = ContextVar("storm_reply_bounds", default=None)


@contextmanager
def bounded_replies(seconds: float, answer: Answer) -> Iterator[None]:
    """Replies to requests of the block are at most :data:`LARGEST_REPLY` long, and read for about so many seconds.

    Args:
        answer: gets the beginning of the last answer.

    Raises:
        LMTransportError: a reply was larger, or compressed.
        LMConfigurationError: a web page was the answer.
    """
    _wrap_clients()
    bounds = _Bounds(time.monotonic() + seconds + _GRACE, answer)
    token = _bounds.set(bounds)
    try:
        yield
    except LMError as error:
        if bounds.broken:  # clients tell it in words of their own, or hide it
            raise LMTransportError(bounds.broken, model=error.model) from error
        if answer.is_page:
            told = "it answered with a web page, not a completion"
            raise LMConfigurationError(told, model=error.model, code=WEB_PAGE) from error
        raise
    finally:
        _bounds.reset(token)


@dataclass
class _Bounded(httpx.SyncByteStream):
    """A reply as it is read; ``broken`` and ``late`` are the errors of its client."""

    stream: Any
    bounds: _Bounds
    broken: Callable[[str], Exception]
    late: Callable[[str], Exception]

    def __iter__(self) -> Iterator[bytes]:
        read = 0
        for chunk in self.stream:
            read += len(chunk)
            self.bounds.answer.add(chunk)
            if read > LARGEST_REPLY:
                self.bounds.broken = f"the reply is larger than {LARGEST_REPLY >> 20} MiB"
                raise self.broken(self.bounds.broken)
            if time.monotonic() > self.bounds.ends:
                raise self.late("the reply was not complete in time")
            yield chunk

    def close(self) -> None:
        self.stream.close()


def _is_packed(bounds: _Bounds, encoding: str | None) -> bool:
    if (encoding or "identity").lower() == "identity":
        return False
    bounds.broken = "the reply is compressed, which was not asked for"
    return True


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
        bounds.answer.begin(response.status_code, response.headers.get("content-type"))
        if _is_packed(bounds, response.headers.get("content-encoding")):
            response.close()
            raise httpx.RemoteProtocolError(bounds.broken)
        response.stream = _Bounded(response.stream, bounds, httpx.RemoteProtocolError, httpx.ReadTimeout)
        return response

    def stream_bounded(self: Any, request: Any) -> Any:  # which asks for no compression
        response, bounds = stream(self, request), _bounds.get()
        if bounds is None:
            return response
        bounds.answer.begin(response.status, response.header("content-type"))
        if _is_packed(bounds, response.header("content-encoding")):
            response.close()
            raise transports.ProtocolError(bounds.broken)
        response._chunks = iter(_Bounded(response._chunks, bounds, transports.ProtocolError, transports.ReadTimeout))
        return response

    httpx.HTTPTransport.handle_request = handle_bounded  # type: ignore[method-assign]
    transports.StdlibTransport.stream = stream_bounded
