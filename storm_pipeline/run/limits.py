"""Whether a run may go on: stopped by its user, out of budget, or failing too often."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from storm_pipeline.errors import BudgetSpentError, StoppedError, TooManyFailuresError
from storm_pipeline.models.prices import Price, cost
from storm_pipeline.run.events import CallFinished, Event, Failed
from storm_pipeline.settings import Role, Settings

_SHARE: dict[str, float] = {"asker": 0.6, "expert": 0.6, "outliner": 0.75}
"""Share of every cap that these roles may use, which leaves the rest for writing; other roles may use all."""


@dataclass
class Spent:
    """Usage so far: US dollars, prompt and completion tokens, and seconds."""

    dollars: float = 0.0
    tokens: int = 0
    seconds: float = 0.0


class RunControl:
    """Enforces a run's caps and stop requests; also an event sink that counts usage and failures.

    Args:
        settings: caps (``max_cost``, ``max_tokens``, ``max_minutes``) and ``max_failures``.
        spent: usage of earlier sessions of the run.
        halt: set from any thread or signal handler to stop the run: no new work starts, and work in flight finishes.
    """

    def __init__(self, settings: Settings, spent: Spent, halt: threading.Event) -> None:
        self._settings = settings
        self._spent = spent
        self._start = time.monotonic()
        self._reserved = Spent()
        self._failures: dict[str, list[str]] = {}
        self._stopped = halt
        self._lock = threading.Lock()

    def wait(self, seconds: float) -> None:
        """Sleep, unless the run is stopped."""
        self._stopped.wait(seconds)

    def check(self) -> None:
        """Check that new work may start.

        Raises:
            StoppedError: the user stopped the run.
            TooManyFailuresError: more pieces failed than ``max_failures`` allows.
        """
        if self._stopped.is_set():
            raise StoppedError("stopped; what was finished is saved")
        with self._lock:
            kinds = sorted(self._failures.values(), key=len, reverse=True)
        failed = sum(map(len, kinds))
        if failed > self._settings.max_failures:
            raise TooManyFailuresError(
                f"{failed} pieces of the run failed, {len(kinds[0])} of them alike, such as {kinds[0][0]}; fix the "
                "cause and resume, or allow more with --max-failures"
            )

    def seconds_left(self) -> float | None:
        """How long the run may go on by ``max_minutes``; None without such a cap.

        Raises BudgetSpentError: not at all.
        """
        minutes = self._settings.max_minutes
        if minutes is None:
            return None
        left = 60 * minutes - self._spent.seconds - (time.monotonic() - self._start)
        if left <= 0:
            raise BudgetSpentError(f"all {minutes:g} minutes are spent (--max-minutes); resume with more")
        return left

    @contextmanager
    def spending(self, role: Role, price: Price | None, tokens_in: int, tokens_out: int) -> Iterator[None]:
        """Reserve the expected tokens and cost of a call against the caps while it is in flight.

        Raises BudgetSpentError: the call exceeds the role's share of a cap.
        """
        dollars = cost(price, tokens_in, 0, tokens_out) if price else 0.0
        with self._lock:
            self._check_caps(role, dollars, tokens_in + tokens_out)
            self._reserved.dollars += dollars
            self._reserved.tokens += tokens_in + tokens_out
        try:
            yield
        finally:
            with self._lock:
                self._reserved.dollars -= dollars
                self._reserved.tokens -= tokens_in + tokens_out

    def emit(self, event: Event) -> None:
        """Count usage and failures."""
        with self._lock:
            match event:
                case CallFinished():
                    self._spent.dollars += event.cost or 0.0
                    self._spent.tokens += event.tokens_in + event.tokens_out
                case Failed(counts=True):
                    self._failures.setdefault(_failure_kind(event.detail), []).append(event.detail)
                case _:
                    pass

    def _check_caps(self, role: Role, dollars: float, tokens: int) -> None:
        seconds = self._spent.seconds + time.monotonic() - self._start
        caps = (
            ("max_cost", self._spent.dollars + self._reserved.dollars + dollars, self._settings.max_cost, "dollars"),
            ("max_tokens", self._spent.tokens + self._reserved.tokens + tokens, self._settings.max_tokens, "tokens"),
            ("max_minutes", seconds / 60, self._settings.max_minutes, "minutes"),
        )
        for name, used, cap, unit in caps:
            if cap is not None and used > cap * _SHARE.get(role, 1.0):
                share = (
                    f"the {_SHARE[role]:.0%} of {cap:g} {unit} that research may use are"
                    if role in _SHARE
                    else (f"all {cap:g} {unit} are")
                )
                raise BudgetSpentError(f"{share} spent (--{name.replace('_', '-')}); resume with more")


def _failure_kind(detail: str) -> str:
    """A failure's message without quoted texts and numbers, by which failures are grouped."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "…", detail)
