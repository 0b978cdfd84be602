"""A batch on the terminal: a live table of topics, or a line as each topic starts and ends; and its summary."""

import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from storm_pipeline.batch.topic_status import BatchReport, State, TopicStatus
from storm_pipeline.progress.display import TerminalDisplay
from storm_pipeline.run.events import (
    CallFinished,
    Downloading,
    Event,
    Noted,
    StageAdvanced,
    StageFinished,
    StageStarted,
)
from storm_pipeline.text.formatting import amount, clock, counted, dollars, printable

SUMMARY_COLUMNS = ("topic", "state", "sections", "words", "references", "calls", "time", "cost", "folder or error")
_MAX_TOPIC_LENGTH = 40
_MAX_ROWS = 200
_COLUMNS = ("topic", "state", "stage", "sections", "calls", "time", "cost", "")
_STYLES = {"running": "bold", "failed": "bold yellow", "waiting": "dim", "stopped": "yellow"}


@dataclass
class _RunningTopic:
    """The state of a run under way; ``started`` is a time of the board's clock."""

    row: TopicStatus
    started: float
    stages: list[str] = field(default_factory=list)
    note: str = ""
    sections: int = 0
    of_sections: int | None = None
    calls: int = 0
    cost: float | None = 0.0

    def take(self, event: Event) -> None:
        match event:
            case Downloading():
                self.note = f"{event.name} {100 * event.done // max(1, event.total)} %"
            case StageStarted():
                self.stages.append(event.stage)
                self.note = ""
                if event.stage == "sections":
                    self.of_sections = event.total
            case StageFinished():
                self.stages = [stage for stage in self.stages if stage != event.stage]
            case StageAdvanced(stage="sections"):
                self.sections += 1
            case CallFinished():
                self.calls += 1
                self.cost = None if self.cost is None or event.cost is None else self.cost + event.cost
            case _:
                pass

    def cells(self, now: float) -> tuple[str, ...]:
        sections = f"{self.sections} of {self.of_sections}" if self.of_sections else ""
        took = (str(self.calls), clock(now - self.started), dollars(self.cost))
        return (_short_topic(self.row), "running", ", ".join(self.stages), sections, *took, printable(self.note))


class BatchBoard:
    """The state of a batch's topics."""

    def __init__(self, rows: Sequence[TopicStatus], now: Callable[[], float] = time.monotonic) -> None:
        self.started = now()
        self._now = now
        self._rows = {row.number: row for row in rows}
        self._states: Counter[State] = Counter(row.state for row in rows)
        self._running: dict[int, _RunningTopic] = {}
        self._ended: deque[int] = deque(maxlen=_MAX_ROWS)

    def update(self, row: TopicStatus) -> None:
        """Set the status of a topic."""
        self._states[self._rows[row.number].state] -= 1
        self._states[row.state] += 1
        self._rows[row.number] = row
        if row.state == "running":
            started = _RunningTopic(row, self._now(), calls=row.calls, cost=row.cost)
            self._running.setdefault(row.number, started).row = row
        else:
            self._running.pop(row.number, None)
            self._ended.append(row.number)

    def take(self, number: int, event: Event) -> None:
        """Update a topic with an event of its run."""
        if topic := self._running.get(number):
            topic.take(event)

    def counts(self) -> str:
        """Number of topics by state."""
        return _state_counts(self._states)

    def draw(self, height: int) -> RenderableType:
        """At most ``height`` lines: running topics, then the latest that ended, then others; counts below."""
        table = Table(*_COLUMNS, box=None, pad_edge=False, padding=(0, 2, 0, 0), expand=True, header_style="dim")
        for column in table.columns:
            column.no_wrap, column.overflow = True, "ellipsis"
        table.columns[-1].ratio = 1
        others = self._rows if len(self._rows) <= _MAX_ROWS else ()
        by_priority = list(dict.fromkeys([*self._running, *reversed(self._ended), *others]))
        for number in sorted(by_priority[: max(1, height - 2)]):
            row, running = self._rows[number], self._running.get(number)
            cells = running.cells(self._now()) if running else _cells(row)
            table.add_row(*map(Text, cells), style=_STYLES.get(row.state, ""))
        total = f"{clock(self._now() - self.started)}  {self.counts()}"
        return Group(table, Text(total, style="bold", no_wrap=True, overflow="ellipsis"))


