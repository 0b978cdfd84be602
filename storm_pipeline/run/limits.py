"""Limits that runs share: calls in flight and tokens per minute of each endpoint, and dollars.

The methods of :class:`Limits` take and return plain values, so that runs in other processes can share one object. Their
process puts a subclass in force (:func:`within`) whose methods pass the arguments on:

    reserve(call, endpoint, tokens, dollars, calls=, per_minute=, model=, owner=, patience=) -> "reserved", "wait" or
        "spent"
    settle(call, tokens, dollars, excess)
    renew(owner)

``call`` is a name that the caller makes for each call. After "wait" it asks again under the same name, and so keeps its
place in the queue, until it gives up and settles. Each method may be repeated if its answer was lost. ``owner`` names
the other process, whose reservations lapse when it was not heard of for a minute: it renews them more often, asks with
a ``patience`` of 0, and waits on its own side before it asks again.
"""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from storm_pipeline.run.concurrency import within_block

MINUTE = 60.0
"""Seconds for which tokens count, and after which reservations of a process that is not heard of lapse."""


@dataclass(eq=False)
class _Call:
    limits: "Limits"
    endpoint: "_Endpoint"
    tokens: int
    dollars: float
    calls: int
    per_minute: int | None
    model: str
    owner: str
    turn: threading.Condition  # notified when it is decided
    state: Literal["waiting", "reserved", "lapsed"] = "waiting"
    at: float = 0.0  # when it was reserved


@dataclass
class _Endpoint:
    in_flight: int = 0
    tokens: int = 0  # of the last minute
    queue: deque[_Call] = field(default_factory=deque)  # oldest first
    minute: dict[_Call, None] = field(default_factory=dict)  # reserved within the last minute, also if settled

    def fits(self, call: _Call) -> bool:
        """Return whether a call may begin; one of more tokens than a minute has begins in an empty minute."""
        has_tokens = call.per_minute is None or not self.tokens or self.tokens + call.tokens <= call.per_minute
        return has_tokens and self.in_flight < call.calls and call.limits.has_dollars(call)


