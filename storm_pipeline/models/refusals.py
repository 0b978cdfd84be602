"""Parts of requests that models refuse, read from their answers; they are left out, renamed or moved."""

import json
import re
import threading
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from dspy.utils import exceptions

from storm_pipeline.errors import SettingsError
from storm_pipeline.models.model_objects import StatelessLM
from storm_pipeline.models.request import Request
from storm_pipeline.run.events import Events
from storm_pipeline.settings import Settings, option_name
from storm_pipeline.text import formatting
from storm_pipeline.text.configuration.setting_types import NONE

MOST_TOKENS, SYSTEM = "max_tokens", "system role"
_SPELLINGS = {
    "top_p": {"top_p", "topp"},
    "temperature": {"temperature"},
    "seed": {"seed", "random_seed"},
    "stop": {"stop", "stop_sequences", "stopsequences"},
    "n": {"n", "candidate_count", "candidatecount"},
    "response_format": {"response_format", "json_schema", "output_format", "output_config", "response_schema"},
    MOST_TOKENS: {"max_tokens", "max_completion_tokens", "max_output_tokens", "maxoutputtokens"},
    SYSTEM: {"system", "role", "roles"},
}
"""Part of a request → its names on the wire, in lower case; in the order of leaving them out."""
_SETTINGS = {"temperature": "temperature", "top_p": "top_p", "seed": "seed", MOST_TOKENS: "reply_tokens"}
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
_WORD = re.compile(r"\w+")
_PLACES = {"param", "loc"}
_MESSAGES = {"message", "msg", "detail", "error", "raw"}  # raw: a provider's answer that OpenRouter passes on
_NOTES = {
    SYSTEM: "the instructions are put before the user's first message",
    MOST_TOKENS: "the limit is sent by its other name",
}


class Refusals:
    """The parts of requests that models refuse; the user's choices are never left out. Thread-safe."""

    def __init__(self, events: Events, settings: Settings) -> None:
        self._events = events
        self._settings = settings
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], frozenset[str]] = {}

    def known(self, request: Request) -> frozenset[str]:
        """Return the parts of a request that its model is known to refuse, except the user's choices."""
        with self._lock:
            known = self._known.get(_endpoint(request), frozenset())
        return frozenset(part for part in known & _refusable_parts(request).keys() if not self._is_kept(request, part))

    def keep(self, request: Request, parts: Collection[str]) -> None:
        """Record the parts that a model refuses, and report new ones."""
        with self._lock:
            before = self._known.get(_endpoint(request), frozenset())
            new = [part for part in _SPELLINGS if part in parts and part not in before]
            self._known[_endpoint(request)] = before.union(new)
        for part in new:
            note = _NOTES.get(part, "its calls leave it out")
            self._events.degraded(f"{request.model.name} refuses {part}: {note}")

    def part_to_leave_out(
        self, request: Request, without: Collection[str], error: exceptions.LMError, body: str
    ) -> str | None:
        """Return the refused part of a request that can be left out; None for other errors.

        ``without``: parts already left out; ``body``: the server's answer.
        Raises SettingsError: the refused part is the user's choice.
        """
        if not _is_refusal(error):
            return None
        places, messages = _messages_of(body)
        parts = _refusable_parts(request)
        for texts in (places, messages or [str(error.message)]):
            words = _words(texts)
            if "context" in words:  # the prompt is too long, whatever the message says
                return None
            named = [part for part in parts if _SPELLINGS[part] & words]
            free = next((p for p in named if p not in without and not self._is_kept(request, p)), None)
            if free:
                return free
            if chosen := next((chosen for part in named if (chosen := self._choice(request, part))), None):
                reason = formatting.first_line(next(iter(messages), error.message))
                what, remedy = chosen
                raise SettingsError(f"{request.model.name} at {request.model.where} refuses {what}: {reason}; {remedy}")
        return None

    def _is_kept(self, request: Request, part: str) -> bool:
        """Return whether a part must be sent unchanged: the user chose it, and it has no other form."""
        return part not in _NOTES and self._choice(request, part) is not None

    def _choice(self, request: Request, part: str) -> tuple[str, str] | None:
        """Return how the user chose a part of a request, and how to undo that; None if the user did not."""
        if part == "response_format" and self._settings.structured == "always":
            return "--structured always", "leave it out with --structured never"
        setting = _SETTINGS.get(part, "")
        value = getattr(self._settings, setting, None)
        is_set = value not in (None, NONE)
        if is_set and part == "seed":
            return f"--seed {value}", "leave it out with --seed none"
        if part == SYSTEM or any(request.options.get(name) is not None for name in (part, _OTHER_NAME.get(part, part))):
            return None
        if not isinstance(request.model.lm, StatelessLM):
            return f"the {part} of your {type(request.model.lm).__name__}", "make it without, or with another value"
        option = option_name(setting) if is_set else ""
        return (f"{option} {value}", f"give another value, or leave it out with {option} none") if is_set else None