def _cells(row: TopicStatus) -> tuple[str, ...]:
    took = ("", "", "") if row.state == "waiting" else (str(row.calls), clock(row.seconds), dollars(row.cost))
    return (_short_topic(row), row.state, "", str(row.sections or ""), *took, printable(row.error))


class BatchProgress(TerminalDisplay[BatchBoard]):
    """A batch's sink that shows its progress; a context manager that restores the terminal."""

    def __init__(self, console: Console | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(BatchBoard((), now), console, now)
        self._total = 0
        self._downloads: set[str] = set()

    def begin(self, folder: Path, rows: Sequence[TopicStatus]) -> None:
        """The batch starts or is resumed."""
        with self._lock:
            self._board, self._total = BatchBoard(rows, self._now), len(rows)
        self._print(f"{self._board.counts()}, in {printable(str(folder))}")

    def event(self, number: int, event: Event) -> None:
        """Update a topic with an event of its run, and print what concerns all topics."""
        with self._lock:
            self._board.take(number, event)
            line = self._line_of_event(event)
        self._print(line)

    def row(self, row: TopicStatus) -> None:
        """Set the status of a topic; without a live table, print it."""
        with self._lock:
            self._board.update(row)
        if not self._live:
            self._print(self._line_of(row))

    def _line_of_event(self, event: Event) -> str | None:
        if isinstance(event, Noted):
            return self._notes.add(event.detail)
        if isinstance(event, Downloading) and event.name not in self._downloads and not self._live:
            self._downloads.add(event.name)
            return f"{self._elapsed()} downloading {printable(event.name)} ({event.total / 1e6:.0f} MB) ..."
        return None

    def _line_of(self, row: TopicStatus) -> str | None:
        where = f"{self._elapsed()} {row.number}/{self._total} {printable(row.request.topic)}"
        took = f"{row.seconds:.0f} s, {counted(row.calls, 'call')}, {dollars(row.cost)}"
        match row.state:
            case "running":
                return f"{where} in {row.folder} ..." if row.folder else None
            case "written":
                return f"{where} written ({took}, {row.sections} sections, {row.references} references)"
            case "failed":
                return f"{where} failed ({took}): {printable(row.error)}"
            case _:
                return f"{where} {row.state} ({took})"


def summary_rows(report: BatchReport) -> list[tuple[str, ...]]:
    """A row per topic, with the cells that :data:`SUMMARY_COLUMNS` names."""
    return [
        (
            _short_topic(row),
            row.state,
            *(str(n) if row.state == "written" else "-" for n in (row.sections, row.words, row.references)),
            str(row.calls),
            clock(row.seconds),
            dollars(row.cost),
            row.folder if row.state == "written" else printable(row.error) or "-",
        )
        for row in report.rows
    ]


def summary_of(report: BatchReport) -> str:
    """Topics by state, and their total usage."""
    costs = [row.cost for row in report.rows]
    total = None if any(cost is None for cost in costs) else sum(cost for cost in costs if cost is not None)
    tokens_in = amount(sum(row.tokens_in for row in report.rows))
    tokens_out = amount(sum(row.tokens_out for row in report.rows))
    usage = f"{counted(sum(row.calls for row in report.rows), 'call')}, {tokens_in} tokens in, {tokens_out} out"
    lines = [_state_counts(Counter(row.state for row in report.rows))]
    lines.append(f"{usage}, {dollars(total)}, {report.seconds:.0f} s")
    if report.repeated:
        lines.append(f"{report.repeated} repeated topics were written once")
    return "\n".join([str(report.folder), *(f"  {line}" for line in lines)])


def _state_counts(states: Mapping[State, int]) -> str:
    """``5 topics: 3 written, 2 failed``."""
    counts = ", ".join(f"{states[state]} {state}" for state in get_args(State) if states.get(state))
    return f"{sum(states.values())} topics: {counts}"


def _short_topic(row: TopicStatus) -> str:
    """The topic, shortened to fit a table."""
    topic = printable(row.request.topic)
    return topic if len(topic) <= _MAX_TOPIC_LENGTH else topic[: _MAX_TOPIC_LENGTH - 1] + "…"