class Endpoints:
    """The calls of every endpoint; ``now``: a clock in seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.now = now
        self.lock = threading.Lock()
        self.table: dict[str, _Endpoint] = defaultdict(_Endpoint)

    def grant(self) -> None:
        """Reserve what fits for the calls that wait, in the order in which they came."""
        for endpoint in self.table.values():
            while (oldest := next(iter(endpoint.minute), None)) and oldest.at <= self.now() - MINUTE:
                del endpoint.minute[oldest]
                endpoint.tokens -= oldest.tokens
            while endpoint.queue:
                call = endpoint.queue[0]
                fits = endpoint.fits(call)
                if not fits and not call.limits.is_spent:
                    break
                endpoint.queue.popleft()
                if fits:
                    call.state, call.at = "reserved", self.now()
                    endpoint.in_flight += 1
                    endpoint.tokens += call.tokens
                    endpoint.minute[call] = None
                call.turn.notify()


_PROCESS = Endpoints()


class Limits:
    """Limits of runs: of the dollars of all, and of each endpoint's calls. Thread-safe.

    Args:
        max_cost: cap on the dollars of all calls; None: no cap.
        spent: dollars spent before.
        endpoints: the calls that count, by default those of this process, of other ``Limits`` too.
    """

    def __init__(self, max_cost: float | None = None, spent: float = 0.0, endpoints: Endpoints = _PROCESS) -> None:
        self.max_cost = max_cost
        self.spent = spent
        self.is_spent = False  # whether the dollars did not suffice for a call; then there are no more calls
        self._endpoints = endpoints
        self._calls: dict[str, _Call] = {}
        self._excess: dict[str, float] = {}  # model → most dollars of a reply so far beyond what was expected
        self._heard: dict[str, float] = {}  # owner → time

    def reserve(
        self,
        call: str,
        endpoint: str,
        tokens: int,
        dollars: float,
        *,
        calls: int,
        per_minute: int | None = None,
        model: str = "",
        owner: str = "",
        patience: float = 0.0,
    ) -> Literal["reserved", "wait", "spent"]:
        """Reserve a call, in the order of the requests.

        Args:
            call: its name.
            endpoint: the endpoint that is called.
            tokens: expected tokens of prompt and reply.
            dollars: what they cost.
            calls: maximum calls in flight of the endpoint.
            per_minute: maximum tokens per minute of the endpoint; None: no limit.
            model: name of a model whose replies may cost more than expected. Under a cap of dollars its first call does
                not begin beside another model's first one or its own others, which reserve what its reply shows.
            owner: name of a caller in another process.
            patience: maximum seconds to wait.

        Returns:
            "reserved"; "wait": not yet, ask again; "spent": the dollars do not suffice, also when all calls in flight
            are settled.
        """
        with self._endpoints.lock:
            self._hear(owner)
            known = self._calls.get(call)
            if known is None or known.state == "lapsed":
                place, turn = self._endpoints.table[endpoint], threading.Condition(self._endpoints.lock)
                known = self._calls[call] = _Call(self, place, tokens, dollars, calls, per_minute, model, owner, turn)
                place.queue.append(known)
            if not known.turn.wait_for(lambda: self._is_decided(known), patience):
                return "wait"
            if known.state == "waiting":
                self._forget(call)
            return "spent" if known.state == "waiting" else "reserved"

    def settle(self, call: str, tokens: int, dollars: float, excess: float | None = None) -> None:
        """End a call, with the tokens and dollars that it used; a call that waits is withdrawn.

        ``excess``: dollars of its reply beyond those expected; None: there is no reply.
        """
        with self._endpoints.lock:
            known = self._forget(call)
            if known is not None:
                if known in known.endpoint.minute:
                    known.endpoint.tokens += tokens - known.tokens
                known.tokens = tokens
                self.spent += dollars
                if excess is not None and self.max_cost is not None:
                    self._excess[known.model] = max(0.0, excess, self._excess.get(known.model, 0.0))
                self._hear(known.owner)
                self._endpoints.grant()

    def renew(self, owner: str) -> None:
        """Keep the reservations of an owner."""
        with self._endpoints.lock:
            self._hear(owner)

    def has_dollars(self, call: _Call) -> bool:
        """Return whether the dollars of a call are left, and no other call has to show first what replies cost."""
        if self.max_cost is None or self.is_spent:
            return not self.is_spent
        in_flight = [known for known in self._calls.values() if known.state == "reserved"]
        if self._is_first(call) and any(map(self._is_first, in_flight)):
            return False
        expected = sum(known.dollars + self._excess.get(known.model, 0.0) for known in (*in_flight, call))
        fits = self.spent + expected <= self.max_cost
        self.is_spent = not fits and not in_flight
        return fits

    def _is_first(self, call: _Call) -> bool:
        return bool(call.model) and call.model not in self._excess

    def _is_decided(self, call: _Call) -> bool:
        self._let_lapse()
        self._endpoints.grant()
        return self.is_spent or call.state != "waiting"

    def _let_lapse(self) -> None:
        late = self._endpoints.now() - MINUTE
        gone = {owner for owner, at in self._heard.items() if at <= late}
        self._heard = {owner: at for owner, at in self._heard.items() if owner not in gone}
        for name in [name for name, call in self._calls.items() if call.owner in gone] if gone else ():
            call = self._forget(name)
            if call and call.state != "waiting":  # if it is settled after all, it has used something
                self._calls[name], call.state = call, "lapsed"

    def _forget(self, name: str) -> _Call | None:
        call = self._calls.pop(name, None)
        if call is not None and call.state == "reserved":
            call.endpoint.in_flight -= 1
        elif call is not None and call in call.endpoint.queue:
            call.endpoint.queue.remove(call)
        return call

    def _hear(self, owner: str) -> None:
        if owner:
            self._heard[owner] = self._endpoints.now()


_OF_PROCESS = Limits()
_in_force: ContextVar[Limits | None] = ContextVar("storm_limits", default=None)


def in_force() -> Limits:
    """Return the limits of the runs that this context begins; by default those of the process, without dollars."""
    return _in_force.get() or _OF_PROCESS


def within(limits: Limits) -> AbstractContextManager[None]:
    """Put limits in force for the runs that the block begins."""
    return within_block(_in_force, limits)
