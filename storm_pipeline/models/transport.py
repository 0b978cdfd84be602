"""Clients of language models: engines of ``dspy.LM``, whose transports bound a reply's size and time.

Requests within :func:`bounded_replies` are bounded, others pass as they are.
"""

import atexit
import json
import os
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import httpx
import openai
from dspy import lm15
from dspy._vendor.lm15 import transports  # not exported elsewhere by DSPy
from dspy.clients.engines import LM15Engine
from dspy.lm15 import RouterConfig
from dspy.utils.exceptions import LMConfigurationError, LMError, LMTransportError

from storm_pipeline.models.request import WEB_PAGE, Answer, valid_counts
from storm_pipeline.run.retrying import MOST_VALUES, retry_after_seconds

LARGEST_REPLY = 8 * 2**20  # bytes
_GRACE = 1.0  # grace in seconds before an abandoned reply is closed
OPENAI = "https://api.openai.com/v1"


@dataclass
class _Bounds:
    """The bounds of the replies in a block."""

    ends: float  # deadline of reading, in monotonic seconds
    answer: Answer  # receives the beginning of the last answer
    broken: str = ""  # error of a reply that exceeded the bounds
    is_redirect: bool = False

    def begin(self, response: Any, status: int, header: Callable[[str], str | None], error: type[Exception]) -> None:
        """Record the head of an answer; raises the client's ``error`` unless it is plain and final."""
        self.answer.begin(status, header("content-type"))
        self.is_redirect = 300 <= status < 400  # some clients would follow it with their keys
        if self.is_redirect:
            self.broken = "it redirects to another address, which is not followed"
        elif status < 200:  # DSPy's client takes it for the reply
            self.broken = "the reply is an interim one, which was not asked for"
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
    """The stream of a reply; ``broken`` is its client's error class."""

    stream: Any
    bounds: _Bounds
    broken: Callable[[str], Exception]

    def __iter__(self) -> Iterator[bytes]:
        read = values = 0
        for chunk in self.stream:
            read += len(chunk)
            values += sum(map(chunk.count, (b"[", b"{", b",")))
            self.bounds.answer.add(chunk)
            if read > LARGEST_REPLY or values > MOST_VALUES:
                most = f"{MOST_VALUES:,} values" if read <= LARGEST_REPLY else f"{LARGEST_REPLY >> 20} MiB"
                self.bounds.broken = f"the reply is larger than {most}"
                raise self.broken(self.bounds.broken)
            yield chunk

    def close(self) -> None:
        self.stream.close()


class _BoundedLine:
    """A connection, or what opens it, whose reading ends with the bounds: heads, interim replies and trailers too."""

    def __init__(self, line: Any) -> None:
        self._line = line

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._line, name)
        if name in {"connect_tcp", "start_tls"}:  # return connections
            return lambda *args, **kwargs: _BoundedLine(value(*args, **kwargs))
        if name in {"read", "recv"} and (bounds := _bounds.get()) and time.monotonic() > bounds.ends:
            raise TimeoutError if name == "recv" else httpx.ReadTimeout("the reply was not complete in time")
        return value


class BoundedTransport(httpx.BaseTransport):
    """Transport like that of an ``httpx.Client`` with the environment's proxies; for OpenAI's client and LiteLLM."""

    def __init__(self) -> None:
        self._client = httpx.Client()
        routes: Any = filter(None, (self._client._transport, *self._client._mounts.values()))
        for pool in (route._pool for route in routes):
            pool._network_backend = _BoundedLine(pool._network_backend)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Return the answer to a request, with a bounded body."""
        bounds = _bounds.get()
        if bounds:
            request.headers["Accept-Encoding"] = "identity"  # a small reply may expand to a large one
        response = self._client.send(request, stream=True)
        if bounds:
            bounds.begin(response, response.status_code, response.headers.get, httpx.RemoteProtocolError)
            response.stream = _BoundedStream(response.stream, bounds, httpx.RemoteProtocolError)
        return response

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class BoundedNativeTransport(transports.StdlibTransport):
    """A bounded transport for DSPy's client, which does not request compression."""

    def _open(self, *args: Any, **kwargs: Any) -> Any:
        connection = super()._open(*args, **kwargs)
        connection.sock = _BoundedLine(connection.sock)
        return connection

    def stream(self, request: Any) -> Any:
        """Return the answer to a request, with a bounded body."""
        response, bounds = super().stream(request), _bounds.get()
        if bounds:
            bounds.begin(response, response.status, response.header, transports.ProtocolError)
            response._chunks = iter(_BoundedStream(response._chunks, bounds, transports.ProtocolError))
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
        litellm.sync_transport = transport = BoundedTransport()
        litellm.client_session = client = httpx.Client(transport=transport)
        atexit.register(transport.close)
        transport.close = client.close = lambda: None  # type: ignore[method-assign]  # many clients share them


