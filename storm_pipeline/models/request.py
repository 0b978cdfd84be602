"""One call of a language model: the request, its journal key, and the reply."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from storm_pipeline.models.model_objects import Model
from storm_pipeline.models.programs import Program
from storm_pipeline.run.journal import current_scope, fingerprint
from storm_pipeline.settings import Role
from storm_pipeline.text.fitting import most_tokens

_CONNECTION = frozenset(
    "api_key api_base api_version base_url headers extra_headers extra_query timeout organization project "
    "custom_llm_provider azure_ad_token_provider".split()
)
"""Model parameters of the connection; all others may change the reply and are part of the key."""
_DETAILS = ("prompt_tokens_details", "completion_tokens_details")
_MOST_TOKENS = 10**9  # of one call
_START = 16_384  # bytes
_PAGE_BEGINS = (b"<!doctype html", b"<html")
WEB_PAGE = "web_page"  # error code of an endpoint that answers with a web page
_LIKELY = 3 / 4  # likely tokens of a text as a share of :func:`most_tokens`
_CUT = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})
"""Finish reasons of a reply that ended at its token limit."""


@dataclass(frozen=True)
class Request:
    """One call of a language model."""

    role: Role  # role that the model plays
    model: Model  # model to call
    messages: list[dict[str, Any]]  # formatted by the adapter
    options: Mapping[str, Any]  # parameters of this call; they override the model's own
    token_limit: int  # expected maximum tokens of the reply
    place: str  # part of the run that makes the call, see :func:`storm_pipeline.run.journal.call_scope`

    @cached_property
    def key(self) -> str:
        """Return the journal key: equal for equal requests in the same scope."""
        sent = {**self.model.lm.kwargs, **self.options}
        decoding = {name: value for name, value in sent.items() if name not in _CONNECTION and value is not None}
        return fingerprint(self.place, self.model.name, decoding, self.messages)

    @property
    def tokens_in(self) -> int:
        """Estimate the prompt's tokens."""
        return sum(likely_tokens(str(message["content"])) for message in self.messages)


@dataclass
class Answer:
    """The raw answer of a server, independent of the client."""

    status: int = 0
    kind: str = ""  # Content-Type
    start: bytearray = field(default_factory=bytearray)  # of the body
    size: int = 0  # bytes of the body so far

    def begin(self, status: int, kind: str | None) -> None:
        """Forget an earlier answer."""
        self.status, self.kind, self.start, self.size = status, (kind or "").lower(), bytearray(), 0

    def add(self, chunk: bytes) -> None:
        """Keep the beginning of the body."""
        self.start += chunk[: max(0, _START - len(self.start))]
        self.size += len(chunk)

    @property
    def text(self) -> str:
        """Decode the beginning of the body."""
        return self.start.decode("utf-8", "replace")

    @property
    def tokens(self) -> int:
        """Estimate the tokens of the body so far."""
        return likely_tokens(self.text) * self.size // max(1, len(self.start))

    @property
    def is_page(self) -> bool:
        """Return whether a web page answered instead of a model, other than for overload or log-in."""
        start = bytes(self.start.lstrip()[:15].lower())
        page = start.startswith(_PAGE_BEGINS) or (self.kind.startswith("text/html") and start[:1] in (b"", b"<"))
        return page and self.status < 500 and self.status not in {401, 403, 407, 408, 429}


@dataclass(frozen=True)
class Reply:
    """The reply of a model."""

    outputs: list[Any]  # one per requested reply: its text, or a dict with ``text`` and more
    usage: Mapping[str, Any]  # token counts by OpenAI's names; empty if not reported or served from a cache
    estimate: int  # estimated prompt tokens if the server does not report them, >= 0
    cut: bool = False  # whether a reply ended at its token limit

    @property
    def texts(self) -> list[str]:
        """Return the replies, without reasoning text."""
        return [str((output.get("text") if isinstance(output, dict) else output) or "") for output in self.outputs]

    @property
    def tokens(self) -> tuple[int, int, int]:
        """Return prompt tokens, cached prompt tokens and completion tokens; estimated if not reported."""
        tokens_in = self.usage.get("prompt_tokens") or self.estimate
        cached = self.usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)
        tokens_out = self.usage.get("completion_tokens") or sum(map(likely_tokens, self._written))
        return tokens_in, min(cached, tokens_in), tokens_out

    @property
    def estimated(self) -> bool:
        """Return whether a number of :attr:`tokens` is estimated."""
        unknown_out = not self.usage.get("completion_tokens") and any(self._written)
        return not self.usage.get("prompt_tokens") or unknown_out

    @property
    def _written(self) -> list[str]:
        parts = [output.values() if isinstance(output, dict) else [output] for output in self.outputs]
        return [part for values in parts for part in values if isinstance(part, str)]

    def dollars(self, model: Model) -> float | None:
        """Return the cost in US dollars; None if unknown."""
        return model.price.cost(*self.tokens) if model.price else None


def with_text(output: Any) -> Any:
    """Return a reply of ``dspy.LM`` with text: that of a lone tool call is its arguments."""
    if not isinstance(output, dict) or output.get("text") or not output.get("tool_calls"):
        return output
    arguments = _part(_part(output["tool_calls"][-1], "function"), "arguments")
    return {**output, "text": arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)}


def is_cut(response: Any) -> bool:
    """Return whether a provider's response in DSPy's history ended at its token limit."""
    if isinstance(response, tuple):
        return any(map(is_cut, response))
    choices = _part(_part(response, "provider_data") or response, "choices") or []
    reasons = [_part(part, "finish_reason") for part in (response, *(choices if isinstance(choices, list) else ()))]
    reasons.append(_part(_part(response, "incomplete_details"), "reason"))
    return any(str(reason).lower() in _CUT for reason in reasons)


def _part(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def options_of(model: Model, program: Program, sample: int, seed: int | None) -> dict[str, Any]:
    """Return a call's parameters that override the model's; ``sample``: number of earlier unparsed replies."""
    options: dict[str, Any] = {}
    if model.bounded:
        options["max_tokens"] = min(program.token_limit, model.lm.kwargs.get("max_tokens") or program.token_limit)
    if model.greedy and program.greedy and not sample:
        options["temperature"] = 0.0
    if seed is not None:  # equal prompts in different scopes get different replies
        place = current_scope()
        options["seed"] = seed + (int(fingerprint(place)[:6], 16) if place else 0) + sample
    if sample and model.lm.cache:
        options["cache"] = False  # else DSPy would return the same unusable reply
    return options


def likely_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    return math.ceil(_LIKELY * most_tokens(text))


def valid_counts(usage: object) -> dict[str, Any]:
    """Return the plausible integer counts of a usage report and of its details."""
    if not isinstance(usage, Mapping):
        return {}
    counts: dict[str, Any] = {
        name: value for name, value in usage.items() if type(value) is int and 0 <= value <= _MOST_TOKENS
    }
    return counts | {name: valid_counts(usage[name]) for name in _DETAILS if isinstance(usage.get(name), Mapping)}
