"""Progress of a batch on the terminal: a live bar per active topic, a line per finished one; and a summary."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from rich.console import Console

from storm_pipeline.interfaces.batch.topic_status import BatchReport, State, TopicStatus
from storm_pipeline.interfaces.progress.run_progress import Display, StageProgress
from storm_pipeline.run import events as ev
from storm_pipeline.text.formatting import amount, clock, dollars, printable, shorten, with_noun

SUMMARY_COLUMNS = ("topic", "state", "sections", "words", "references", "calls", "time", "cost", "folder or error")
_MAX_TOPIC_LENGTH = 40


class BatchProgress(Display):
    """A batch's sink that shows its progress; a context manager that restores the terminal."""

    def __init__(self, console: Console | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, now=now)
        self._states: dict[int, State] = {}
        self._topics: dict[int, tuple[TopicStatus, StageProgress]] = {}  # active topics

    def begin(self, folder: Path, rows: Sequence[TopicStatus]) -> None:
        """Record the states of the topics, and show their counts and the batch's folder."""
        with self.guard:
            self._states = {row.number: row.state for row in rows}
        self.show(f"{_state_counts(self._states)}, in {printable(str(folder))}")

    def event(self, number: int, event: ev.Event) -> None:
        """Update a topic with an event of its run, and print events that concern all topics."""
        with self.guard:
            if number in self._topics:
                self._take(number, event)
            line = self.download(event) if isinstance(event, ev.Downloading) else ""
            line = self.note(event.detail) if isinstance(event, ev.Noted) else line
        self.show(line)

    def row(self, row: TopicStatus) -> None:
        """Set and print the status of a topic."""
        with self.guard:
            self._states[row.number] = row.state
            if row.state == "running":
                self._topics[row.number] = row, self._topics.get(row.number, (row, StageProgress()))[1]
                self._draw(row.number)
            else:
                self._topics.pop(row.number, None)
                self.end_bar(row.number)
        self.show(self._line_of(row))

    def totals(self) -> str:
        """Return the elapsed time and the number of topics in each state."""
        return f"{self.elapsed()}  {_state_counts(self._states)}"

    def _take(self, number: int, event: ev.Event) -> None:
        row, so_far = self._topics[number]
        if event.stage == "sections" or isinstance(event, ev.CallFinished):
            so_far.take(event)
        if isinstance(event, ev.CallFinished):
            self._topics[number] = replace(row, cost=_sum(row.cost, event.cost)), so_far
        self._draw(number, event.stage)

    def _draw(self, number: int, stage: str = "") -> None:
        row, so_far = self._topics[number]
        bar = self.bar(number, f"{number} {_short_topic(row)}")
        bar.completed, bar.total = so_far.steps, so_far.total
        sections = f"{so_far.steps} of {so_far.total} sections" if so_far.total else ""
        used = with_noun(row.calls + so_far.calls, "call"), dollars(row.cost)
        bar.fields |= {"facts": ", ".join(filter(None, [sections, *used])), "label": stage}

    def _line_of(self, row: TopicStatus) -> str:
        where = f"{self.elapsed()} {row.number}/{len(self._states)} {printable(row.request.topic)}"
        took = f"{row.seconds:.0f} s, {with_noun(row.calls, 'call')}, {dollars(row.cost)}"
        match row.state:
            case "running":
                return f"{where} in {row.folder} ..." if row.folder and not self.is_live else ""
            case "written":
                return f"{where} written ({took}, {row.sections} sections, {row.references} references)"
            case "failed":
                return f"{where} failed ({took}): {printable(row.error)}"
        return f"{where} {row.state} ({took})"


def summary_rows(report: BatchReport) -> list[tuple[str, ...]]:
    """Return a row per topic with the cells of :data:`SUMMARY_COLUMNS`."""
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
    """Return a summary of a batch: topics by state, and total usage."""
    rows, total = report.rows, _sum(*(row.cost for row in report.rows))
    read, written = amount(sum(row.tokens_in for row in rows)), amount(sum(row.tokens_out for row in rows))
    usage = f"{with_noun(sum(row.calls for row in rows), 'call')}, {read} tokens in, {written} out"
    states = _state_counts({row.number: row.state for row in rows})
    lines = [states, f"{usage}, {dollars(total)}, {report.seconds:.0f} s"]
    lines += [f"{report.repeated} repeated topics were written once"] if report.repeated else []
    return "\n".join([str(report.folder), *(f"  {line}" for line in lines)])


def _sum(*costs: float | None) -> float | None:
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def _state_counts(states: Mapping[int, State]) -> str:
    """Return the number of topics in each state, such as ``5 topics: 3 written, 2 failed``."""
    numbers = Counter(states.values())
    counts = ", ".join(f"{numbers[state]} {state}" for state in get_args(State) if numbers[state])
    return f"{len(states)} topics: {counts}"


def _short_topic(row: TopicStatus) -> str:
    return shorten(printable(row.request.topic), _MAX_TOPIC_LENGTH)
