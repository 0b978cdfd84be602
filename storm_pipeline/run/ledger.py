"""A run's usage, counts and problems, summed from its events; and the check of its caps."""

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from uuid import uuid4

from storm_pipeline.errors import BudgetSpentError, StoppedError, TooManyFailuresError
from storm_pipeline.run.concurrency import is_unwanted
from storm_pipeline.run.events import COUNTED, CallFinished, Counted, Degraded, Event, Failed, Revised, RunStarted
from storm_pipeline.run.limits import in_force
from storm_pipeline.settings import Role, Settings
from storm_pipeline.types import Price, Problem, Report, Revision, Usage, UsageRow

_SHARE: dict[str, float] = {"asker": 0.6, "expert": 0.6, "outliner": 0.75}
"""Share of every cap for these roles, which leaves the rest for writing; other roles may use all of it."""


@dataclass
class Spending:
    """Usage so far: US dollars, prompt and completion tokens, and seconds; for a call, what its reply had too much."""

    dollars: float = 0.0
    tokens: int = 0
    seconds: float = 0.0
    excess: int | None = None  # completion tokens of a call beyond those expected; None: no reply


@dataclass
class Ledger:
    """An event sink that adds up calls, counts and problems."""

    _rows: dict[tuple[str, str, str], UsageRow] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    _revisions: list[Revision] = field(default_factory=list)
    _seconds: float = 0.0

    def restore(
        self, events: Iterable[tuple[float, Event]], price_of: Callable[[str], Price | None] = lambda _: None
    ) -> Spending:
        """Add the usage of earlier sessions from their events; counts and problems are not restored.

        ``price_of``: of a model, for calls without a recorded cost. Returns dollars, tokens, seconds of those sessions.
        """
        spent = Spending()
        last: float | None = None
        for at, event in events:
            if last is not None and not isinstance(event, RunStarted):
                spent.seconds += max(0.0, at - last)  # a clock that was set back adds nothing
            last = at
            if isinstance(event, CallFinished):
                cost = event.cost
                if cost is None and (price := price_of(event.model)):
                    cost = price.cost(event.tokens_in, event.tokens_cached, event.tokens_out)
                self._add_call(replace(event, cost=cost))
                spent.dollars = _sum_of(spent.dollars, cost or 0.0)
                spent.tokens += event.tokens_in + event.tokens_out
        self._seconds = spent.seconds
        return spent

    def emit(self, event: Event) -> None:
        """Add one event."""
        match event:
            case CallFinished():
                self._add_call(event)
            case Counted() if event.name in COUNTED:
                self._counts[event.name] += event.number
            case Degraded():
                self.problems.append(Problem(event.stage, "degradation", event.detail))
            case Revised():
                self._revisions.append(Revision(event.where, event.before, event.reason, event.outcome, event.after))
            case Failed():
                self.problems.append(Problem(event.stage, "failure", event.detail))

    def _add_call(self, call: CallFinished) -> None:
        key = (call.stage, call.role, call.model)
        row = self._rows.get(key, UsageRow(*key, cost=0.0))
        self._rows[key] = UsageRow(
            *key,
            calls=row.calls + 1,
            tokens_in=row.tokens_in + call.tokens_in,
            tokens_cached=row.tokens_cached + call.tokens_cached,
            tokens_out=row.tokens_out + call.tokens_out,
            seconds=round(row.seconds + call.seconds, 3),
            estimated=row.estimated + call.estimated,
            cost=None if row.cost is None or call.cost is None else _sum_of(row.cost, call.cost),
        )

    def usage(self, seconds: float) -> Usage:
        """Return the usage so far; ``seconds`` is the wall time of this session."""
        return Usage(tuple(self._rows[key] for key in sorted(self._rows)), round(self._seconds + seconds, 1))

    def report(self) -> Report:
        """Return counts and problems so far; the problems are sorted, so their order does not depend on threads.

        A repeated degradation is listed once, with its count.
        """
        often = Counter(problem for problem in self.problems if problem.kind == "degradation")
        problems = [problem for problem in self.problems if problem.kind != "degradation"]
        problems += [replace(p, detail=f"{p.detail} ({n} times)") if n > 1 else p for p, n in often.items()]
        problems.sort(key=lambda problem: (problem.stage, problem.kind, problem.detail))
        return Report(**self._counts, problems=tuple(problems), models=())

    def revisions(self) -> tuple[Revision, ...]:
        """Return the revisions so far, sorted, so that their order does not depend on threads."""
        return tuple(sorted(self._revisions, key=lambda revision: (revision.where, revision.before, revision.reason)))

    def failure_summary(self) -> str:
        """Return the first three failures on one line, each reason once; empty if nothing failed."""
        failures = [problem.detail.partition(": ") for problem in self.problems if problem.kind == "failure"][:3]
        pieces: dict[str, list[str]] = {}
        for piece, colon, reason in failures:
            pieces.setdefault(colon + reason, []).append(piece)
        return "; ".join(", ".join(dict.fromkeys(named)) + reason for reason, named in pieces.items())


