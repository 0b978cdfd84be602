"""Progress of a run on the terminal: a bar per stage, or plain lines."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import dspy
from rich.console import Console
from rich.progress import Task

from storm_pipeline.progress.display import Display, stderr_console
from storm_pipeline.progress.phases import Phase, SoFar, place_of, seconds_left
from storm_pipeline.run import events as ev
from storm_pipeline.run.events import Event, EventSink
from storm_pipeline.text.formatting import amount, clock, counted, printable

_COUNTED = {ev.Retried: "retries", ev.Reused: "reused", ev.Degraded: "problems", ev.Failed: "problems"}
_MAX_LABEL_LENGTH = 200
_MAX_TOPIC_LENGTH = 30
_display = threading.Lock()
"""Held by the run that shows its progress by itself: two at once would overwrite each other."""


@dataclass
class _Run:
    """Totals of a run, over its sessions; times are those of the display's clock."""

    topic: str = ""
    folder: str = ""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    sources: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    stages: dict[str, SoFar] = field(default_factory=dict)
    first_call: float | None = None
    latest_reply: float = 0.0
    last: float | None = None  # when the latest event came
    ended: bool = False

    def count(self, call: ev.CallFinished, now: float) -> None:
        self.calls, self.latest_reply = self.calls + 1, now
        self.tokens_in, self.tokens_out = self.tokens_in + call.tokens_in, self.tokens_out + call.tokens_out
        self.first_call = now - call.seconds if self.first_call is None else self.first_call


