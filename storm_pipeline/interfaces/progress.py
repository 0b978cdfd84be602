"""Progress on the terminal or in a notebook, as live bars or lines; and the progress of a run."""

import importlib.util
import re
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Self

import dspy
from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

from storm_pipeline.run import events as ev
from storm_pipeline.run.events import Event, EventSink
from storm_pipeline.text.formatting import amount, clock, printable, shorten, with_noun

_COUNTED = {ev.Retried: "retries", ev.Reused: "reused", ev.Degraded: "problems", ev.Failed: "problems"}
_UNITS = {"conversations": "turns", "sections": "sections"}
_MAX_LABEL_LENGTH = 200
_MAX_NOTE_LENGTH = 300
_MAX_NOTES = 30
_display = threading.Lock()  # held by the run that shows its progress, since displays overwrite each other


@dataclass
class StageProgress:
    """Progress of a stage, or of a topic's sections, folded from events."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    steps: int = 0
    total: int | None = None  # announced steps
    starts: int = 0
    running: int = 0  # active threads
    reused: int = 0  # records of earlier sessions
    label: str = ""  # the last action

    def take(self, event: Event) -> None:
        """Add an event; starts of a stage in several threads are summed."""
        match event:
            case ev.StageStarted():
                known = self.total is not None and event.total is not None
                total = (self.total or 0) + (event.total or 0) if known else None
                self.total = total if self.starts else event.total
                self.starts, self.running = self.starts + 1, self.running + 1
            case ev.StageAdvanced():
                self.steps, self.label = self.steps + 1, event.label
            case ev.StageFinished():
                self.running = max(0, self.running - 1)
            case ev.CallFinished():
                self.calls, self.tokens_in = self.calls + 1, self.tokens_in + event.tokens_in
                self.tokens_out += event.tokens_out
                self.label = self.label if self.steps else f"the {event.role} replied"
            case ev.Searched():
                self.label = self.label if self.steps else f"searched for {event.query}"
            case ev.Reused():
                self.reused += 1

    def facts(self, stage: str) -> str:
        """Return the progress of the stage in words; empty without counts."""
        unit = _UNITS.get(stage, "steps")
        steps = f"{self.steps} {unit}" if self.total is None else f"{self.steps} of at most {self.total} {unit}"
        facts = [steps if self.steps or self.total is not None else "", f"{self.reused} reused" if self.reused else ""]
        return ", ".join(filter(None, [*facts, with_noun(self.calls, "call") if self.calls else ""]))


class Display(Progress, ABC):
    """Base of progress displays: lines, a bar per active item, and totals below.

    A context manager that restores the terminal; shows nothing outside its ``with`` block. Hold ``guard`` to change
    state and bars; nothing is printed then.
    """

    def __init__(self, console: Console | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        line = Column(no_wrap=True, overflow="ellipsis")
        super().__init__(
            TextColumn("{task.description}", markup=False, table_column=line),
            BarColumn(20),
            TextColumn("{task.fields[facts]}", markup=False, table_column=line.copy()),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[label]}", "dim", markup=False, table_column=Column(no_wrap=True, ratio=1)),
            console=console or _stderr_console(),
            refresh_per_second=4,
            redirect_stdout=False,
            get_time=now,
            expand=True,
        )
        self.started = now()
        self.is_live = self._active = False
        self._bars: dict[Hashable, TaskID] = {}
        self._quarters: dict[str, int] = {}
        self._notes: Counter[str] = Counter()
        self._shown: dict[str, str] = {}
        self.guard = threading.Lock()

    def __enter__(self) -> Self:
        self._active = True
        if self.console.is_jupyter:
            self.is_live = importlib.util.find_spec("ipywidgets") is not None
        else:
            self.is_live = self.console.is_terminal and not self.console.is_dumb_terminal
        if self.is_live:
            self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._active = False
        if self.is_live:
            with suppress(OSError):  # the terminal is closed
                self.stop()

    @abstractmethod
    def totals(self) -> str:
        """Return the line below the bars."""

    def refresh(self) -> None:
        """Do nothing: the display is drawn four times a second, and ``guard`` is held while a bar is added."""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return the bars, and the totals."""
        if not hasattr(self, "guard"):
            return ()  # called by rich's constructor
        with self.guard:
            table, totals = self.make_tasks_table(self.tasks), self.totals()
        return table, Text(totals, style="bold", no_wrap=True, overflow="ellipsis")

    def draw(self, key: Hashable, name: str, done: int, total: int | None, *, facts: str, label: str = "") -> None:
        """Set the bar of this key, which may be new."""
        if key not in self._bars:
            self._bars[key] = self.add_task(name, total=None, facts="", label="")
        label = printable(label)[:_MAX_LABEL_LENGTH]
        self.update(self._bars[key], completed=done, total=total, facts=facts, label=label)

    def end_bar(self, key: Hashable) -> None:
        """Remove the bar of this key, if there is one."""
        if key in self._bars:
            self.remove_task(self._bars.pop(key))

    def download(self, event: ev.Downloading) -> str:
        """Update the bar of a download; without bars, return a line per quarter."""
        name, facts = printable(event.name), f"{event.done / 1e6:.0f} of {event.total / 1e6:.0f} MB"
        self.draw(event.name, name, event.done, event.total, facts=facts)
        quarter = 4 * event.done // max(1, event.total)
        if self.is_live or self._quarters.get(name) == quarter:
            return ""
        self._quarters[name] = quarter
        return f"{self.elapsed()} downloading {name}: {facts}"

    def show(self, line: str, style: str = "") -> None:
        """Print a line above the bars; nothing if it is empty."""
        if line and self._active:
            try:
                self.console.print(Text(line, style=style), soft_wrap=not self.is_live)
            except OSError:  # such as a full disk, which must not end the run
                self._active = False

    def note(self, text: str) -> str:
        """Return the line of a note; empty after 30 notes, or after one that differs only in numbers."""
        line = printable(text)
        kind = re.sub(r"\d+", "0", line)
        self._notes[kind] += 1
        if kind in self._shown or len(self._shown) >= _MAX_NOTES:
            return ""
        self._shown[kind] = line if len(line) <= _MAX_NOTE_LENGTH else line[: _MAX_NOTE_LENGTH - 3] + "..."
        return self._shown[kind]

    def repetitions(self) -> str:
        """Return lines about repeated and hidden notes."""
        lines = [f"{self._notes[kind]} times: {note}" for kind, note in self._shown.items() if self._notes[kind] > 1]
        unseen = sum(times for kind, times in self._notes.items() if kind not in self._shown)
        return "\n".join([*lines, f"and {unseen} more"] if unseen else lines)

    def elapsed(self) -> str:
        """Return the time since the start."""
        return clock(self.get_time() - self.started)