def adapt(request: Request, without: Collection[str]) -> Request:
    """Return the request without some parts: the system text moves into the user's, a limit gets its other name."""
    model, options, messages = request.model, dict(request.options), request.messages
    for part in without:
        if part == SYSTEM:
            messages = _without_system(messages)
        elif part == MOST_TOKENS:
            sent = {**model.lm.kwargs, **options}
            name = next((name for name in _OTHER_NAME if sent.get(name) is not None), MOST_TOKENS)
            options |= {name: None, _OTHER_NAME[name]: sent.get(name)}
            if engine := getattr(getattr(model.lm, "engine", None), "with_other_limit", None):
                model = replace(model, lm=model.lm.copy(engine=engine))
        else:
            options[part] = None
    return replace(request, model=model, options=options, messages=messages)


def _refusable_parts(request: Request) -> dict[str, Any]:
    sent = {**request.model.lm.kwargs, **request.options}
    sent[MOST_TOKENS] = sent.get("max_tokens") or sent.get("max_completion_tokens")
    sent[SYSTEM] = any(message["role"] == "system" for message in request.messages) or None
    return {part: sent[part] for part in _SPELLINGS if sent.get(part) is not None}


def _endpoint(request: Request) -> tuple[str, str]:
    return request.model.name, request.model.where


def refuses_limit(error: exceptions.LMError) -> bool:
    """Return whether a model refuses such a low token limit."""
    return _is_refusal(error) and bool(_SPELLINGS[MOST_TOKENS] & _words([error.message]))


def _is_refusal(error: exceptions.LMError) -> bool:
    """Return whether a server rejects a request, other than for its length or an unknown model."""
    if isinstance(error, exceptions.ContextWindowExceededError | exceptions.LMUnsupportedModelError):
        return False
    asked_badly = isinstance(error, exceptions.LMInvalidRequestError) and error.status in {400, 422}
    return asked_badly or isinstance(error, exceptions.LMUnsupportedFeatureError)


def _words(texts: Collection[str]) -> set[str]:
    return {word.lower() for text in texts for word in _WORD.findall(text)}


def _messages_of(body: str) -> tuple[list[str], list[str]]:
    try:
        parsed = json.loads(body)
        return list(_strings(parsed, _PLACES)), list(_strings(parsed, _MESSAGES))
    except (ValueError, RecursionError):
        return [], [body] if body.strip() else []


def _strings(value: Any, names: Collection[str], name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _strings(part, names, key) if key != "input" else ()
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part, names, name)
    elif isinstance(value, str) and name in names:
        yield value


def _without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the system's text before the user's first message."""
    text = "\n\n".join(str(message["content"]) for message in messages if message["role"] == "system")
    others = [dict(message) for message in messages if message["role"] != "system"]
    first = next((message for message in others if message["role"] == "user"), None)
    if first is None:
        return [{"role": "user", "content": text}, *others]
    content = first["content"]
    first["content"] = (
        f"{text}\n\n{content}" if isinstance(content, str) else [{"type": "text", "text": text}, *content]
    )
    return others
