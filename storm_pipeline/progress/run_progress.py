"""Progress of a run on the terminal: a bar per stage, or plain lines."""

import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType

from rich.console import Console, Group, RenderableType
from rich.progress import Progress, Task
from rich.text import Text

from storm_pipeline.progress.display import StageBar, TerminalDisplay, TextColumn
from storm_pipeline.run.events import (
    CallFinished,
    Degraded,
    Downloading,
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
from storm_pipeline.text.formatting import amount, clock, printable

_UNITS = {"conversations": "turns", "sections": "sections"}
_COUNTED: dict[type[Event], str] = {Retried: "retries", Reused: "reused", Degraded: "problems", Failed: "problems"}
_MAX_LABEL_LENGTH = 200
_BAR_WIDTH = 20


class RunBoard:
    """Totals of a run, and a task of rich's ``Progress`` per stage and download.

    A resumed run keeps its totals, and the time between its sessions does not count.

    Args:
        now: a clock in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self.started = now()
        self.topic = self.folder = ""
        self.calls = self.tokens_in = self.tokens_out = self.sources = 0
        self.counts: Counter[str] = Counter()
        self._now = now
        self._last: float | None = None
        self._new_bars()

    def _new_bars(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._bars = Progress(
            TextColumn(lambda task: task.description),
            StageBar(_BAR_WIDTH),
            TextColumn(count_of),
            TextColumn(lambda task: clock(task.elapsed or 0), style="dim"),
            TextColumn(lambda task: str(task.fields["label"]), style="dim", ratio=1),
            get_time=self._now,
            expand=True,
        )

    def task(self, name: str, total: int | None = None, *, in_bytes: bool = False) -> Task:
        """The task of a stage or download; a new one if there is none."""
        if name not in self._tasks:
            number = self._bars.add_task(name, total=total, label="", reused=0, running=0, in_bytes=in_bytes)
            self._tasks[name] = next(task for task in self._bars.tasks if task.id == number)
        return self._tasks[name]

    def all_ended(self) -> bool:
        """Whether there were stages, and all have ended."""
        stages = [task for task in self._tasks.values() if not task.fields["in_bytes"]]
        return bool(stages) and all(task.stop_time is not None for task in stages)

    def take(self, event: Event) -> None:
        """Update the board with an event."""
        match event:
            case RunStarted():
                self._start_session(event)
            case Downloading():
                task = self.task(event.name, event.total, in_bytes=True)
                self._bars.update(task.id, completed=event.done)
                if event.done >= event.total:
                    self._bars.stop_task(task.id)
            case StageStarted():
                self._start_stage(event)
            case StageAdvanced():
                label = printable(event.label)[:_MAX_LABEL_LENGTH]
                self._bars.update(self.task(event.stage).id, advance=1, label=label)
            case StageFinished():
                self._finish_stage(event)
            case CallFinished():
                self.calls += 1
                self.tokens_in += event.tokens_in
                self.tokens_out += event.tokens_out
            case Searched():
                self.sources = max(self.sources, event.sources)
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
        """The run in one line: topic, time, calls, tokens, sources; reused records, retries and problems if any."""
        parts = [f"{self.topic or 'starting'}  {clock(self._now() - self.started)}"]
        if self.topic:
            tokens = f"{amount(self.tokens_in)} tokens in, {amount(self.tokens_out)} out"
            parts += [f"{self.calls} calls", tokens, f"{self.sources} sources"]
        parts += [f"{n} {word}" for word in ("reused", "retries", "problems") if (n := self.counts[word])]
        return ", ".join(parts)

    def draw(self, _height: int = 0) -> RenderableType:
        """One bar per stage or download, and a line of totals below."""
        totals = Text(self.totals(), style="bold", no_wrap=True, overflow="ellipsis")
        return Group(self._bars.get_renderable(), totals)

    def _start_session(self, event: RunStarted) -> None:
        if self.is_resumed_by(event):
            self._new_bars()
            self.counts["problems"] = 0  # those that persist are reported again
            self.started += self._now() - (self._now() if self._last is None else self._last)
        self.topic, self.folder = printable(event.topic), event.folder

    def _start_stage(self, event: StageStarted) -> None:
        is_new = event.stage not in self._tasks
        task = self.task(event.stage, event.total)
        if not is_new:  # runs in several threads share a sink, and stages of one name share a bar
            task.total = None if task.total is None or event.total is None else task.total + event.total
        task.fields["running"] += 1
        task.stop_time = None

    def _finish_stage(self, event: StageFinished) -> None:
        task = self.task(event.stage)
        task.fields["running"] = max(0, task.fields["running"] - 1)
        if not task.fields["running"]:
            self._bars.stop_task(task.id)
            task.fields["label"] = ""


class ProgressSink(TerminalDisplay[RunBoard]):
    """An event sink that shows the progress of a run; a context manager that restores the terminal.

    On a terminal and in a notebook there is a live bar per stage; elsewhere (a file, a pipe, a dumb terminal) a line as
    each stage starts and ends. Retries, degradations and failures are lines above the bars, similar ones once.

    Args:
        console: console to print to; default: standard error.
        now: a clock in seconds.
    """

    def __init__(self, console: Console | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(RunBoard(now), console, now)
        self._quarters: dict[str, int] = {}

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for line in self._notes.repeated():
            self._print(line, "dim")
        super().__exit__(kind, error, trace)

    def emit(self, event: Event) -> None:
        """Update the display with an event."""
        with self._lock:
            if isinstance(event, RunStarted) and not self._board.is_resumed_by(event) and self._board.all_ended():
                self._board = RunBoard(self._now)  # another run in the same sink
            self._board.take(event)
            note, style = self._note(event)
            line = None if self._live else self._plain_line(event)
        self._print(note, style)
        self._print(line)

    def downloading(self, name: str, done: int, total: int) -> None:
        """Show the progress of a download in bytes: a callback for :func:`storm_pipeline.assets.fetch`."""
        self.emit(Downloading("", name, done, total))

    def _note(self, event: Event) -> tuple[str | None, str]:
        """Line and style of an event that is shown with and without a terminal."""
        match event:
            case RunStarted() if event.session > 1 and self._live:
                return _opening(event), ""
            case RunStopped():
                after = f"stopped after {clock(event.seconds)}"
                return f"{after}: {printable(event.reason)}" if event.reason else after, "bold yellow"
            case Retried():
                text, style = f"trying again: {event.what}: {event.reason}", "dim"
            case Noted():
                text, style = event.detail, ""
            case Searched(results=0):
                text, style = f"nothing found by {event.engine} for {event.query!r}", "dim"
            case Degraded():
                text, style = f"{event.stage}: {event.detail}", "yellow"
            case Failed():
                text, style = f"{event.stage} failed: {event.detail}", "bold yellow"
            case _:
                return None, ""
        return self._notes.add(text), style

    def _plain_line(self, event: Event) -> str | None:
        match event:
            case RunStarted():
                return f"{self._elapsed()} {_opening(event)}"
            case Downloading():
                return self._download_line(event)
            case StageStarted():
                return f"{self._elapsed()} {event.stage} ..."
            case StageFinished():
                facts = [count_of(self._board.task(event.stage)), f"{self._board.sources} sources"]
                ended = f"{event.stage} ended after {event.seconds:.0f} s"
                return f"{self._elapsed()} {ended} ({', '.join(filter(None, facts))})"
            case RunFinished() | RunStopped():
                return f"{'finished' if isinstance(event, RunFinished) else 'so far'}: {self._board.totals()}"
            case _:
                return None

    def _download_line(self, event: Downloading) -> str | None:
        """A line per quarter of a download."""
        quarter = 4 * event.done // max(1, event.total)
        if self._quarters.get(event.name) == quarter:
            return None
        self._quarters[event.name] = quarter
        return f"{self._elapsed()} downloading {event.name}: {count_of(self._board.task(event.name))}"


def count_of(task: Task) -> str:
    """Progress of a task in words; empty if nothing is counted."""
    if task.fields["in_bytes"]:
        return f"{task.completed / 1e6:.0f} of {(task.total or 0) / 1e6:.0f} MB"
    unit = _UNITS.get(task.description, "steps")
    steps = f"{task.completed:.0f} {unit}" if task.completed else ""
    if task.total is not None:
        steps = f"{task.completed:.0f} of at most {task.total:.0f} {unit}"
    reused = task.fields["reused"]
    return ", ".join(filter(None, [steps, f"{reused} reused" if reused else ""]))


def _opening(event: RunStarted) -> str:
    topic = printable(event.topic)
    begun = f"researching {topic}" if event.session <= 1 else f"resuming {topic}, session {event.session},"
    return f"{begun} in {printable(event.folder)}" if event.folder else begun.rstrip(",")
