"""The timeline of a run by session, stage and role, rebuilt from its events."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from storm_pipeline.run import events as ev
from storm_pipeline.run.events import Event
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.types import Problem, Usage, UsageRow

Logged = tuple[float, Event]  # an event, and its time in seconds since 1970
Ending = Literal["finished", "stopped", "interrupted", "running"]
"""The end of a session: completed; stopped early with a reason; killed without an end event; or still running."""


@dataclass(frozen=True)
class Stage:
    """A stage of one session. Stages may nest and overlap."""

    name: str  # as in the events
    started: float  # seconds since 1970
    seconds: float  # its duration, up to the last event of the session if it did not end
    ended: bool  # whether it has ended
    steps: int = 0  # number of steps done
    rows: tuple[UsageRow, ...] = ()  # calls by role and model
    searches: int = 0  # queries sent to the search engine
    retries: int = 0  # retried calls
    reused: int = 0  # replies, searches and tables of contents from earlier sessions
    problems: tuple[Problem, ...] = ()  # degradations and failures, in order
    notes: tuple[str, ...] = ()  # notes for the user, in order

    @property
    def usage(self) -> Usage:
        """Calls of the stage; ``seconds`` is its duration."""
        return Usage(self.rows, self.seconds)


@dataclass(frozen=True)
class Session:
    """One session of a run, from a start or resume to its end."""

    number: int  # number of the session, from 1
    started: float  # seconds since 1970
    seconds: float  # duration up to its last event
    ending: Ending  # how it ended
    reason: str  # reason of a stop; else empty
    stages: tuple[Stage, ...]  # stages in order of their start

    @property
    def usage(self) -> Usage:
        """Calls of the session."""
        return Usage(tuple(row for stage in self.stages for row in stage.rows), self.seconds)


@dataclass(frozen=True)
class Timeline:
    """A whole run: its topic, its sessions in order, and their total usage."""

    topic: str
    sessions: tuple[Session, ...]
    usage: Usage


def timeline(events: Iterable[Logged], *, running: bool = False) -> Timeline:
    """Group events by session and stage.

    ``events``: events of one run, each with its time in seconds since 1970; several sessions, possibly cut off.
    ``running``: whether the run is under way; if not, a last session without an end event was interrupted.
    """
    topic, sessions, ledger = "", list[list[Logged]](), Ledger()
    for at, event in events:
        if isinstance(event, ev.RunStarted):
            topic = event.topic
        if isinstance(event, ev.RunStarted) or not sessions:  # the event of the run's start may be lost
            sessions.append([])
        sessions[-1].append((at, event))
        if isinstance(event, ev.CallFinished):
            ledger.emit(event)
    built = [_session(s, "running" if running and s is sessions[-1] else "interrupted") for s in sessions]
    return Timeline(topic, tuple(built), ledger.usage(sum(session.seconds for session in built)))


def _session(events: Sequence[Logged], ending: Ending) -> Session:
    (began, first), (last, _) = events[0], events[-1]
    reason, stages = "", defaultdict[str, list[Logged]](list)
    for at, event in events:
        if isinstance(event, ev.RunFinished):
            ending = "finished"
        elif isinstance(event, ev.RunStopped):
            ending, reason = "stopped", event.reason
        elif isinstance(event, _STAGE_EVENTS):
            stages[event.stage].append((at, event))
    return Session(
        first.session if isinstance(first, ev.RunStarted) else 1,
        began,
        round(max(0.0, last - began), 3),
        ending,
        reason,
        tuple(_stage(name, stage_events, last) for name, stage_events in stages.items()),
    )


def _stage(name: str, events: Sequence[Logged], last: float) -> Stage:
    opened, since, seconds, ledger = 0, 0.0, 0.0, Ledger()
    for at, event in events:
        ledger.emit(event)
        if isinstance(event, ev.StageStarted):
            since = since if opened else at
            opened += 1
        elif isinstance(event, ev.StageFinished):
            opened = max(0, opened - 1)
            seconds += event.seconds
    counts = Counter(type(event) for _, event in events)
    searches_again = sum(isinstance(event, ev.Reused) and event.kind == "search" for _, event in events)
    return Stage(
        name,
        events[0][0],
        round(seconds + (max(0.0, last - since) if opened else 0.0), 3),
        ended=not opened,
        steps=counts[ev.StageAdvanced],
        rows=ledger.usage(0).rows,
        searches=max(0, counts[ev.Searched] - searches_again),  # a reused search emits Searched too
        retries=counts[ev.Retried],
        reused=counts[ev.Reused],
        problems=tuple(ledger.problems),
        notes=tuple(event.detail for _, event in events if isinstance(event, ev.Noted)),
    )


_STAGE_EVENTS = (
    *(ev.StageStarted, ev.StageFinished, ev.StageAdvanced, ev.CallFinished, ev.Searched),
    *(ev.Retried, ev.Reused, ev.Degraded, ev.Failed, ev.Noted),
)
"""Events that belong to a stage of the timeline."""