class _Stderr(Console):
    """A console that ignores a closed pipe, which must not end the run."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


def _stderr_console() -> Console:
    return _Stderr(stderr=True, highlight=False, markup=False, emoji=False)


class ProgressSink(Display):
    """An event sink that shows the progress of a run: a bar per active stage, a line per finished one.

    Retries, degradations and failures are lines too, without similar repetitions.
    """

    def __init__(self, console: Console | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, now=now)
        self._topic = ""
        self._stages: defaultdict[str, StageProgress] = defaultdict(StageProgress)
        self._sources = 0
        self._counts: Counter[str] = Counter()

    def __exit__(self, *error: object) -> None:
        self.show(self.repetitions(), "dim")
        super().__exit__(*error)

    def emit(self, event: Event) -> None:
        """Update the display with an event."""
        with self.guard:
            self._take(event)
            line, style = self._line(event)
        self.show(line, style)

    def downloading(self, name: str, done: int, total: int) -> None:
        """Show the progress of a download in bytes: a callback for :func:`storm_pipeline.run.assets.fetch`."""
        self.emit(ev.Downloading("", name, done, total))

    def totals(self) -> str:
        """Return the run's totals in one line, most important first, since narrow terminals cut off the end."""
        counts, stages = self._counts, self._stages.values()
        parts = [f"{shorten(self._topic, 30) or 'starting'}  {self.elapsed()}"]
        parts += [with_noun(n, "problem")] if (n := counts["problems"]) else []
        if self._topic:
            names = ("calls", "tokens_in", "tokens_out")
            calls, read, written = (sum(getattr(stage, name) for stage in stages) for name in names)
            tokens = f"{amount(read)} tokens in, {amount(written)} out"
            parts += [with_noun(self._sources, "source"), with_noun(calls, "call"), tokens]
        return ", ".join(parts + [f"{n} {word}" for word in ("retries", "reused") if (n := counts[word])])

    def _take(self, event: Event) -> None:
        stage = self._stages[event.stage]
        stage.take(event)
        self._counts[_COUNTED.get(type(event), "")] += 1
        match event:
            case ev.RunStarted():
                self._topic = printable(event.topic)
            case ev.Searched():
                self._sources = max(self._sources, event.sources)
        if stage.running:
            facts = stage.facts(event.stage)
            self.draw(event.stage, event.stage, stage.steps, stage.total, facts=facts, label=stage.label)
        else:
            self.end_bar(event.stage)

    def _line(self, event: Event) -> tuple[str, str]:
        """Return the line of an event, and its style."""
        match event:
            case ev.Failed():
                text, style = f"{event.stage} failed: {event.detail}", "bold yellow"
            case ev.Degraded():
                text, style = f"{event.stage}: {event.detail}", "yellow"
            case ev.Retried():
                text, style = f"trying again: {event.what}: {event.reason}", "dim"
            case ev.Searched(results=0):
                text, style = f"nothing found by {event.engine} for {event.query!r}", "dim"
            case ev.Noted():
                text, style = event.detail, ""
            case _:
                return self._milestone(event), ""
        return self.note(text), style

    def _milestone(self, event: Event) -> str:
        match event:
            case ev.Downloading():
                return self.download(event)
            case ev.RunStarted():
                begun = "researching" if event.session <= 1 else f"session {event.session}, resuming"
                where = f" in {printable(event.folder)}" if event.folder else ""
                return f"{self.elapsed()} {begun} {self._topic}{where}"
            case ev.StageStarted() if not self.is_live:
                return f"{self.elapsed()} {event.stage} ..."
            case ev.StageFinished():
                facts = self._stages[event.stage].facts(event.stage), with_noun(self._sources, "source")
                ended = f"{event.stage} ended after {event.seconds:.0f} s"
                return f"{self.elapsed()} {ended} ({', '.join(filter(None, facts))})"
            case ev.RunFinished() | ev.RunStopped():
                lines = [f"stopped after {clock(event.seconds)}"] if isinstance(event, ev.RunStopped) else []
                word = "so far" if lines else "finished"
                return "\n".join(lines if self.is_live else [*lines, f"{word}: {self.totals()}"])
        return ""


@contextmanager
def with_progress(sinks: Sequence[EventSink], wanted: bool | None) -> Iterator[Sequence[EventSink]]:  # noqa: FBT001
    """Yield the sinks of a run, with one that shows its progress within the block.

    ``wanted``: whether to show it; None: without sinks, with a terminal or notebook, and not within a DSPy module (such
    as in an evaluation). Only the first of concurrent runs shows its progress.
    """
    if wanted is None:
        wanted = not sinks and not dspy.settings.caller_modules and _is_watched()
    if not wanted or not _display.acquire(blocking=False):
        yield sinks
        return
    try:
        with ProgressSink() as progress:
            yield (*sinks, progress)
    finally:
        _display.release()


def _is_watched() -> bool:
    """Return whether this is a notebook, or the main thread of a program with a terminal as standard error."""
    if "IPython" in sys.modules and _stderr_console().is_jupyter:
        return True
    with suppress(AttributeError, ValueError):  # missing or closed
        return threading.current_thread() is threading.main_thread() and sys.stderr.isatty()
    return False
