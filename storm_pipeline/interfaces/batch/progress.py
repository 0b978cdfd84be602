"""Progress of a batch on the terminal: a live bar per active topic, a line per finished one."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

from rich.console import Console

from storm_pipeline.interfaces.batch.topics import State, TopicStatus
from storm_pipeline.interfaces.progress import Display, StageProgress
from storm_pipeline.run import events as ev
from storm_pipeline.run.events import Event
from storm_pipeline.text.formatting import dollars, printable, shorten, with_noun


class BatchProgress(Display):
    """A batch's sink that shows its progress: a bar per active topic, a line per finished one."""

    def __init__(self, console: Console | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console, now=now)
        self._states: dict[int, State] = {}
        self._topics: dict[int, tuple[TopicStatus, StageProgress]] = {}  # active topics

    def begin(self, folder: Path, rows: Sequence[TopicStatus]) -> None:
        """Record the states of the topics, and show their counts and the batch's folder."""
        with self.guard:
            self._states = {row.number: row.state for row in rows}
        self.show(f"{state_counts(self._states.values())}, in {printable(str(folder))}")

    def event(self, number: int, event: Event) -> None:
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
        return f"{self.elapsed()}  {state_counts(self._states.values())}"

    def _take(self, number: int, event: Event) -> None:
        row, so_far = self._topics[number]
        if event.stage == "sections" or isinstance(event, ev.CallFinished):
            so_far.take(event)
        if isinstance(event, ev.CallFinished):
            cost = None if row.cost is None or event.cost is None else row.cost + event.cost
            self._topics[number] = replace(row, cost=cost), so_far
        self._draw(number, event.stage)

    def _draw(self, number: int, stage: str = "") -> None:
        row, so_far = self._topics[number]
        sections = f"{so_far.steps} of {so_far.total} sections" if so_far.total else ""
        used = with_noun(row.calls + so_far.calls, "call"), dollars(row.cost)
        name, facts = f"{number} {short_topic(row)}", ", ".join(filter(None, [sections, *used]))
        self.draw(number, name, so_far.steps, so_far.total, facts=facts, label=stage)

    def _line_of(self, row: TopicStatus) -> str:
        where = f"{self.elapsed()} {row.number}/{len(self._states)} {printable(row.request.topic)}"
        took = f"{row.seconds:.0f} s, {with_noun(row.calls, 'call')}, {dollars(row.cost)}"
        match row.state:
            case "running":
                return f"{where} in {row.folder} ..." if row.folder and not self.is_live else ""
            case "written":
                facts = f"{where} written ({took}, {row.sections} sections, {row.references} references)"
                return f"{facts}, but {printable(row.error)}" if row.error else facts
            case "failed":
                return f"{where} failed ({took}): {printable(row.error)}"
        return f"{where} {row.state} ({took})"


def state_counts(states: Iterable[State]) -> str:
    """Return the number of topics in each state, such as ``5 topics: 3 written, 2 failed``."""
    numbers = Counter(states)
    counts = (f"{numbers[state]} {state}" for state in get_args(State) if numbers[state])
    return f"{numbers.total()} topics: {', '.join(counts)}"


def short_topic(row: "TopicStatus") -> str:
    """Return the beginning of a topic."""
    return shorten(printable(row.request.topic), 40)