class RunControl:
    """Control of a run's caps and stop requests; also an event sink that counts usage and failures.

    ``settings``: caps (``max_cost``, ``max_tokens``, ``max_minutes``) and ``max_failures``; ``spent``: usage so far, of
    earlier sessions at first; ``halt``: set from any thread or signal handler to stop the run: no new work starts, and
    work in flight finishes. The limits in force (:mod:`storm_pipeline.run.limits`) are those that it shares.
    """

    def __init__(self, settings: Settings, spent: Spending | None = None, halt: threading.Event | None = None) -> None:
        self._settings = settings
        self.spent = spent or Spending()
        self._start = time.monotonic()
        self._reserved = Spending()
        self._failures: dict[str, list[str]] = {}
        self._stopped = halt or threading.Event()
        self._lock = threading.Lock()
        self._shared = in_force()
        self._slots = threading.BoundedSemaphore(settings.calls_in_flight)
        self.is_capped = {settings.max_cost, settings.max_tokens} != {None}  # whether its dollars or tokens are

    def wait(self, seconds: float) -> None:
        """Sleep, unless the run is stopped."""
        self._stopped.wait(seconds)

    def check(self) -> None:
        """Raise an error if no new work may start.

        Raises StoppedError: the user stopped the run; TooManyFailuresError: more pieces failed than ``max_failures``
        allows.
        """
        if self._stopped.is_set() or is_unwanted.get()():
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
        """Return the seconds until ``max_minutes``; None without this cap. Raises BudgetSpentError: none are left."""
        minutes = self._settings.max_minutes
        if minutes is None:
            return None
        left = 60 * minutes - self.spent.seconds - (time.monotonic() - self._start)
        if left <= 0:
            raise BudgetSpentError(f"all {minutes:g} minutes are spent (--max-minutes); resume with more")
        return left

    @contextmanager
    def reserve(
        self,
        role: Role,
        endpoint: str,
        price: Price | None,
        tokens_in: int,
        tokens_out: int,
        *,
        excess: int = 0,
        model: str = "",
    ) -> Iterator[Spending]:
        """Reserve the expected tokens and cost of a call while it is in flight, once it is its turn.

        The block sets what the call used. ``excess``: most tokens of a reply in this run beyond ``tokens_out``;
        ``model``: as for :meth:`storm_pipeline.run.limits.Limits.reserve`, which knows the excess of all runs.

        Raises BudgetSpentError: the call exceeds the role's share of a cap; StoppedError: the dollars of all runs are
            spent, or as :meth:`check`.
        """
        expected = price.cost(tokens_in, 0, tokens_out) if price else 0.0
        dollars = expected + (price.cost(0, 0, excess) if price else 0.0)
        tokens, used, call = tokens_in + tokens_out + excess, Spending(tokens=tokens_in), uuid4().hex
        with self._lock:
            self._check_caps(role, dollars, tokens)
            self._reserved.dollars += dollars
            self._reserved.tokens += tokens
        try:
            with self._slots:
                try:
                    self._wait_for_turn(call, endpoint, tokens, expected, model)
                    yield used
                finally:
                    too_much = price.cost(0, 0, used.excess or 0) if price else 0.0
                    shown = None if used.excess is None else too_much
                    self._shared.settle(call, used.tokens, used.dollars, shown)
        finally:
            with self._lock:
                self._reserved.dollars -= dollars
                self._reserved.tokens -= tokens

    def _wait_for_turn(self, call: str, endpoint: str, tokens: int, dollars: float, model: str) -> None:
        calls, per_minute = self._settings.process_workers, self._settings.tokens_per_minute
        ask = partial(self._shared.reserve, call, endpoint, tokens, dollars, calls=calls, per_minute=per_minute)
        while (answer := ask(model=model, patience=0.5)) == "wait":
            self.check()
            self.seconds_left()
        if answer == "spent":
            cap = self._shared.max_cost
            raise StoppedError(f"all {cap:g} dollars of the batch are spent (--batch-max-cost); resume it with more")

    def emit(self, event: Event) -> None:
        """Count usage and failures."""
        with self._lock:
            match event:
                case CallFinished():
                    self.spent.dollars += event.cost or 0.0
                    self.spent.tokens += event.tokens_in + event.tokens_out
                case Failed(counts=True):
                    kind = re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "…", event.detail)  # without quoted texts and numbers
                    self._failures.setdefault(kind, []).append(event.detail)

    def _check_caps(self, role: Role, dollars: float, tokens: int) -> None:
        seconds = self.spent.seconds + time.monotonic() - self._start
        caps = (
            ("max_cost", self.spent.dollars + self._reserved.dollars + dollars, self._settings.max_cost, "dollars"),
            ("max_tokens", self.spent.tokens + self._reserved.tokens + tokens, self._settings.max_tokens, "tokens"),
            ("max_minutes", seconds / 60, self._settings.max_minutes, "minutes"),
        )
        for name, used, cap, unit in caps:
            if cap is not None and used > cap * (share := _SHARE.get(role, 1.0)):
                of_research = f"the {share:.0%} of {cap:g} {unit} that research may use are"
                what = of_research if role in _SHARE else f"all {cap:g} {unit} are"
                raise BudgetSpentError(f"{what} spent (--{name.replace('_', '-')}); resume with more")


def _sum_of(dollars: float, more: float) -> float:
    """Return the sum, rounded to 12 decimals, so that it does not depend on the order in which threads add."""
    return round(dollars + round(more, 12), 12)
