"""A run's timeline as people read it on a terminal, and as JSON."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from storm_pipeline.cli.output import say, show_table
from storm_pipeline.run.timeline import Session, Stage, Timeline
from storm_pipeline.text.display import amount, clock, dollars, printable
from storm_pipeline.types import Usage

_COLUMNS = ("stage, role", "start", "time", "calls", "fresh", "cached", "written", "cost", "searches", "retries")
_MOST_LINES = 20


def show(made: Timeline) -> None:
    """Print sessions one below another, and the totals where there are several."""
    for session in made.sessions:
        day = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(session.started))
        reason = f": {printable(session.reason)}" if session.reason else ""
        say(f"\nsession {session.number}, {day}, {clock(session.seconds)}, {session.ending}{reason}")
        again = any(stage.reused for stage in session.stages)
        if session.stages:
            rows = [row for stage in session.stages for row in _rows(stage, session)]
            show_table((*_COLUMNS, "reused") if again else _COLUMNS, rows if again else [row[:-1] for row in rows])
        for line in _remarks(session):
            say(line)
    say(f"\nin all: {_in_all(made)}")


def record(made: Timeline) -> dict[str, Any]:
    """The timeline for JSON; times in seconds since 1970, costs in US dollars or null where unknown."""
    sessions = [asdict(session) | {"usage": totals(session.usage)} for session in made.sessions]
    return {"timeline": sessions, "rows": [asdict(row) for row in made.usage.rows]}


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
    """The stage, and below it the roles that were asked in it."""
    going_on = "" if stage.ended else " so far" if session.ending == "running" else ", cut off"
    times = clock(max(0.0, stage.started - session.started)), f"{clock(stage.seconds)}{going_on}"
    counts = tuple(str(number or "") for number in (stage.searches, stage.retries, stage.reused))
    yield printable(stage.name), *times, *_used(stage.usage), *counts
    for row in stage.rows:
        usage = Usage((row,), row.seconds)
        yield f"  {printable(row.role)}", "", clock(row.seconds), *_used(usage), "", "", ""


def _used(usage: Usage) -> tuple[str, ...]:
    if not usage.calls:
        return ("",) * 5
    fresh = usage.tokens_in - usage.tokens_cached
    tokens = (amount(number) for number in (fresh, usage.tokens_cached, usage.tokens_out))
    return str(usage.calls), *tokens, dollars(usage.cost)


def _remarks(session: Session) -> list[str]:
    """What went wrong, then what was chosen: alike lines once."""
    problems = [f"{p.kind} in {printable(p.stage)}: {printable(p.detail)}" for s in session.stages for p in s.problems]
    notes = [f"note: {printable(note)}" for stage in session.stages for note in stage.notes]
    return [*_gathered(problems), *_gathered(notes)]


def _gathered(lines: Sequence[str]) -> list[str]:
    alike = [f"{line} ({times} times)" if times > 1 else line for line, times in Counter(lines).items()]
    more = len(alike) - _MOST_LINES
    return alike[:_MOST_LINES] + ([f"and {more} others, see --json"] if more > 0 else [])


def _in_all(made: Timeline) -> str:
    usage = made.usage
    stages = [stage for session in made.sessions for stage in session.stages]
    facts = [
        f"{len(made.sessions)} session{'s' if len(made.sessions) != 1 else ''}",
        clock(usage.seconds),
        f"{usage.calls} calls",
        f"tokens: {amount(usage.tokens_in - usage.tokens_cached)} fresh",
        f"{amount(usage.tokens_cached)} cached",
        f"{amount(usage.tokens_out)} written",
        f"cost {dollars(usage.cost)}",
        f"{sum(stage.searches for stage in stages)} searches",
        f"{sum(stage.retries for stage in stages)} retries",
        f"{sum(stage.reused for stage in stages)} reused",
    ]
    return ", ".join(facts)
