"""Progress of a run on the terminal: a bar per stage, or plain lines."""

import time
from collections.abc import Callable

from rich.console import Console

from storm_pipeline.progress.display import TerminalDisplay
from storm_pipeline.progress.phases import Phase
from storm_pipeline.progress.run_board import RunBoard, count_of
from storm_pipeline.run.events import (
    CallFinished,
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
from storm_pipeline.text.formatting import clock, counted, printable


class ProgressSink(TerminalDisplay[RunBoard]):
    """An event sink that shows the progress of a run; a context manager that restores the terminal.

    On a terminal and in a notebook there is a live bar per stage; elsewhere (a file, a pipe, a dumb terminal) a line as
    each stage starts and ends. Retries, degradations and failures are lines above the bars, similar ones once.
    """

    def __init__(self, console: Console | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(RunBoard(now), console, now)
        self._quarters: dict[str, int] = {}
        self._reasons: set[str] = set()
        self._failed: list[Failed] = []

    def __exit__(self, *error: object) -> None:
        for failed in self._failed:
            self._print(self._notes.add(self._failure(failed, "")), "bold yellow")
        for line in self._notes.repeated():
            self._print(line, "dim")
        super().__exit__(*error)

    def emit(self, event: Event) -> None:
        """Update the display with an event."""
        with self._lock:
            if isinstance(event, RunStarted) and not self._board.is_resumed_by(event) and self._board.all_ended():
                self._board = RunBoard(self._now)  # another run in the same sink
            self._board.take(event)
            notes = [*self._failures(event), self._note(event)]
            line = None if self._live else self._plain_line(event)
        for note, style in notes:
            self._print(note, style)
        self._print(line)

    def expect(self, phases: tuple[Phase, ...]) -> None:
        """Show the phases that are to come, and when the run will end; from any thread."""
        with self._lock:
            self._board.expect(phases)

    def downloading(self, name: str, done: int, total: int) -> None:
        """Show the progress of a download in bytes: a callback for :func:`storm_pipeline.assets.fetch`."""
        self.emit(Downloading("", name, done, total))

    def _failures(self, event: Event) -> list[tuple[str | None, str]]:
        """Lines for the pieces that failed, once it is known whether the run goes on.

        If it ends of what they failed of, the error that it ends with says that, and they do not.
        """
        if isinstance(event, Failed) and self._active:
            self._failed.append(event)
        if not self._failed or not isinstance(event, CallFinished | Searched | RunFinished | RunStopped):
            return []
        failed, self._failed = self._failed, []
        ending = event.reason if isinstance(event, RunStopped) else ""
        return [(self._notes.add(self._failure(one, ending)), "bold yellow") for one in failed]

    def _failure(self, failed: Failed, ending: str) -> str:
        """A failed piece and the reason; without a reason that ends the run or was shown for another piece."""
        piece, _, reason = failed.detail.partition(": ")
        if reason and reason in ending:
            return f"{failed.stage} failed: {piece}"
        if reason and reason in self._reasons:
            return f"{failed.stage} failed: {piece}: as above"
        self._reasons.add(reason)
        return f"{failed.stage} failed: {failed.detail}"

    def _note(self, event: Event) -> tuple[str | None, str]:
        """Line and style of an event that is shown with and without a terminal."""
        match event:
            case RunStarted() if event.session > 1 and self._live:
                return _opening(event), ""
            case RunStopped():
                return f"stopped after {clock(event.seconds)}", "bold yellow"  # the error says why
            case Retried():
                text, style = f"trying again: {event.what}: {event.reason}", "dim"
            case Noted():
                text, style = event.detail, ""
            case Searched(results=0):
                text, style = f"nothing found by {event.engine} for {event.query!r}", "dim"
            case Degraded():
                text, style = f"{event.stage}: {event.detail}", "yellow"
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
                facts = [count_of(self._board.task(event.stage)), counted(self._board.sources, "source")]
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


def _opening(event: RunStarted) -> str:
    topic = printable(event.topic)
    begun = f"researching {topic}" if event.session <= 1 else f"resuming {topic}, session {event.session},"
    return f"{begun} in {printable(event.folder)}" if event.folder else begun.rstrip(",")