@dataclass(frozen=True)
class OpenAIEngine:
    """An engine of ``dspy.LM``: one request, one reply, no retries. Thread-safe; reuses connections."""

    api_base: str  # address of the server
    api_key: str = field(repr=False)  # sent to it
    timeout: float  # seconds to wait for a connection, and for the next bytes of a reply; its end: see ``transport``
    limit: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"  # name of the limit of a reply

    @cached_property
    def _client(self) -> openai.OpenAI:
        http = httpx.Client(transport=BoundedTransport(), timeout=self.timeout)
        weakref.finalize(self, http.close)
        return openai.OpenAI(
            api_key=self.api_key,
            admin_api_key="",
            base_url=self.api_base,
            timeout=self.timeout,
            max_retries=0,
            default_headers=_headers(),
            http_client=http,
        )

    @cached_property
    def _format(self) -> lm15.OpenAIChatLM:
        dialect = lm15.OpenAIChatCompat(max_tokens_field=self.limit)
        return lm15.OpenAIChatLM(api_key="unused", transport=None, base_url=self.api_base, compat=dialect)

    @cached_property
    def with_other_limit(self) -> "OpenAIEngine":
        """Return an engine that sends the limit as ``max_tokens``, for older servers."""
        return replace(self, limit="max_tokens")

    def complete(self, request: lm15.Request) -> lm15.Response:
        """Send a request. Raises LM15Error: the server cannot be reached, refuses, or breaks its protocol."""
        name = request.model.partition("/")[2] or request.model
        built = self._format.build_request(replace(request, model=name), stream=False)
        body = json.loads(built.body or b"{}")
        try:
            response = self._client.post("/chat/completions", body=body, cast_to=httpx.Response)
        except openai.APIStatusError as error:
            raise self._refusal(error.response) from error
        except openai.APITimeoutError as error:
            if isinstance(error.__cause__, httpx.ConnectTimeout):
                raise lm15.TransportError("the connection timed out") from error
            raise lm15.TimeoutError("the reply timed out") from error
        except openai.APIConnectionError as error:
            raise lm15.TransportError(str(error.__cause__ or error)) from error
        return _reply(response, name)

    def _refusal(self, response: httpx.Response) -> lm15.ProviderError:
        error = self._format.normalize_error(response.status_code, response.text)
        error.message = str(error.message or response.text[:200])  # it may be any JSON
        error.status = response.status_code
        milliseconds = retry_after_seconds(response.headers.get("retry-after-ms"))
        wait = retry_after_seconds(response.headers.get("retry-after")) or (milliseconds or 0.0) / 1000
        error.retry_after = error.retry_after or wait or None
        return error


def _headers() -> Any:
    """Return headers that unset those which the client takes from the environment for every server."""
    custom = [line.partition(":")[0].strip() for line in os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")]
    return dict.fromkeys(filter(None, ["OpenAI-Organization", "OpenAI-Project", *custom]), openai.Omit())


def _reply(response: httpx.Response, model: str) -> lm15.Response:
    """Parse a body; malformed usage is ignored, since the reply is paid for."""
    try:
        body = response.json()
        choices = body.get("choices") if "error" in body else body["choices"]  # other JSON would be an empty reply
        for choice in choices or ():
            if call := choice["message"].get("function_call"):  # the earlier form of a tool call
                choice["message"]["tool_calls"] = [{"type": "function", "function": call}]
        return lm15.response_from_openai_chat(body | {"usage": valid_counts(body.get("usage"))}, model=model)
    except lm15.LM15Error:
        raise
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        message = f"the reply is no completion: {error}; it starts {response.text[:200]!r}"
        raise lm15.ProviderError(message, status=response.status_code) from error
