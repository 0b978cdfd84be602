"""OpenAI's client as an engine of ``dspy.LM``, for OpenAI and every server of its protocol."""

import json
import os
import weakref
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import httpx
import openai
from dspy import lm15

from storm_pipeline.models.request import valid_counts
from storm_pipeline.models.transport import BoundedTransport
from storm_pipeline.run.retrying import retry_after_seconds

OPENAI = "https://api.openai.com/v1"


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
        error.message = error.message or response.text[:200]
        error.status = response.status_code
        milliseconds = retry_after_seconds(response.headers.get("retry-after-ms"))
        wait = retry_after_seconds(response.headers.get("retry-after")) or (milliseconds or 0.0) / 1000
        error.retry_after = error.retry_after or wait or None
        return error


def _headers() -> Any:
    """Return headers that remove those that the client would take from the environment for any server."""
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
