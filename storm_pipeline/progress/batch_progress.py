"""A batch on the terminal: a live bar per topic, or a line as each topic starts and ends; and its summary."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from rich.console import Console
from rich.progress import Task

from storm_pipeline.batch.topic_status import BatchReport, State, TopicStatus
from storm_pipeline.progress.display import Display
from storm_pipeline.run import events as ev
from storm_pipeline.text.formatting import amount, clock, counted, dollars, printable

SUMMARY_COLUMNS = ("topic", "state", "sections", "words", "references", "calls", "time", "cost", "folder or error")
_MAX_TOPIC_LENGTH = 40


@dataclass
class _Topic:
    """A topic that has begun: its latest status, and what its run has done since."""

    row: TopicStatus
    stages: list[str] = field(default_factory=list)
    calls: int = 0
    cost: float | None = 0.0

    def facts(self, bar: Task) -> str:
        row = self.row
        if row.state == "running":
            sections = f"{bar.completed:.0f} of {bar.total:.0f} sections" if bar.total else ""
            used = counted(row.calls + self.calls, "call"), dollars(_sum(row.cost, self.cost))
            return ", ".join(filter(None, ["running", *self.stages, sections, *used]))
        sections = counted(row.sections, "section") if row.sections else ""
        return ", ".join(filter(None, [row.state, sections, counted(row.calls, "call"), dollars(row.cost)]))


class BatchProgress(Display):
    """A batch's sink that shows its progress; a context manager that restores the terminal."""

    def __init__(self, console: Console | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, now)
        self._states: dict[int, State] = {}
        self._topics: dict[int, _Topic] = {}  # those that have begun, the latest to begin or end last

    def begin(self, folder: Path, rows: Sequence[TopicStatus]) -> None:
        """The batch starts or is resumed."""
        with self.guard:
            self._states = {row.number: row.state for row in rows}
        self.show(f"{_state_counts(Counter(self._states.values()))}, in {printable(str(folder))}")

    def event(self, number: int, event: ev.Event) -> None:
        """Update a topic with an event of its run, and print what concerns all topics."""
        with self.guard:
            if topic := self._topics.get(number):
                self._take(topic, event)
            line = self.download(event) if isinstance(event, ev.Downloading) else ""
            line = self.note(event.detail) if isinstance(event, ev.Noted) else "" if self.is_live else line
        self.show(line)

    def row(self, row: TopicStatus) -> None:
        """Set the status of a topic; without live bars, print it."""
        with self.guard:
            self._states[row.number] = row.state
            topic = self._topics.pop(row.number, _Topic(row))
            topic.row, self._topics[row.number] = row, topic
            bar = self.bar(row.number, f"{row.number} {_short_topic(row)}")
            bar.fields |= {"facts": topic.facts(bar), "label": printable(row.error)}
            if row.state != "running":
                bar.stop_time, bar.completed, bar.total = self.get_time(), 1, 1
        if not self.is_live:
            self.show(self._line_of(row))

    def totals(self) -> str:
        """The time, and the topics by state."""
        return f"{self.elapsed()}  {_state_counts(Counter(self._states.values()))}"

    def drawn(self) -> Sequence[Task]:
        """As many topics as there is room for: those under way, then the latest that ended; and downloads."""
        ended = [number for number, topic in self._topics.items() if topic.row.state != "running"]
        room = max(1, self.console.height - 3) - len(self._topics) + len(ended)
        hidden = set(ended[: max(0, len(ended) - max(0, room))])
        return [bar for key, bar in self._bars.items() if key not in hidden]

    def _take(self, topic: _Topic, event: ev.Event) -> None:
        bar = self._bars[topic.row.number]
        match event:
            case ev.StageStarted():
                topic.stages.append(event.stage)
                bar.total = event.total if event.stage == "sections" else bar.total
            case ev.StageFinished():
                topic.stages = [stage for stage in topic.stages if stage != event.stage]
            case ev.StageAdvanced(stage="sections"):
                bar.completed += 1
            case ev.CallFinished():
                topic.calls, topic.cost = topic.calls + 1, _sum(topic.cost, event.cost)
        bar.fields["facts"] = topic.facts(bar)

    def _line_of(self, row: TopicStatus) -> str:
        where = f"{self.elapsed()} {row.number}/{len(self._states)} {printable(row.request.topic)}"
        took = f"{row.seconds:.0f} s, {counted(row.calls, 'call')}, {dollars(row.cost)}"
        match row.state:
            case "running":
                return f"{where} in {row.folder} ..." if row.folder else ""
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
    rows, total = report.rows, _sum(*(row.cost for row in report.rows))
    read, written = amount(sum(row.tokens_in for row in rows)), amount(sum(row.tokens_out for row in rows))
    usage = f"{counted(sum(row.calls for row in rows), 'call')}, {read} tokens in, {written} out"
    lines = [_state_counts(Counter(row.state for row in rows)), f"{usage}, {dollars(total)}, {report.seconds:.0f} s"]
    lines += [f"{report.repeated} repeated topics were written once"] if report.repeated else []
    return "\n".join([str(report.folder), *(f"  {line}" for line in lines)])


def _sum(*costs: float | None) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _state_counts(states: Mapping[State, int]) -> str:
    """``5 topics: 3 written, 2 failed``."""
    counts = ", ".join(f"{states[state]} {state}" for state in get_args(State) if states.get(state))
    return f"{sum(states.values())} topics: {counts}"


def _short_topic(row: TopicStatus) -> str:
    """The topic, shortened to fit a table."""
    topic = printable(row.request.topic)
    return topic if len(topic) <= _MAX_TOPIC_LENGTH else topic[: _MAX_TOPIC_LENGTH - 1] + "…"
