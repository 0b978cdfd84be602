"""What happened in a run, by session, stage and role, rebuilt from its events alone."""

from collections import Counter
from collections.abc import Iterable, Iterator
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
"""How a session ended: well; before its time, which it told; without a word (killed); or not at all so far."""


@dataclass(frozen=True)
class Stage:
    """A stage of one session. Stages overlap: one may begin within another or go on beside it.

    Attributes:
        name: as in the events.
        started: seconds since 1970.
        seconds: how long it took; of one that never ended, until the last event of the session.
        ended: whether it did.
        steps: how often it advanced.
        rows: calls by role and model.
        searches: queries that were put to the search engine.
        retries: calls that were tried again.
        reused: replies, searches and tables of contents that an earlier session had bought.
        problems: degradations and failures, in order.
        notes: choices that were made, in order.
    """

    name: str
    started: float
    seconds: float
    ended: bool
    steps: int = 0
    rows: tuple[UsageRow, ...] = ()
    searches: int = 0
    retries: int = 0
    reused: int = 0
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def usage(self) -> Usage:
        """Calls of the stage; ``seconds`` is its own time."""
        return Usage(self.rows, self.seconds)


@dataclass(frozen=True)
class Session:
    """From one start of the run to its end.

    Attributes:
        number: which session, from 1.
        started: seconds since 1970.
        seconds: until its last event.
        ending: how it ended.
        reason: why it was stopped; empty else.
        stages: in the order in which they began.
    """

    number: int
    started: float
    seconds: float
    ending: Ending
    reason: str
    stages: tuple[Stage, ...]

    @property
    def usage(self) -> Usage:
        """Calls of the session."""
        return Usage(tuple(row for stage in self.stages for row in stage.rows), self.seconds)


@dataclass(frozen=True)
class Timeline:
    """A whole run: its topic, its sessions in order, and what all of them used."""

    topic: str
    sessions: tuple[Session, ...]
    usage: Usage


def timeline(events: Iterable[tuple[float, Event]], *, running: bool = False) -> Timeline:
    """Put events in order by session and stage.

    Args:
        events: of one run, each with its time in seconds since 1970; possibly of several sessions, or cut off.
        running: whether a process is still at it; without, a last session that told no end was interrupted.
    """
    topic, sessions, ledger = "", list[_Session](), Ledger()
    for at, event in events:
        if isinstance(event, RunStarted):
            topic = event.topic
            sessions.append(_Session(event.session, at))
        elif not sessions:  # the line that says how the run began is lost
            sessions.append(_Session(1, at))
        sessions[-1].take(at, event)
        if isinstance(event, CallFinished):
            ledger.emit(event)
    done = [session.closed("interrupted") for session in sessions[:-1]]
    done += [session.closed("running" if running else "interrupted") for session in sessions[-1:]]
    return Timeline(topic, tuple(done), ledger.usage(sum(session.seconds for session in done)))


@dataclass
class _Stage:
    """A stage while its events are taken in."""

    name: str
    began: float
    open: int = 0
    since: float = 0.0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)

    def take(self, at: float, event: Event) -> None:
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

    def closed(self, last: float) -> Stage:
        return Stage(
            self.name,
            self.began,
            round(self.seconds + (max(0.0, last - self.since) if self.open else 0.0), 3),
            ended=not self.open,
            steps=self.counts["StageAdvanced"],
            rows=self.ledger.usage(0).rows,
            # a search that is served again is told like every other
            searches=max(0, self.counts["Searched"] - self.counts["Reused search"]),
            retries=self.counts["Retried"],
            reused=self.counts["Reused"],
            problems=tuple(self.problems),
            notes=tuple(self.notes),
        )


_TOLD = (StageStarted, StageFinished, StageAdvanced, CallFinished, Searched, Retried, Reused, Degraded, Failed, Noted)
"""Events that make a line of the timeline for their stage."""


@dataclass
class _Session:
    """A session while its events are taken in."""

    number: int
    began: float
    last: float = 0.0
    ending: Ending | None = None
    reason: str = ""
    stages: dict[str, _Stage] = field(default_factory=dict)

    def take(self, at: float, event: Event) -> None:
        self.last = at
        match event:
            case RunFinished():
                self.ending = "finished"
            case RunStopped():
                self.ending, self.reason = "stopped", event.reason
            case _ if isinstance(event, _TOLD):
                self.stages.setdefault(event.stage, _Stage(event.stage, at)).take(at, event)
            case _:
                pass

    def closed(self, otherwise: Ending) -> Session:
        seconds = round(max(0.0, self.last - self.began), 3)
        return Session(self.number, self.began, seconds, self.ending or otherwise, self.reason, tuple(self._stages()))

    def _stages(self) -> Iterator[Stage]:
        return (stage.closed(self.last) for stage in self.stages.values())
