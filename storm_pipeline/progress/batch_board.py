"""What a batch's progress looks like at one moment: a line a topic, as far as they fit, and its drawing."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import get_args

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from storm_pipeline.batch.topic_status import State, TopicStatus
from storm_pipeline.progress.batch_summary import shortened
from storm_pipeline.run.events import CallFinished, Downloading, Event, StageAdvanced, StageFinished, StageStarted
from storm_pipeline.text.display import clock, dollars, printable

_MOST_LINES = 200
_COLUMNS = ("topic", "state", "stage", "sections", "calls", "time", "cost", "")
_STYLES = {"running": "bold", "failed": "bold yellow", "waiting": "dim", "stopped": "yellow"}


@dataclass
class Line:
    """One topic in the picture; times in seconds of the board's clock."""

    row: TopicStatus
    began: float
    stages: list[str] = field(default_factory=list)
    note: str = ""
    sections: int = 0
    of_sections: int | None = None
    calls: int = 0
    cost: float | None = 0.0

    def take(self, event: Event) -> None:
        """Bring the line up to date with an event of its run."""
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


class BatchBoard:
    """The picture, kept up to date. Memory does not grow with the topics that have ended."""

    def __init__(self, rows: Sequence[TopicStatus], now: float) -> None:
        self.started = now
        self._total = len(rows)
        self._states = Counter(row.state for row in rows)
        self._running: dict[int, Line] = {}
        self._ended: deque[TopicStatus] = deque(maxlen=_MOST_LINES)
        # those that have not had their turn, as far as they can ever be in sight, beside those that were done before
        self._before = {row.number: row for row in rows} if len(rows) <= _MOST_LINES else {}
        self._state_of = {row.number: row.state for row in rows}

    def stands(self, row: TopicStatus, now: float) -> None:
        """A topic stands differently now."""
        self._states[self._state_of[row.number]] -= 1
        self._state_of[row.number] = row.state
        self._states[row.state] += 1
        self._before.pop(row.number, None)
        if row.state == "running":
            line = self._running.setdefault(row.number, Line(row, now, calls=row.calls, cost=row.cost))
            line.row = row
        else:
            self._running.pop(row.number, None)
            self._ended.append(row)

    def take(self, number: int, event: Event) -> None:
        """Something happened in the run of a topic."""
        if line := self._running.get(number):
            line.take(event)

    def counts(self) -> str:
        """How many topics stand how."""
        return ", ".join(f"{self._states[state]} {state}" for state in get_args(State) if self._states[state])

    def draw(self, now: float, height: int) -> RenderableType:
        """At most ``height`` lines: those that run, then the last that ended, then others; the counts below."""
        table = Table(*_COLUMNS, box=None, pad_edge=False, padding=(0, 2, 0, 0), expand=True, header_style="dim")
        for column in table.columns:
            column.no_wrap, column.overflow = True, "ellipsis"
        table.columns[-1].ratio = 1
        cells = self._cells(now)
        for number in sorted(list(cells)[: max(1, height - 2)]):
            style, texts = cells[number]
            table.add_row(*(Text(text) for text in texts), style=style)
        total = f"{clock(now - self.started)}  {self._total} topics: {self.counts()}"
        return Group(table, Text(total, style="bold", no_wrap=True, overflow="ellipsis"))

    def _cells(self, now: float) -> dict[int, tuple[str, tuple[str, ...]]]:
        """Style and texts by number, the most wanted first."""
        found = {number: ("bold", _of_line(line, now)) for number, line in self._running.items()}
        still: Iterable[TopicStatus] = (*reversed(self._ended), *self._before.values())
        for row in still:
            found.setdefault(row.number, (_STYLES.get(row.state, ""), _of_row(row)))
        return found


def _of_line(line: Line, now: float) -> tuple[str, ...]:
    sections = f"{line.sections} of {line.of_sections}" if line.of_sections else ""
    stage = ", ".join(line.stages)
    return (
        shortened(printable(line.row.request.topic)),
        "running",
        stage,
        sections,
        str(line.calls),
        clock(now - line.began),
        dollars(line.cost),
        printable(line.note),
    )


def _of_row(row: TopicStatus) -> tuple[str, ...]:
    topic, sections = shortened(printable(row.request.topic)), str(row.sections or "")
    took = ("", "", "") if row.state == "waiting" else (str(row.calls), clock(row.seconds), dollars(row.cost))
    return (topic, row.state, "", sections, *took, printable(row.error))
