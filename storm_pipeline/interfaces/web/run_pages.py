"""Values of the pages of a run beyond its pieces: progress by its events, time left, and verdicts."""

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

_LARGEST, _MOST, _MOST_STAGES = 1e15, 1000, 100  # number of an event; queries and problems; stages
_LONGEST = 2000  # characters of a stage's name, a query or a problem: problems are compared with each other


@dataclass
class Stage:
    """A stage of a run: how many of its threads are under way, and its steps."""

    name: str
    running: int = 0
    steps: int = 0
    total: int | None = None
    is_broken: bool = False  # an error ended it

    @property
    def state(self) -> str:
        """The state as a class of the page: ``now``, ``done``, or ``quiet`` if it was broken off."""
        return "now" if self.running > 0 else "quiet" if self.is_broken else "done"


@dataclass
class Progress:
    """The state of a run, from its events."""

    number: int = 0  # of the last event
    stages: dict[str, Stage] = field(default_factory=dict)
    queries: dict[str, int] = field(default_factory=dict)  # → number of results, in order
    problems: list[str] = field(default_factory=list)
    error: str = ""  # kind of the error that ended the last session
    download: str = ""  # the last download, while it lasts
    calls: int = 0
    cost: float | None = 0.0  # US dollars; None if unknown
    seconds: float = 0.0  # of earlier sessions
    began: float = 0.0  # time of the session's start and of its last event
    last: float = 0.0

    @classmethod
    def of(cls, events: Iterable[tuple[int, Mapping[str, Any]]]) -> "Progress":
        """Return the state after numbered events; damaged ones change nothing."""
        progress = cls()
        for number, event in events:
            progress.number = number
            with suppress(KeyError, TypeError, ValueError):
                progress._take(event)
        return progress

    def _take(self, event: Mapping[str, Any]) -> None:
        if any(isinstance(value, int | float) and not abs(value) < _LARGEST for value in event.values()):
            return  # infinite or absurd
        name, at, kind = str(event["stage"])[:_LONGEST], float(event["at"]), event["event"]
        if kind == "RunStarted":
            self.seconds, self.began = self.elapsed(), at
            for stage in self.stages.values():  # a session begins each of them again
                stage.running, stage.steps, stage.total, stage.is_broken = 0, 0, None, False
        self.last = at
        stage = self.stages.setdefault(name, Stage(name)) if len(self.stages) < _MOST_STAGES else Stage(name)
        match kind:
            case "StageStarted":
                stage.running += 1
                stage.total = event["total"] if stage.total is None else stage.total + (event["total"] or 0)
            case "StageAdvanced":
                stage.steps += 1
            case "StageFinished":
                stage.running, stage.is_broken, self.download = stage.running - 1, not event.get("whole", True), ""
            case "CallFinished":
                self.calls += 1
                self.cost = None if None in (self.cost, event["cost"]) else (self.cost or 0.0) + event["cost"]
            case "Searched" if len(self.queries) < _MOST:
                self.queries[str(event["query"])[:_LONGEST]] = int(event["results"])
            case "Downloading":
                self.download = f"{event['name']}: {event['done'] / 1e6:,.0f} of {event['total'] / 1e6:,.0f} MB"
            case "RunStopped":
                self.error = str(event.get("error", ""))
            case "Failed" | "Degraded" if len(self.problems) < _MOST:
                self.problems.append(str(event["detail"])[:_LONGEST])

    def elapsed(self, now: float = 0.0) -> float:
        """Return the seconds of all sessions, the current one until its last event, or until ``now``."""
        return self.seconds + (max(self.last, now) - self.began if self.began else 0.0)

    def left(self, expected: int) -> str:
        """Return about how long the run will take from here, in words; empty if that cannot be said yet."""
        if not expected or self.calls < expected / 10 or self.calls >= expected:
            return ""
        seconds = self.elapsed(time.time()) * (expected - self.calls) / self.calls
        return f"about {max(1, round(seconds / 60))} min"
