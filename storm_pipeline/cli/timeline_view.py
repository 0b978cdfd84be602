"""A run's timeline as text for the terminal, and as JSON."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from storm_pipeline.cli.output import say, show_table
from storm_pipeline.run.timeline import Session, Stage, Timeline
from storm_pipeline.text.formatting import amount, clock, counted, dollars, printable
from storm_pipeline.types import Usage

_COLUMNS = ("stage, role", "start", "time", "calls", "fresh", "cached", "written", "cost", "searches", "retries")
_MAX_LINES = 20


def show(timeline: Timeline) -> None:
    """Print the sessions and the totals."""
    for session in timeline.sessions:
        day = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(session.started))
        reason = f": {printable(session.reason)}" if session.reason else ""
        say(f"\nsession {session.number}, {day}, {clock(session.seconds)}, {session.ending}{reason}")
        reused = any(stage.reused for stage in session.stages)
        if session.stages:
            rows = [row for stage in session.stages for row in _rows(stage, session)]
            show_table((*_COLUMNS, "reused") if reused else _COLUMNS, rows if reused else [row[:-1] for row in rows])
        for line in _problems_and_notes(session):
            say(line)
    say(f"\nin all: {_totals_line(timeline)}")


def record(timeline: Timeline) -> dict[str, Any]:
    """The timeline for JSON; times in seconds since 1970, costs in US dollars or null if unknown."""
    sessions = [asdict(session) | {"usage": totals(session.usage)} for session in timeline.sessions]
    return {"timeline": sessions, "rows": [asdict(row) for row in timeline.usage.rows]}


def totals(usage: Usage) -> dict[str, Any]:
    """Usage without its rows, for JSON."""
    return {
        "calls": usage.calls,
        "tokens_in": usage.tokens_in,
        "tokens_cached": usage.tokens_cached,
        "tokens_out": usage.tokens_out,
        "cost": usage.cost,
        "seconds": usage.seconds,
    }


def _rows(stage: Stage, session: Session) -> Iterator[tuple[str, ...]]:
    """A row for the stage, then one per role."""
    suffix = "" if stage.ended else " so far" if session.ending == "running" else ", cut off"
    times = clock(max(0.0, stage.started - session.started)), f"{clock(stage.seconds)}{suffix}"
    counts = tuple(str(number or "") for number in (stage.searches, stage.retries, stage.reused))
    yield printable(stage.name), *times, *_usage_cells(stage.usage), *counts
    for row in stage.rows:
        usage = Usage((row,), row.seconds)
        yield f"  {printable(row.role)}", "", clock(row.seconds), *_usage_cells(usage), "", "", ""


def _usage_cells(usage: Usage) -> tuple[str, ...]:
    if not usage.calls:
        return ("",) * 5
    fresh = usage.tokens_in - usage.tokens_cached
    tokens = (amount(number) for number in (fresh, usage.tokens_cached, usage.tokens_out))
    return str(usage.calls), *tokens, dollars(usage.cost)


def _problems_and_notes(session: Session) -> list[str]:
    """Problems, then notes, each without duplicates."""
    problems = [f"{p.kind} in {printable(p.stage)}: {printable(p.detail)}" for s in session.stages for p in s.problems]
    notes = [f"note: {printable(note)}" for stage in session.stages for note in stage.notes]
    return [*_deduplicated(problems), *_deduplicated(notes)]


def _deduplicated(lines: Sequence[str]) -> list[str]:
    distinct = [f"{line} ({times} times)" if times > 1 else line for line, times in Counter(lines).items()]
    more = len(distinct) - _MAX_LINES
    return distinct[:_MAX_LINES] + ([f"and {more} others, see --json"] if more > 0 else [])


def _totals_line(timeline: Timeline) -> str:
    usage = timeline.usage
    stages = [stage for session in timeline.sessions for stage in session.stages]
    facts = [
        counted(len(timeline.sessions), "session"),
        clock(usage.seconds),
        counted(usage.calls, "call"),
        f"tokens: {amount(usage.tokens_in - usage.tokens_cached)} fresh",
        f"{amount(usage.tokens_cached)} cached",
        f"{amount(usage.tokens_out)} written",
        f"cost {dollars(usage.cost)}",
        f"{sum(stage.searches for stage in stages)} searches",
        f"{sum(stage.retries for stage in stages)} retries",
        f"{sum(stage.reused for stage in stages)} reused",
    ]
    return ", ".join(facts)
