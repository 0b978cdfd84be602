"""The ways in which a server fails: what it sends instead of the reply, drawn by chance that can be repeated."""

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
ANSWERED = frozenset({OK, "empty", "wrong form", "10 MB"})
"""After these the client of a language model holds a completion, however useless."""
_TEN_MEGABYTES = 10 * 2**20
_TEXTS = frozenset({"question", "answer", "section", "heading", "lead", "reworded"})
"""Kinds of calls that are answered in prose; the others want one JSON object."""
_NO_PROSE = (
    "<think>The user wants an answer. Let me go through what is given, one by one, before I begin to write it",
    "<think>First the sources.</think>\n<think>Then what they leave open, which",
)
_NO_OBJECT = ("I am sorry, but I cannot help with that.", '{"result": []}', "[]", '{"result": ' + "[" * 3000)


@dataclass(frozen=True)
class Plan:
    """How a server treats the calls of one run.

    Attributes:
        share: of the calls of the language model that fail, in [0, 1].
        search_share: the same for searches.
        kinds: of faults, each as likely as the others.
        latency: least and most seconds before a reply.
        silence: seconds for which a call that times out is kept waiting, unless its client gives up.
        seed: other seeds give other faults.
    """

    share: float = 0.0
    search_share: float = 0.0
    kinds: tuple[str, ...] = KINDS
    latency: tuple[float, float] = (0.02, 0.05)
    silence: float = 30.0
    seed: int = 0

    def drawn(self, key: str, attempt: int, *, search: bool) -> tuple[str, float]:
        """The fault of a call (``ok`` for none) and its latency: the same for the same key and attempt."""
        chance = random.Random(f"{self.seed} {key} {attempt}")
        latency = chance.uniform(*self.latency)
        fails = chance.random() < (self.search_share if search else self.share)
        return chance.choice(self.kinds) if fails else OK, latency


@dataclass(frozen=True)
class Sent:
    """What goes over the wire: ``announced`` more bytes than follow; ``broken`` ends the connection without a reply."""

    data: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    announced: int = 0
    broken: bool = False


def sent_for(fault: str, kind: str, body: dict[str, Any]) -> Sent:
    """What is sent of a reply with this fault.

    Args:
        fault: one of :data:`KINDS` but ``time-out``, after which nothing is sent.
        kind: of the call.
        body: the reply as it should be.
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
    """A whole completion whose text is none that the prompt asked for."""
    good: str = body["choices"][0]["message"]["content"]
    match fault:
        case "empty":
            text = ""
        case "10 MB":
            text = (good + " ") * (_TEN_MEGABYTES // (len(good) + 1) + 1)
        case _:
            forms = _NO_PROSE if kind in _TEXTS else _NO_OBJECT
            text = forms[len(good) % len(forms)]
    choice = body["choices"][0] | {"message": {"role": "assistant", "content": text}}
    return json.dumps(body | {"choices": [choice]}).encode()


def _useless_search(fault: str, body: dict[str, Any]) -> bytes:
    """An answer with status 200 that holds no results as they should be."""
    match fault:
        case "empty":
            return b""
        case "10 MB":
            return json.dumps(body | {"padding": "x" * _TEN_MEGABYTES}).encode()
        case _:
            return json.dumps({"message": "this search is not offered"}).encode()
