"""Transports for clients of language models, which bound a reply's size and time while it is read.

Requests within :func:`bounded_replies` are bounded, others pass as they are.
"""

import atexit
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import httpx
from dspy import lm15
from dspy._vendor.lm15 import transports  # not exported elsewhere by DSPy
from dspy.clients.engines import LM15Engine
from dspy.lm15 import RouterConfig
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
class _BoundedStream(httpx.SyncByteStream):
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


class BoundedTransport(httpx.BaseTransport):
    """Transport like that of an ``httpx.Client`` with the environment's proxies; for OpenAI's client and LiteLLM."""

    def __init__(self) -> None:
        self._client = httpx.Client()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer to a request, with a bounded body."""
        bounds = _bounds.get()
        if bounds:
            request.headers["Accept-Encoding"] = "identity"  # a small reply may expand to a large one
        response = self._client.send(request, stream=True)
        if bounds:
            bounds.begin(response, response.status_code, response.headers.get, httpx.RemoteProtocolError)
            response.stream = _BoundedStream(response.stream, bounds, httpx.RemoteProtocolError, httpx.ReadTimeout)
        return response

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class _KeptTransport(BoundedTransport):
    """A transport that stays open, since many clients share it."""

    def close(self) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Close the connections."""
        super().close()


class _KeptClient(httpx.Client):
    """A client that stays open."""

    def close(self) -> None:
        """Do nothing."""


class BoundedNativeTransport(transports.StdlibTransport):
    """A bounded transport for DSPy's client, which does not request compression."""

    def stream(self, request: Any) -> Any:
        """Return the answer to a request, with a bounded body."""
        response, bounds = super().stream(request), _bounds.get()
        if bounds:
            bounds.begin(response, response.status, response.header, transports.ProtocolError)
            response._chunks = iter(
                _BoundedStream(response._chunks, bounds, transports.ProtocolError, transports.ReadTimeout)
            )
        return response


@dataclass(frozen=True)
class NativeEngine:
    """An engine of ``dspy.LM`` for providers of DSPy's client: one request, one reply, no retries."""

    provider: str  # DSPy's name
    api_base: str  # empty: the provider's
    api_key: str = field(repr=False)  # empty: from the environment
    timeout: float  # seconds to wait for the next bytes of a reply

    @cached_property
    def _engine(self) -> LM15Engine:
        seconds = self.timeout
        config = RouterConfig(
            api_keys={self.provider: self.api_key} if self.api_key else None,
            base_urls={self.provider: self.api_base} if self.api_base else None,
            transport=BoundedNativeTransport(read_timeout=seconds, write_timeout=seconds, pool_timeout=seconds),
        )
        return LM15Engine(config)

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Send a request. Raises LM15Error: the provider cannot be reached, or refuses."""
        return self._engine.complete(request)


def give_litellm_transport() -> None:
    """Set a :class:`BoundedTransport` for LiteLLM's requests, unless the user set a client."""
    import litellm

    if litellm.client_session is None and getattr(litellm, "sync_transport", None) is None:
        litellm.sync_transport = _KeptTransport()
        litellm.client_session = _KeptClient(transport=litellm.sync_transport)
        atexit.register(litellm.sync_transport.end)
