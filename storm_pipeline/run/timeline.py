"""The timeline of a run by session, stage and role, rebuilt from its events."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from storm_pipeline.run.events import (
    CallFinished,
    Degraded,
    Event,
    Failed,
    Noted,
    Retried,
    Reused,
    RunFinished,
    RunStarted,
    RunStopped,
    Searched,
    StageAdvanced,
    StageFinished,
    StageStarted,
)
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.types import Problem, Usage, UsageRow

Ending = Literal["finished", "stopped", "interrupted", "running"]
"""How a session ended: completed; stopped early with a reason; killed without an end event; or still running."""


@dataclass(frozen=True)
class Stage:
    """A stage of one session. Stages may nest and overlap."""

    name: str  # as in the events
    started: float  # seconds since 1970
    seconds: float  # its duration; up to the last event of the session if it did not end
    ended: bool  # whether it ended
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
    reason: str  # why it was stopped; empty if it was not
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


def timeline(events: Iterable[tuple[float, Event]], *, running: bool = False) -> Timeline:
    """Group events by session and stage.

    Args:
        events: events of one run, each with its time in seconds since 1970; several sessions, possibly cut off.
        running: whether the run is under way; if not, a last session without an end event was interrupted.
    """
    topic, sessions, ledger = "", list[_SessionBuilder](), Ledger()
    for at, event in events:
        if isinstance(event, RunStarted):
            topic = event.topic
            sessions.append(_SessionBuilder(event.session, at))
        elif not sessions:  # the event of the run's start is lost
            sessions.append(_SessionBuilder(1, at))
        sessions[-1].add(at, event)
        if isinstance(event, CallFinished):
            ledger.emit(event)
    built = [session.build("interrupted") for session in sessions[:-1]]
    built += [session.build("running" if running else "interrupted") for session in sessions[-1:]]
    return Timeline(topic, tuple(built), ledger.usage(sum(session.seconds for session in built)))


@dataclass
class _StageBuilder:
    """Collects the events of a stage."""

    name: str
    began: float
    open: int = 0
    since: float = 0.0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)

    def add(self, at: float, event: Event) -> None:
        match event:
            case StageStarted():
                self.since = at if not self.open else self.since
                self.open += 1
            case StageFinished():
                self.open = max(0, self.open - 1)
                self.seconds += event.seconds
            case StageAdvanced() | Searched() | Retried():
                self.counts[type(event).__name__] += 1
            case Reused():
                self.counts["Reused"] += 1
                self.counts[f"Reused {event.kind}"] += 1
            case Degraded():
                self.problems.append(Problem(self.name, "degradation", event.detail))
            case Failed():
                self.problems.append(Problem(self.name, "failure", event.detail))
            case Noted():
                self.notes.append(event.detail)
            case CallFinished():
                self.ledger.emit(event)
            case _:
                pass

    def build(self, last: float) -> Stage:
        return Stage(
            self.name,
            self.began,
            round(self.seconds + (max(0.0, last - self.since) if self.open else 0.0), 3),
            ended=not self.open,
            steps=self.counts["StageAdvanced"],
            rows=self.ledger.usage(0).rows,
            # a reused search emits Searched too
            searches=max(0, self.counts["Searched"] - self.counts["Reused search"]),
            retries=self.counts["Retried"],
            reused=self.counts["Reused"],
            problems=tuple(self.problems),
            notes=tuple(self.notes),
        )


_STAGE_EVENTS = (
    *(StageStarted, StageFinished, StageAdvanced, CallFinished, Searched),
    *(Retried, Reused, Degraded, Failed, Noted),
)
"""Events that belong to a stage of the timeline."""


@dataclass
class _SessionBuilder:
    """Collects the events of a session."""

    number: int
    began: float
    last: float = 0.0
    ending: Ending | None = None
    reason: str = ""
    stages: dict[str, _StageBuilder] = field(default_factory=dict)

    def add(self, at: float, event: Event) -> None:
        self.last = at
        match event:
            case RunFinished():
                self.ending = "finished"
            case RunStopped():
                self.ending, self.reason = "stopped", event.reason
            case _ if isinstance(event, _STAGE_EVENTS):
                self.stages.setdefault(event.stage, _StageBuilder(event.stage, at)).add(at, event)
            case _:
                pass

    def build(self, default_ending: Ending) -> Session:
        seconds = round(max(0.0, self.last - self.began), 3)
        stages = tuple(stage.build(self.last) for stage in self.stages.values())
        return Session(self.number, self.began, seconds, self.ending or default_ending, self.reason, stages)
