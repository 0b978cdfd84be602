"""The terminal display that runs and batches share: live bars there and in a notebook, else plain lines."""

import importlib.util
import re
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, Task, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from storm_pipeline.run.events import Downloading
from storm_pipeline.text.formatting import clock, printable

_MAX_NOTE_LENGTH = 300
_MAX_NOTES = 30


class Display(Progress):
    """Base of the sinks that show progress: a bar for each thing under way, and totals below.

    A context manager that restores the terminal; outside its ``with`` block nothing is shown. A subclass changes its
    state, bars included, while it holds ``guard``, and never prints then.
    """

    def __init__(self, console: Console | None, now: Callable[[], float]) -> None:
        line = Column(no_wrap=True, overflow="ellipsis")
        rest = Column(no_wrap=True, overflow="ellipsis", ratio=1)
        super().__init__(
            TextColumn("{task.description}", markup=False, table_column=line),
            BarColumn(20),
            TextColumn("{task.fields[facts]}", markup=False, table_column=line),
            TimeElapsedColumn(),
            TextColumn("{task.fields[label]}", "dim", markup=False, table_column=rest),
            console=console or stderr_console(),
            refresh_per_second=4,
            redirect_stdout=False,
            get_time=now,
            expand=True,
        )
        self.started = now()
        self.is_live = False
        self._active = False
        self._bars: dict[Hashable, Task] = {}
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

    def totals(self) -> str:
        """The line below the bars."""
        raise NotImplementedError

    def drawn(self) -> Sequence[Task]:
        """The bars to draw, in order."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Nothing, since the display is drawn four times a second: whoever adds a bar holds ``guard``."""

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bars, and the totals."""
        if not hasattr(self, "guard"):
            return ()  # rich asks while it is made
        with self.guard:
            table, totals = self.make_tasks_table(self.drawn()), self.totals()
        return table, Text(totals, style="bold", no_wrap=True, overflow="ellipsis")

    def bar(self, key: Hashable, name: str, *, start: bool = True) -> Task:
        """The bar of this key; a new one if there is none."""
        if key not in self._bars:
            self.add_task(name, start=start, total=None, facts="", label="")
            self._bars[key] = self.tasks[-1]
        return self._bars[key]

    def download(self, event: Downloading) -> str:
        """Bring the bar of a download up to date; the line that says so, once a quarter, else empty."""
        bar, quarter = self.bar(event.name, printable(event.name)), 4 * event.done // max(1, event.total)
        bar.completed, bar.total = event.done, event.total
        bar.stop_time = self.get_time() if event.done >= event.total else None
        facts = bar.fields["facts"] = f"{event.done / 1e6:.0f} of {event.total / 1e6:.0f} MB"
        known, bar.fields["quarter"] = bar.fields.get("quarter"), quarter
        return "" if known == quarter else f"{self.elapsed()} downloading {printable(event.name)}: {facts}"

    def show(self, line: str, style: str = "") -> None:
        """Print a line above the bars; nothing if it is empty."""
        if line and self._active:
            try:
                self.console.print(Text(line, style=style), soft_wrap=not self.is_live)
            except OSError:  # such as a full disk: a sink must not end the run
                self._active = False

    def note(self, text: str) -> str:
        """The line of a note; empty if one that differs in numbers alone was shown, or 30 others."""
        line = printable(text)
        kind = re.sub(r"\d+", "0", line)
        self._notes[kind] += 1
        if kind in self._shown or len(self._shown) >= _MAX_NOTES:
            return ""
        self._shown[kind] = line if len(line) <= _MAX_NOTE_LENGTH else line[: _MAX_NOTE_LENGTH - 3] + "..."
        return self._shown[kind]

    def repeated(self) -> str:
        """Lines about the notes that were repeated or not shown."""
        lines = [f"{self._notes[kind]} times: {one}" for kind, one in self._shown.items() if self._notes[kind] > 1]
        unseen = sum(times for kind, times in self._notes.items() if kind not in self._shown)
        return "\n".join([*lines, f"and {unseen} more"] if unseen else lines)

    def elapsed(self) -> str:
        """The time since the start."""
        return clock(self.get_time() - self.started)


class _Stderr(Console):
    """A console that stops printing when its reader has gone, instead of ending the run."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


def stderr_console() -> Console:
    """Standard error as a console that prints text literally, without markup."""
    return _Stderr(stderr=True, highlight=False, markup=False, emoji=False)
