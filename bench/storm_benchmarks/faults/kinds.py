"""Kinds of server faults, drawn reproducibly at random, and what is sent for each."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

OK = "ok"
KINDS = (
    "500",
    "429",
    "429 with Retry-After",
    "reset",
    "time-out",
    "truncated JSON",
    "cut off",
    "empty",
    "wrong form",
    "10 MB",
)
BILLED = frozenset({OK, "time-out", "truncated JSON", "cut off", "empty", "wrong form", "10 MB"})
"""Faults after which a provider bills a call: the answer began, or none came before the time-out."""
_TEN_MEGABYTES = 10 * 2**20
_TEXTS = frozenset({"question", "answer", "section", "remarks", "lead", "sentences"})
"""Kinds of calls with prose replies; the others expect one JSON object."""
_INVALID_PROSE = (
    "<think>The user wants an answer. Let me go through what is given, one by one, before I begin to write it",
    "<think>First the sources.</think>\n<think>Then what they leave open, which",
)
_INVALID_JSON = ("I am sorry, but I cannot help with that.", '{"result": 3}', "null", '{"result": ' + "[" * 3000)


@dataclass(frozen=True)
class Plan:
    """How a server treats the calls of one run."""

    share: float = 0.0  # share of language-model calls that fail, in [0, 1]
    search_share: float = 0.0  # share of searches that fail, in [0, 1]
    kinds: tuple[str, ...] = KINDS  # kinds of faults, equally likely
    latency: tuple[float, float] = (0.02, 0.05)  # minimum and maximum seconds before a reply
    silence: float = 30.0  # maximum seconds to keep a call waiting that is to time out
    seed: int = 0  # random seed of the faults

    def drawn(self, key: str, attempt: int, *, search: bool) -> tuple[str, float]:
        """Return the fault of a call (``ok`` for none) and its latency: the same for the same key and attempt."""
        chance = random.Random(f"{self.seed} {key} {attempt}")
        latency = chance.uniform(*self.latency)
        fails = chance.random() < (self.search_share if search else self.share)
        return chance.choice(self.kinds) if fails else OK, latency


@dataclass(frozen=True)
class Sent:
    """A response: Content-Length exceeds the data by ``announced``; ``broken`` resets the connection instead."""

    data: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    announced: int = 0
    broken: bool = False


def sent_for(fault: str, kind: str, body: dict[str, Any]) -> Sent:
    """Return the response for a reply with this fault.

    ``fault``: one of :data:`KINDS` but ``time-out``, after which nothing is sent.
    """
    if fault in _REFUSED:
        return _REFUSED[fault]
    if fault in {"truncated JSON", "cut off"}:
        whole = json.dumps(body).encode()
        half = len(whole) // 2
        return Sent(whole[:half], announced=len(whole) - half if fault == "cut off" else 0)
    return Sent(_useless_search(fault, body) if kind == "search" else _useless_completion(fault, kind, body))


def _error(message: str) -> bytes:
    return json.dumps({"error": {"message": message, "type": "server_error"}}).encode()


_REFUSED = {
    "500": Sent(_error("the server had an error while it worked on the request"), 500),
    "429": Sent(_error("too many requests"), 429),
    "429 with Retry-After": Sent(_error("too many requests, try again in a second"), 429, {"Retry-After": "1"}),
    "reset": Sent(broken=True),
}


def _useless_completion(fault: str, kind: str, body: dict[str, Any]) -> bytes:
    """Return a complete completion whose text is not what the prompt asked for."""
    good: str = body["choices"][0]["message"]["content"]
    match fault:
        case "empty":
            text = ""
        case "10 MB":
            text = (good + " ") * (_TEN_MEGABYTES // (len(good) + 1) + 1)
        case _:
            forms = _INVALID_PROSE if kind in _TEXTS else _INVALID_JSON
            text = forms[len(good) % len(forms)]
    choice = body["choices"][0] | {"message": {"role": "assistant", "content": text}}
    return json.dumps(body | {"choices": [choice]}).encode()


def _useless_search(fault: str, body: dict[str, Any]) -> bytes:
    """Return a response with status 200 but without valid results."""
    match fault:
        case "empty":
            return b""
        case "10 MB":
            return json.dumps(body | {"padding": "x" * _TEN_MEGABYTES}).encode()
        case _:
            return json.dumps({"message": "this search is not offered"}).encode()
