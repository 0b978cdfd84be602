"""Progress on the terminal: live bars where there is one, plain lines where there is not."""

import importlib.util
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from storm_pipeline.progress.run_board import Bar, Board, Notes
from storm_pipeline.run.events import (
    Degraded,
    Downloading,
    Event,
    Failed,
    Noted,
    Retried,
    RunFinished,
    RunStarted,
    RunStopped,
    Searched,
    StageFinished,
    StageStarted,
)
from storm_pipeline.text.display import clock, printable

_FRAMES_A_SECOND = 4


class ProgressSink:
    """An event sink that shows people how a run goes; a context manager that leaves the terminal as it was.

    Outside its ``with`` block events are taken and nothing is shown. On a terminal and in a notebook there is
    a live bar a stage; elsewhere (a file, a pipe, a dumb terminal) lines as stages begin and end. Retries,
    degradations and failures are lines above the bars, alike ones once. For no progress, use no sink.

    Args:
        console: where to show it; default: standard error.
        now: a clock in seconds.
    """

    def __init__(self, console: Console | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        self._console = console or quiet_stderr()
        self._now = now
        self._board = Board(now())
        self._notes = Notes()
        self._lock = threading.Lock()  # guards the picture, and is never held while something is written
        self._shown = False
        self._live: Live | None = None

    def __enter__(self) -> Self:
        self._shown = True
        if can_animate(self._console):
            self._live = Live(
                console=self._console,
                get_renderable=self._draw,
                refresh_per_second=_FRAMES_A_SECOND,
                redirect_stdout=False,
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for line in self._notes.repeated():
            self._say(line, "dim")
        self._shown = False
        if self._live is not None:
            self._live.stop()

    def emit(self, event: Event) -> None:
        """Take one event into the picture and say what must be said."""
        if isinstance(event, Downloading):
            self.downloading(event.name, event.done, event.total)
            return
        with self._lock:
            if isinstance(event, RunStarted):
                self._begin_run(event)
            self._board.take(event, self._now())
            note = self._note(event)
            line = None if self._live else self._plain_line(event)
        if note:
            self._say(*note)
        if line:
            self._say(line)

    def downloading(self, name: str, done: int, total: int) -> None:
        """Show how far a download is: what :func:`storm_pipeline.assets.fetch` calls. Sizes in bytes."""
        with self._lock:
            before = self._board.bars.get(name)
            was = _quarter(before)
            bar = self._board.download(name, done, total, self._now())
            news = before is None or _quarter(bar) != was
            line = f"{self._time()} downloading {name}: {bar.count()}" if news and not self._live else None
        if line:
            self._say(line)

    def _begin_run(self, event: RunStarted) -> None:
        """A sink used for one run after another starts afresh; a run that goes on is the same run."""
        if self._board.goes_on(event):
            return
        stages = [bar for bar in self._board.bars.values() if not bar.in_bytes]
        if stages and all(bar.seconds is not None for bar in stages):
            self._board = Board(self._now())

    def _note(self, event: Event) -> tuple[str, str] | None:
        match event:
            case RunStarted() if event.session > 1 and self._live:
                return _opening(event), ""
            case RunStopped():
                after = f"stopped after {clock(event.seconds)}"
                return f"{after}: {printable(event.reason)}" if event.reason else after, "bold yellow"
            case Retried():
                line, style = self._notes.add(f"trying again: {event.what}: {event.reason}"), "dim"
            case Noted():
                line, style = self._notes.add(event.detail), ""
            case Searched(results=0):
                line, style = self._notes.add(f"nothing found by {event.engine} for {event.query!r}"), "dim"
            case Degraded():
                line, style = self._notes.add(f"{event.stage}: {event.detail}"), "yellow"
            case Failed():
                line, style = self._notes.add(f"{event.stage} failed: {event.detail}"), "bold yellow"
            case _:
                return None
        return (line, style) if line else None

    def _plain_line(self, event: Event) -> str | None:
        match event:
            case RunStarted():
                return f"{self._time()} {_opening(event)}"
            case StageStarted():
                return f"{self._time()} {event.stage} ..."
            case StageFinished():
                bar = self._board.bars[event.stage]
                facts = ", ".join(filter(None, [bar.count(), f"{self._board.sources} sources"]))
                return f"{self._time()} {event.stage} ended after {event.seconds:.0f} s ({facts})"
            case RunFinished():
                return f"finished: {self._board.totals(self._now())}"
            case RunStopped():
                return f"so far: {self._board.totals(self._now())}"
            case _:
                return None

    def _time(self) -> str:
        return clock(self._now() - self._board.started)

    def _draw(self) -> RenderableType:
        with self._lock:
            return self._board.draw(self._now())

    def _say(self, line: str, style: str = "") -> None:
        if not self._shown:
            return
        try:
            self._console.print(Text(line, style=style), soft_wrap=self._live is None)
        except OSError:  # a log on a full disk, say: a sink must not end the run
            self._shown = False


class _Stderr(Console):
    """A console that falls silent, rather than ending the run, when nobody reads it any more."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


def quiet_stderr() -> Console:
    """Standard error as a console that takes every text as it is."""
    return _Stderr(stderr=True, highlight=False, markup=False, emoji=False)


def can_animate(console: Console) -> bool:
    """Whether what is shown there can be drawn over."""
    if console.is_jupyter:
        return importlib.util.find_spec("ipywidgets") is not None
    return console.is_terminal and not console.is_dumb_terminal


def _opening(event: RunStarted) -> str:
    topic = printable(event.topic)
    begun = f"researching {topic}" if event.session <= 1 else f"going on with {topic}, session {event.session},"
    return f"{begun} in {printable(event.folder)}" if event.folder else begun.rstrip(",")


def _quarter(bar: Bar | None) -> int:
    return 4 * bar.done // bar.total if bar is not None and bar.total else 0
