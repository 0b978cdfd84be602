"""What a run's progress looks like at one moment: a picture kept up to date by events, and its drawing."""

import re
from collections import Counter
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from storm_pipeline.run.events import (
    CallFinished,
    Degraded,
    Event,
    Failed,
    Retried,
    Reused,
    RunStarted,
    Searched,
    StageAdvanced,
    StageFinished,
    StageStarted,
)
from storm_pipeline.text.display import amount, clock, printable

_UNITS = {"conversations": "turns", "sections": "sections"}
_LONGEST_LABEL = 200
_LONGEST_NOTE = 300
_MOST_NOTES = 30
_BAR_WIDTH = 20


@dataclass
class Bar:
    """A stage or a download: how far it is and since when; ``seconds`` is None while it goes on."""

    name: str
    started: float
    total: int | None = None
    done: int = 0
    reused: int = 0
    label: str = ""
    seconds: float | None = None
    running: int = 1
    in_bytes: bool = False

    def count(self) -> str:
        """How far it is, in words; empty when nothing is counted."""
        if self.in_bytes:
            return f"{self.done / 1e6:.0f} of {(self.total or 0) / 1e6:.0f} MB"
        unit = _UNITS.get(self.name, "steps")
        steps = f"{self.done} {unit}" if self.done else ""
        if self.total is not None:
            steps = f"{self.done} of at most {self.total} {unit}"
        return ", ".join(filter(None, [steps, f"{self.reused} reused" if self.reused else ""]))


class Notes:
    """Lines about what went wrong: alike ones are shown once and counted, and there is an end to them."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def add(self, text: str) -> str | None:
        """The line to show now, or None where one like it (numbers aside) was shown, or enough were."""
        line = printable(text)
        kind = re.sub(r"\d+", "0", line)
        self._seen[kind] += 1
        if kind in self._first or len(self._first) >= _MOST_NOTES:
            return None
        self._first[kind] = line if len(line) <= _LONGEST_NOTE else line[: _LONGEST_NOTE - 3] + "..."
        return self._first[kind]

    def repeated(self) -> list[str]:
        """What to say at the end about lines that came more than once or were not shown."""
        again = [(self._seen[kind], line) for kind, line in self._first.items() if self._seen[kind] > 1]
        lines = [f"{times} times: {line}" for times, line in again]
        unseen = sum(times for kind, times in self._seen.items() if kind not in self._first)
        return [*lines, f"and {unseen} more"] if unseen else lines


@dataclass
class Board:
    """The picture: totals of the run and a bar a stage. ``now`` is in seconds, always of the same clock.

    A run that goes on in another session keeps its totals, and the time between the sessions does not count.
    """

    started: float
    topic: str = ""
    folder: str = ""
    bars: dict[str, Bar] = field(default_factory=dict)
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    sources: int = 0
    retries: int = 0
    reused: int = 0
    problems: int = 0
    last: float | None = None

    def take(self, event: Event, now: float) -> None:
        """Bring the picture up to date with one event."""
        match event:
            case RunStarted():
                self._begin_session(event, now)
            case StageStarted():
                self._begin(event, now)
            case StageAdvanced():
                self._advance(event, now)
            case StageFinished():
                self._finish(event, now)
            case CallFinished():
                self.calls += 1
                self.tokens_in += event.tokens_in
                self.tokens_out += event.tokens_out
            case Searched():
                self.sources = max(self.sources, event.sources)
            case Retried():
                self.retries += 1
            case Reused():
                self.reused += 1
                if event.stage in self.bars:
                    self.bars[event.stage].reused += 1
            case Degraded() | Failed():
                self.problems += 1
            case _:
                pass
        self.last = now

    def goes_on(self, event: RunStarted) -> bool:
        """Whether it is another session of the run that is shown."""
        return event.session > 1 and bool(event.folder) and event.folder == self.folder

    def download(self, name: str, done: int, total: int, now: float) -> Bar:
        """Note how far a download is; sizes in bytes."""
        bar = self.bars.setdefault(name, Bar(name, now, in_bytes=True))
        bar.done, bar.total = done, total
        bar.seconds = now - bar.started if done >= total else None
        return bar

    def totals(self, now: float) -> str:
        """The run in one line: topic, time, calls, tokens, sources; what was reused, retries and problems, if any."""
        parts = [f"{self.topic or 'starting'}  {clock(now - self.started)}"]
        if self.topic:
            tokens = f"{amount(self.tokens_in)} tokens in, {amount(self.tokens_out)} out"
            parts += [f"{self.calls} calls", tokens, f"{self.sources} sources"]
        counted = ((self.reused, "reused"), (self.retries, "retries"), (self.problems, "problems"))
        parts += [f"{n} {word}" for n, word in counted if n]
        return ", ".join(parts)

    def draw(self, now: float) -> RenderableType:
        """A bar a line, the totals below."""
        table = Table.grid(padding=(0, 1))
        for _ in range(4):
            table.add_column(no_wrap=True, overflow="ellipsis")
        table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        table.expand = True
        for bar in list(self.bars.values()):
            table.add_row(Text(bar.name), _picture(bar), *_texts(bar, now))
        return Group(table, Text(self.totals(now), style="bold", no_wrap=True, overflow="ellipsis"))

    def _begin_session(self, event: RunStarted, now: float) -> None:
        if self.goes_on(event):
            self.bars = {name: bar for name, bar in self.bars.items() if bar.in_bytes}
            self.problems = 0  # those that are still there are told again
            self.started += now - (now if self.last is None else self.last)
        self.topic, self.folder = printable(event.topic), event.folder

    def _begin(self, event: StageStarted, now: float) -> None:
        bar = self.bars.get(event.stage)
        if bar is None:
            self.bars[event.stage] = Bar(event.stage, now, event.total)
            return
        # runs in several threads share a sink: their stages of one name share a bar
        bar.total = None if bar.total is None or event.total is None else bar.total + event.total
        bar.running += 1
        bar.seconds = None

    def _advance(self, event: StageAdvanced, now: float) -> None:
        bar = self.bars.setdefault(event.stage, Bar(event.stage, now))
        bar.done += 1
        bar.label = printable(event.label)[:_LONGEST_LABEL]

    def _finish(self, event: StageFinished, now: float) -> None:
        bar = self.bars.setdefault(event.stage, Bar(event.stage, now - event.seconds))
        bar.running = max(0, bar.running - 1)
        if not bar.running:
            bar.seconds, bar.label = now - bar.started, ""


def _picture(bar: Bar) -> ProgressBar:
    if bar.seconds is not None:
        return ProgressBar(total=1, completed=1, width=_BAR_WIDTH)
    return ProgressBar(total=bar.total, completed=bar.done, width=_BAR_WIDTH, pulse=bar.total is None)


def _texts(bar: Bar, now: float) -> tuple[Text, Text, Text]:
    ended = bar.seconds is not None
    seconds = now - bar.started if bar.seconds is None else bar.seconds
    count = Text(bar.count(), style="dim" if ended else "")
    return count, Text(clock(seconds), style="dim"), Text(bar.label, style="dim")
