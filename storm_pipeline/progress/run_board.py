"""The state that the progress of a run is drawn from: a task a stage, and totals."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from rich.console import Group, RenderableType
from rich.progress import Progress, Task
from rich.text import Text

from storm_pipeline.progress.display import StageBar, TextColumn
from storm_pipeline.progress.phases import Phase, SoFar, place_of, seconds_left
from storm_pipeline.run.events import (
    CallFinished,
    Degraded,
    Downloading,
    Event,
    Failed,
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
from storm_pipeline.text.formatting import amount, clock, counted, printable

_UNITS = {"conversations": "turns", "sections": "sections"}
_COUNTED: dict[type[Event], str] = {Retried: "retries", Reused: "reused", Degraded: "problems", Failed: "problems"}
_MAX_LABEL_LENGTH = 200
_MAX_TOPIC_LENGTH = 30
_BAR_WIDTH = 20


class RunBoard:
    """Totals of a run, and a task of rich's ``Progress`` per stage and download.

    A resumed run keeps its totals, and the time between its sessions does not count.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.started = now()
        self.topic = self.folder = ""
        self.calls = self.tokens_in = self.tokens_out = self.sources = 0
        self.counts: Counter[str] = Counter()
        self._now = now
        self._last: float | None = None
        self._phases: tuple[Phase, ...] = ()
        self._usage: defaultdict[str, tuple[int, int, int]] = defaultdict(lambda: (0, 0, 0))
        self._first_call: float | None = None
        self._latest_reply = self.started
        self._ended = False
        self._new_bars()

    def _new_bars(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._bars = Progress(
            TextColumn(lambda task: task.description),
            StageBar(_BAR_WIDTH),
            TextColumn(count_of),
            TextColumn(lambda task: clock(task.elapsed or 0) if task.started else "", style="dim"),
            TextColumn(lambda task: str(task.fields["label"]), style="dim", ratio=1),
            get_time=self._now,
            expand=True,
        )

    def task(self, name: str, total: int | None = None, *, in_bytes: bool = False, waiting: bool = False) -> Task:
        """The task of a stage or download; a new one, which starts unless it is ``waiting``, if there is none."""
        if name not in self._tasks:
            counts: dict[str, Any] = dict.fromkeys(("reused", "running", "starts", "calls"), 0)
            self._bars.add_task(name, start=not waiting, total=total, label="", in_bytes=in_bytes, **counts)
            self._tasks[name] = self._bars.tasks[-1]
        return self._tasks[name]

    def expect(self, phases: tuple[Phase, ...]) -> None:
        """Show the phases that are to come as waiting bars, and estimate from them when the run will end."""
        self._phases = phases
        for phase in () if self._ended else phases:
            if phase.stage not in self._tasks:
                self.task(phase.stage, waiting=True)

    def seconds_left(self) -> float | None:
        """Estimated seconds until the end; None if nothing was expected, or too little is done to say."""
        if not self._phases or self._first_call is None:
            return None
        so_far = {
            task.description: SoFar(
                *self._usage[task.description],
                task.completed,
                task.total,
                task.fields["starts"],
                under_way=task.fields["running"] > 0,
                is_asking=task.fields["running"] > 0 and (task.start_time or 0) < self._latest_reply,
            )
            for task in self._stages()
        }
        left = seconds_left(self._phases, so_far, self._latest_reply - self._first_call)
        return None if left is None else max(left / 2, left - (self._now() - self._latest_reply))

    def _stages(self) -> list[Task]:
        """The stages that have started."""
        return [task for task in self._tasks.values() if task.started and not task.fields["in_bytes"]]

    def all_ended(self) -> bool:
        """Whether there were stages, and all have ended."""
        stages = self._stages()
        return bool(stages) and all(task.stop_time is not None for task in stages)

    def take(self, event: Event) -> None:
        """Update the board with an event."""
        match event:
            case RunStarted():
                self._start_session(event)
            case Downloading():
                self._show_download(event)
            case StageStarted():
                self._start_stage(event)
            case StageAdvanced():
                label = printable(event.label)[:_MAX_LABEL_LENGTH]
                self._bars.update(self.task(event.stage).id, advance=1, label=label)
            case StageFinished():
                self._finish_stage(event)
            case CallFinished():
                self._count_call(event)
            case Searched():
                self.sources = max(self.sources, event.sources)
                self._show_activity(event.stage, f"searched for {printable(event.query)}")
            case RunFinished() | RunStopped():
                self._hide_waiting()
            case Reused() if event.stage in self._tasks:
                self._tasks[event.stage].fields["reused"] += 1
            case _:
                pass
        if word := _COUNTED.get(type(event)):
            self.counts[word] += 1
        self._last = self._now()

    def is_resumed_by(self, event: RunStarted) -> bool:
        """Whether the event starts another session of the run on the board."""
        return event.session > 1 and bool(event.folder) and event.folder == self.folder

    def totals(self) -> str:
        """The run in one line, what matters most first, since narrow terminals cut its end off.

        Topic, time, time left and problems; then sources, calls, tokens, retries and reused records, if any.
        """
        topic = self.topic if len(self.topic) <= _MAX_TOPIC_LENGTH else f"{self.topic[: _MAX_TOPIC_LENGTH - 1]}…"
        parts = [f"{topic or 'starting'}  {clock(self._now() - self.started)}"]
        if (left := self.seconds_left()) is not None and not self._ended:
            parts.append(f"about {clock(left)} left")
        parts += [counted(n, "problem")] if (n := self.counts["problems"]) else []
        if self.topic:
            tokens = f"{amount(self.tokens_in)} tokens in, {amount(self.tokens_out)} out"
            parts += [counted(self.sources, "source"), counted(self.calls, "call"), tokens]
        parts += [f"{n} {word}" for word in ("retries", "reused") if (n := self.counts[word])]
        return ", ".join(parts)

    def draw(self, _height: int = 0) -> RenderableType:
        """One bar per stage or download, and a line of totals below."""
        totals = Text(self.totals(), style="bold", no_wrap=True, overflow="ellipsis")
        tasks = sorted(self._bars.tasks, key=lambda task: place_of(task.description))
        return Group(self._bars.make_tasks_table(tasks), totals)

    def _start_session(self, event: RunStarted) -> None:
        if self.is_resumed_by(event):
            self._new_bars()
            self.counts["problems"] = 0  # those that persist are reported again
            self.started += self._now() - (self._now() if self._last is None else self._last)
        self.topic, self.folder = printable(event.topic), event.folder

    def _show_download(self, event: Downloading) -> None:
        task = self.task(event.name, event.total, in_bytes=True)
        self._bars.update(task.id, completed=event.done)
        if event.done >= event.total:
            self._bars.stop_task(task.id)

    def _hide_waiting(self) -> None:
        self._ended = True
        for task in self._tasks.values():
            task.visible = task.started

    def _count_call(self, event: CallFinished) -> None:
        self.calls += 1
        self.tokens_in += event.tokens_in
        self.tokens_out += event.tokens_out
        calls, read, written = self._usage[event.stage]
        read += event.tokens_in - event.tokens_cached
        self._usage[event.stage] = (calls + 1, read, written + event.tokens_out)
        self._latest_reply = self._now()
        self._first_call = self._now() - event.seconds if self._first_call is None else self._first_call
        if event.stage in self._tasks:
            self._tasks[event.stage].fields["calls"] += 1
        self._show_activity(event.stage, f"the {event.role} replied")

    def _show_activity(self, stage: str, what: str) -> None:
        """Say what goes on in a stage until its first step is done."""
        if stage in self._tasks and not self._tasks[stage].completed:
            self._tasks[stage].fields["label"] = what[:_MAX_LABEL_LENGTH]

    def _start_stage(self, event: StageStarted) -> None:
        is_new = event.stage not in self._tasks
        task = self.task(event.stage, event.total)
        if not task.started:
            self._bars.start_task(task.id)
            task.total = event.total
        elif not is_new:  # runs in several threads share a sink, and stages of one name share a bar
            task.total = None if task.total is None or event.total is None else task.total + event.total
        task.fields["running"] += 1
        task.fields["starts"] += 1
        task.stop_time = None

    def _finish_stage(self, event: StageFinished) -> None:
        task = self.task(event.stage)
        task.fields["running"] = max(0, task.fields["running"] - 1)
        if not task.fields["running"]:
            self._bars.stop_task(task.id)
            task.fields["label"] = ""


def count_of(task: Task) -> str:
    """Progress of a task in words; empty if nothing is counted."""
    if task.fields["in_bytes"]:
        return f"{task.completed / 1e6:.0f} of {(task.total or 0) / 1e6:.0f} MB"
    if not task.started:
        return "to come"
    unit = _UNITS.get(task.description, "steps")
    steps = f"{task.completed:.0f} {unit}" if task.completed else ""
    if task.total is not None:
        steps = f"{task.completed:.0f} of at most {task.total:.0f} {unit}"
    calls, reused = task.fields["calls"], task.fields["reused"]
    facts = [steps, f"{reused} reused" if reused else "", counted(calls, "call") if calls else ""]
    return ", ".join(filter(None, facts))