class ProgressSink(Display):
    """An event sink that shows the progress of a run; a context manager that restores the terminal.

    On a terminal and in a notebook there is a live bar per stage; elsewhere (a file, a pipe, a dumb terminal) a line as
    each stage starts and ends. Retries, degradations and failures are lines above the bars, similar ones once.
    """

    def __init__(self, console: Console | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, now)
        self._run = _Run()
        self._phases: tuple[Phase, ...] = ()
        self._reasons: set[str] = set()

    def __exit__(self, *error: object) -> None:
        self.show(self.repeated(), "dim")
        super().__exit__(*error)

    def emit(self, event: Event) -> None:
        """Update the display with an event."""
        with self.guard:
            self._take(event)
            note, style = self._note(event)
            line = self.download(event) if isinstance(event, ev.Downloading) else self._plain_line(event)
        self.show(note, style)
        self.show("" if self.is_live else line)

    def expect(self, phases: tuple[Phase, ...]) -> None:
        """Show the phases that are to come as waiting bars, and when the run will end; from any thread."""
        with self.guard:
            self._phases = phases
            for phase in () if self._run.ended else phases:
                if phase.stage not in self._run.stages:
                    self.bar(phase.stage, phase.stage, start=False).fields["facts"] = "to come"

    def downloading(self, name: str, done: int, total: int) -> None:
        """Show the progress of a download in bytes: a callback for :func:`storm_pipeline.assets.fetch`."""
        self.emit(ev.Downloading("", name, done, total))

    def seconds_left(self) -> float | None:
        """Estimated seconds until the end; None if nothing was expected, or too little is done to say."""
        run = self._run
        if run.first_call is None:
            return None
        left = seconds_left(self._phases, run.stages, run.latest_reply - run.first_call) if self._phases else None
        return None if left is None else max(left / 2, left - (self.get_time() - run.latest_reply))

    def totals(self) -> str:
        """The run in one line, what matters most first, since narrow terminals cut its end off."""
        run = self._run
        topic = run.topic if len(run.topic) <= _MAX_TOPIC_LENGTH else f"{run.topic[: _MAX_TOPIC_LENGTH - 1]}…"
        parts = [f"{topic or 'starting'}  {self.elapsed()}"]
        if (left := self.seconds_left()) is not None and not run.ended:
            parts.append(f"about {clock(left)} left")
        parts += [counted(n, "problem")] if (n := run.counts["problems"]) else []
        if run.topic:
            tokens = f"{amount(run.tokens_in)} tokens in, {amount(run.tokens_out)} out"
            parts += [counted(run.sources, "source"), counted(run.calls, "call"), tokens]
        return ", ".join(parts + [f"{n} {word}" for word in ("retries", "reused") if (n := run.counts[word])])

    def drawn(self) -> Sequence[Task]:
        """A bar per stage or download, in the order of a run."""
        bars = [bar for bar in self._bars.values() if bar.started or not self._run.ended]
        return sorted(bars, key=lambda bar: place_of(bar.description))

    def _take(self, event: Event) -> None:
        if isinstance(event, ev.RunStarted):
            self._start_session(event)
        run, now = self._run, self.get_time()
        own = run.stages.get(event.stage, SoFar())
        match event:
            case ev.StageStarted():
                own = run.stages.setdefault(event.stage, own)
                own.start(event.total)
            case ev.StageAdvanced():
                own.steps, own.label = own.steps + 1, event.label
            case ev.StageFinished():
                own.running = max(0, own.running - 1)
                own.label = own.label if own.running else ""
            case ev.CallFinished():
                own.count(event)
                run.count(event, now)
            case ev.Searched():
                run.sources = max(run.sources, event.sources)
                own.label = own.label if own.steps else f"searched for {event.query}"
            case ev.Reused():
                own.reused += 1
            case ev.RunFinished() | ev.RunStopped():
                run.ended = True
        run.counts[_COUNTED.get(type(event), "")] += 1
        run.last = now
        if event.stage in run.stages:
            bar = self.bar(event.stage, event.stage)
            bar.fields |= {"facts": own.facts(event.stage), "label": printable(own.label)[:_MAX_LABEL_LENGTH]}
            bar.completed, bar.total = (own.steps, own.total) if own.running else (1, 1)
            bar.start_time = bar.start_time or now
            bar.stop_time = None if own.running else bar.stop_time or now

    def _start_session(self, event: ev.RunStarted) -> None:
        run, now = self._run, self.get_time()
        if event.session > 1 and event.folder and event.folder == run.folder:
            self.started += now - (now if run.last is None else run.last)  # the time between sessions does not count
            run.counts["problems"], run.stages, run.first_call, run.ended = 0, {}, None, False  # reported again
            self._bars.clear()
        elif run.stages and not any(own.running for own in run.stages.values()):  # those side by side share bars
            self._run, self.started, self._phases = _Run(), now, ()
            self._bars.clear()
        self._run.topic, self._run.folder = printable(event.topic), event.folder

    def _note(self, event: Event) -> tuple[str, str]:
        """Line and style of an event that is shown with and without a terminal."""
        match event:
            case ev.Failed():
                piece, _, reason = event.detail.partition(": ")
                text = f"{event.stage} failed: {f'{piece}: as above' if reason in self._reasons else event.detail}"
                style = "bold yellow"
                self._reasons |= {reason} - {""}
            case ev.Retried():
                text, style = f"trying again: {event.what}: {event.reason}", "dim"
            case ev.Noted():
                text, style = event.detail, ""
            case ev.Searched(results=0):
                text, style = f"nothing found by {event.engine} for {event.query!r}", "dim"
            case ev.Degraded():
                text, style = f"{event.stage}: {event.detail}", "yellow"
            case ev.RunStopped():
                return f"stopped after {clock(event.seconds)}", "bold yellow"  # the error says why
            case ev.RunStarted() if event.session > 1 and self.is_live:
                return _opening(event), ""
            case _:
                return "", ""
        return self.note(text), style

    def _plain_line(self, event: Event) -> str:
        match event:
            case ev.RunStarted():
                return f"{self.elapsed()} {_opening(event)}"
            case ev.StageStarted():
                return f"{self.elapsed()} {event.stage} ..."
            case ev.StageFinished():
                own = self._run.stages.get(event.stage, SoFar())
                facts = own.facts(event.stage), counted(self._run.sources, "source")
                ended = f"{event.stage} ended after {event.seconds:.0f} s"
                return f"{self.elapsed()} {ended} ({', '.join(filter(None, facts))})"
            case ev.RunFinished() | ev.RunStopped():
                return f"{'finished' if isinstance(event, ev.RunFinished) else 'so far'}: {self.totals()}"
            case _:
                return ""


def _opening(event: ev.RunStarted) -> str:
    topic = printable(event.topic)
    begun = f"researching {topic}" if event.session <= 1 else f"resuming {topic}, session {event.session},"
    return f"{begun} in {printable(event.folder)}" if event.folder else begun.rstrip(",")


@contextmanager
def with_progress(sinks: Sequence[EventSink], wanted: bool | None) -> Iterator[Sequence[EventSink]]:  # noqa: FBT001
    """Yield the sinks of a run, with one that shows its progress while the block runs.

    Args:
        wanted: whether to show it; None: if there are no sinks, somebody watches, and no DSPy module is the caller,
            such as one that is evaluated. Of several runs at once, the first shows its progress.
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
    """Whether this is a notebook, or the main thread of a program whose standard error is a terminal.

    Other threads of programs are those of servers, or of work side by side.
    """
    if "IPython" in sys.modules and stderr_console().is_jupyter:
        return True
    with suppress(AttributeError, ValueError):  # there is none, or it is closed
        return threading.current_thread() is threading.main_thread() and sys.stderr.isatty()
    return False
