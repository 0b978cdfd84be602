"""The terminal display that runs and batches share: a live drawing on a terminal, plain lines elsewhere."""

import importlib.util
import re
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, Protocol, Self, TypeVar

from rich.console import Console, RenderableType
from rich.live import Live
from rich.progress import BarColumn, ProgressColumn, Task
from rich.progress_bar import ProgressBar
from rich.table import Column
from rich.text import Text

from storm_pipeline.text.formatting import clock, printable

_FRAMES_PER_SECOND = 4
_MAX_NOTE_LENGTH = 300
_MAX_NOTES = 30


class Board(Protocol):
    """The state that a display draws; ``started`` is a time of the display's clock."""

    started: float

    def draw(self, height: int) -> RenderableType:
        """The drawing, in at most ``height`` lines."""
        ...


B = TypeVar("B", bound=Board)


class TerminalDisplay(Generic[B]):
    """Base of the sinks that show progress; a context manager that restores the terminal.

    On a terminal and in a notebook the board is drawn live; elsewhere (a file, a pipe, a dumb terminal) there are only
    lines. Outside the ``with`` block nothing is shown.
    """

    def __init__(self, board: B, console: Console | None, now: Callable[[], float]) -> None:
        self._board = board
        self._console = console or stderr_console()
        self._now = now
        self._notes = Notes()
        self._lock = threading.Lock()  # guards the board; never held while printing
        self._active = False
        self._live: Live | None = None

    def __enter__(self) -> Self:
        self._active = True
        if can_animate(self._console):
            self._live = Live(
                console=self._console,
                get_renderable=self._draw,
                refresh_per_second=_FRAMES_PER_SECOND,
                redirect_stdout=False,
            )
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._active = False
        if self._live is not None:
            with suppress(OSError):  # the terminal is closed
                self._live.stop()

    @property
    def is_live(self) -> bool:
        """Whether the board is being drawn."""
        return self._live is not None

    def _draw(self) -> RenderableType:
        with self._lock:
            return self._board.draw(self._console.height - 1)

    def _elapsed(self) -> str:
        return clock(self._now() - self._board.started)

    def _print(self, line: str | None, style: str = "") -> None:
        if not (line and self._active):
            return
        try:
            self._console.print(Text(line, style=style), soft_wrap=self._live is None)
        except OSError:  # such as a full disk: a sink must not end the run
            self._active = False


class Notes:
    """Deduplicates notes: those that differ only in numbers are shown once and counted, at most 30 in all."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def add(self, text: str) -> str | None:
        """The line to show now; None if a similar one was shown already, or enough were."""
        line = printable(text)
        kind = re.sub(r"\d+", "0", line)
        self._counts[kind] += 1
        if kind in self._first or len(self._first) >= _MAX_NOTES:
            return None
        self._first[kind] = line if len(line) <= _MAX_NOTE_LENGTH else line[: _MAX_NOTE_LENGTH - 3] + "..."
        return self._first[kind]

    def repeated(self) -> list[str]:
        """Closing lines about the notes that were repeated or not shown."""
        lines = [f"{self._counts[kind]} times: {line}" for kind, line in self._first.items() if self._counts[kind] > 1]
        unseen = sum(times for kind, times in self._counts.items() if kind not in self._first)
        return [*lines, f"and {unseen} more"] if unseen else lines


class _Stderr(Console):
    """A console that stops printing when its reader has gone, instead of ending the run."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


def stderr_console() -> Console:
    """Standard error as a console that prints text literally, without markup."""
    return _Stderr(stderr=True, highlight=False, markup=False, emoji=False)


def can_animate(console: Console) -> bool:
    """Whether the console can redraw what it shows."""
    if console.is_jupyter:
        return importlib.util.find_spec("ipywidgets") is not None
    return console.is_terminal and not console.is_dumb_terminal


class TextColumn(ProgressColumn):
    """Plain text of a task, in one line."""

    def __init__(self, text: Callable[[Task], str], style: str = "", ratio: int | None = None) -> None:
        super().__init__(Column(no_wrap=True, overflow="ellipsis", ratio=ratio))
        self._text = text
        self._style = style

    def render(self, task: Task) -> Text:  # noqa: D102
        return Text(self._text(task), style="dim" if task.stop_time is not None else self._style)


class StageBar(BarColumn):
    """A bar that is full once its stage has ended, however many steps it took."""

    def render(self, task: Task) -> ProgressBar:  # noqa: D102
        bar = super().render(task)
        if task.stop_time is not None:
            bar.total = bar.completed = 1
        return bar
