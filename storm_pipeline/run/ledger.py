"""Usage, counts and problems of a run, summed up from its events."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from storm_pipeline.run.events import COUNTED, CallFinished, Counted, Degraded, Event, Failed, Revised, RunStarted
from storm_pipeline.run.limits import Spent
from storm_pipeline.types import Problem, Report, Revision, Usage, UsageRow


@dataclass
class Ledger:
    """An event sink that adds up calls, counts and problems."""

    _rows: dict[tuple[str, str, str], UsageRow] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    _revisions: list[Revision] = field(default_factory=list)
    _seconds: float = 0.0

    def restore(self, events: Iterable[tuple[float, Event]]) -> Spent:
        """Add the usage of earlier sessions from their events; counts and problems are not restored.

        Returns:
            Dollars, tokens and seconds of those sessions.
        """
        spent = Spent()
        last: float | None = None
        for at, event in events:
            if last is not None and not isinstance(event, RunStarted):
                spent.seconds += max(0.0, at - last)  # a clock that was set back adds nothing
            last = at
            if isinstance(event, CallFinished):
                self._add_call(event)
                spent.dollars = _sum_of(spent.dollars, event.cost or 0.0)
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
            case _:
                pass

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
        """Usage so far; ``seconds`` is the wall time of this session."""
        return Usage(tuple(self._rows[key] for key in sorted(self._rows)), round(self._seconds + seconds, 1))

    def report(self) -> Report:
        """Counts and problems so far; the problems are sorted, so their order does not depend on threads."""
        problems = sorted(self.problems, key=lambda problem: (problem.stage, problem.kind, problem.detail))
        return Report(**self._counts, problems=tuple(problems))

    def revisions(self) -> tuple[Revision, ...]:
        """Revisions so far, sorted, so that their order does not depend on threads."""
        return tuple(sorted(self._revisions, key=lambda revision: (revision.where, revision.before, revision.reason)))

    def failure_summary(self) -> str:
        """The first three failures so far in one line, each reason once; empty if nothing failed."""
        failures = [problem.detail.partition(": ") for problem in self.problems if problem.kind == "failure"][:3]
        pieces: dict[str, list[str]] = {}
        for piece, colon, reason in failures:
            pieces.setdefault(colon + reason, []).append(piece)
        return "; ".join(", ".join(dict.fromkeys(named)) + reason for reason, named in pieces.items())


def _sum_of(dollars: float, more: float) -> float:
    """The sum, rounded to 12 decimals, so that it does not depend on the order in which threads add."""
    return round(dollars + round(more, 12), 12)
