"""A batch's progress on the terminal: a live table where there is one, a line as a topic begins and ends elsewhere."""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from storm_pipeline.batch.topic_status import TopicStatus
from storm_pipeline.progress.batch_board import BatchBoard
from storm_pipeline.progress.run_board import Notes
from storm_pipeline.progress.run_progress import can_animate, quiet_stderr
from storm_pipeline.run.events import Downloading, Event, Noted
from storm_pipeline.text.display import clock, dollars, printable

_FRAMES_A_SECOND = 4


class BatchProgress:
    """A batch's sink that shows people how it goes; a context manager that leaves the terminal as it was.

    Args:
        console: where to show it; default: standard error.
        now: a clock in seconds.
    """

    def __init__(self, console: Console | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        self._console = console or quiet_stderr()
        self._now = now
        self._board = BatchBoard((), now())
        self._total = 0
        self._notes = Notes()
        self._downloads: set[str] = set()
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
        self._shown = False
        if self._live is not None:
            self._live.stop()

    def begin(self, folder: Path, rows: Sequence[TopicStatus]) -> None:
        """The batch begins, or goes on."""
        with self._lock:
            self._board = BatchBoard(rows, self._now())
            self._total = len(rows)
        self._say(f"{self._total} topics ({self._board.counts()}) in {printable(str(folder))}")

    def event(self, number: int, event: Event) -> None:
        """Take an event of a topic's run into the picture, and say what concerns all topics."""
        with self._lock:
            self._board.take(number, event)
            line = self._line_of(event)
        if line:
            self._say(line)

    def row(self, row: TopicStatus) -> None:
        """Take a topic's state into the picture; where there is none, say it."""
        with self._lock:
            self._board.stands(row, self._now())
            line = None if self._live else self._line(row)
        if line:
            self._say(line)

    def _line_of(self, event: Event) -> str | None:
        if isinstance(event, Noted):
            return self._notes.add(event.detail)
        if isinstance(event, Downloading) and event.name not in self._downloads and not self._live:
            self._downloads.add(event.name)
            return f"{self._time()} downloading {printable(event.name)} ({event.total / 1e6:.0f} MB) ..."
        return None

    def _line(self, row: TopicStatus) -> str | None:
        where = f"{self._time()} {row.number}/{self._total} {printable(row.request.topic)}"
        took = f"{row.seconds:.0f} s, {row.calls} calls, {dollars(row.cost)}"
        match row.state:
            case "running":
                return f"{where} in {row.folder} ..." if row.folder else None
            case "written":
                return f"{where} written ({took}, {row.sections} sections, {row.references} references)"
            case "failed":
                return f"{where} failed ({took}): {printable(row.error)}"
            case _:
                return f"{where} {row.state} ({took})"

    def _time(self) -> str:
        return clock(self._now() - self._board.started)

    def _draw(self) -> RenderableType:
        with self._lock:
            return self._board.draw(self._now(), self._console.height - 1)

    def _say(self, line: str) -> None:
        if not self._shown:
            return
        try:
            self._console.print(Text(line), soft_wrap=self._live is None)
        except OSError:  # a log on a full disk, say: a sink must not end the batch
            self._shown = False
