"""The progress display of a run and that of a batch, on a terminal and elsewhere."""

import io
import re
import unicodedata
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from strategies import happenings

from storm_pipeline import CallFinished, RunFinished, RunStarted, StageAdvanced, StageStarted
from storm_pipeline.interfaces.batch import TopicRequest, TopicStatus
from storm_pipeline.interfaces.batch.progress import BatchProgress
from storm_pipeline.interfaces.progress import ProgressSink
from storm_pipeline.run.events import Degraded, Downloading, Event, Events, Noted, Retried, Reused, RunStopped, Searched

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
CALL = CallFinished("conversations", "asker", "m", 1000, 0, 250, 1.0, None)


def console(*, terminal: bool, width: int = 120) -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    made = Console(
        file=stream, force_terminal=terminal, width=width, height=40, legacy_windows=False, _environ={"TERM": "xterm"}
    )
    return made, stream


class Clock:
    """A clock that a test sets."""

    def __init__(self, time: float = 0.0) -> None:
        self.time = time

    def __call__(self) -> float:
        return self.time


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def run_of(sink: ProgressSink) -> None:
    events = Events(sink)
    events.emit(RunStarted("run", "Silk Road", "runs/silk-road"))
    events.emit(Noted("set-up", "searching with brave, since there is a value in BRAVE_API_KEY"))
    events.emit(Searched("conversations", "brave", "silk of Mars", 0, 3, 0.1))
    with events.in_stage("conversations", total=30):
        with events.in_stage("perspectives"):
            events.emit(CALL)
        for turn in range(22):
            events.emit(Searched("conversations", "wiki", "q", 3, turn + 4, 0.1))
            events.advance(f"Historian: what came in year {turn}?")
    with events.in_stage("sections", total=2):
        events.advance("Origins")
        events.failed("it", ValueError("section 'Legacy' could not be written"))
    events.emit(RunFinished("run", 12.0, "runs/silk-road"))


def drawn(board: ProgressSink) -> list[str]:
    made, stream = console(terminal=False, width=160)
    made.print(board.get_renderable())
    return [line.rstrip() for line in stream.getvalue().splitlines() if line.strip()]


def test_what_goes_on_is_shown_before_the_first_turn_is_done() -> None:
    board = ProgressSink(now=Clock())
    board.emit(StageStarted("conversations", 30))
    board.emit(CALL)
    assert "0 of at most 30 turns, 1 call" in drawn(board)[0] and "the asker replied" in drawn(board)[0]
    board.emit(Searched("conversations", "wiki", "old roads", 3, 3, 0.1))
    assert "searched for old roads" in drawn(board)[0]
    board.emit(StageAdvanced("conversations", "Historian: when?"))
    board.emit(Searched("conversations", "wiki", "new roads", 3, 3, 0.1))
    assert "Historian: when?" in drawn(board)[0]


@pytest.mark.parametrize("terminal", [True, False])
def test_alike_problems_are_shown_once_and_counted(terminal: bool) -> None:
    made, stream = console(terminal=terminal)
    with ProgressSink(made) as sink:
        for wait in range(50):
            sink.emit(Retried("sections", "gpt", f"rate limit, try again in {wait} s", float(wait)))
        sink.emit(Degraded("polish", "no reply"))
    text = plain(stream.getvalue())
    assert text.count("trying again: gpt: rate limit") == 2
    assert "50 times: trying again: gpt: rate limit" in text
    assert text.count("polish: no reply") == 1


@pytest.mark.parametrize("terminal", [True, False])
def test_downloads_are_bars_on_a_terminal_and_a_line_a_quarter_elsewhere(terminal: bool) -> None:
    made, stream = console(terminal=terminal)
    with ProgressSink(made) as sink:
        for percent in range(101):
            sink.downloading("model", percent * 1_000_000, 100_000_000)
    text = plain(stream.getvalue())
    assert "100 of 100 MB" in text
    assert terminal or len(text.splitlines()) == 5


def test_different_problems_have_an_end() -> None:
    made, stream = console(terminal=False)
    with ProgressSink(made) as sink:
        for number in range(100):
            sink.emit(Noted("run", "problem " + "x" * number))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 31
    assert lines[-1] == "and 70 more"


def test_a_full_disk_does_not_end_the_run() -> None:
    class Full(io.StringIO):
        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    with ProgressSink(Console(file=Full(), force_terminal=False)) as sink:
        run_of(sink)


HAPPENINGS = happenings(st.sampled_from(["conversations", "sections", "outline"]), st.text(max_size=80))


@given(st.lists(HAPPENINGS, max_size=12), st.integers(10, 150))
def test_any_events_in_any_order_are_shown_and_cannot_steer_the_terminal(events: list[Event], width: int) -> None:
    made, stream = console(terminal=False, width=width)
    board = ProgressSink(now=Clock())
    with ProgressSink(made) as sink:
        for event in events:
            sink.emit(event)
            board.emit(event)
        made.print(board.get_renderable())
    newer = (c for c in stream.getvalue() if unicodedata.category(c) != "Cn")  # than Python's tables
    assert all(c.isprintable() or c == "\n" for c in newer)


def resumed_run_of(sink: ProgressSink) -> None:
    """A run that is stopped, then gone on with."""
    events = Events(sink)
    events.emit(RunStarted("run", "Silk Road", "runs/x"))
    with events.in_stage("conversations", total=4):
        events.emit(CALL)
        events.advance("a")
        events.degraded("a page was not read")
    events.emit(RunStopped("run", 75.0, "stopped; what was finished is saved"))
    events.emit(RunStarted("run", "Silk Road", "runs/x", 2))
    with events.in_stage("conversations", total=4):
        events.emit(Reused("conversations", "reply"))
        events.emit(Reused("conversations", "search"))
        events.degraded("a page was not read")
        events.advance("a")
        events.emit(CALL)
        events.advance("b")
    events.emit(RunFinished("run", 3.0, "runs/x"))


FACTS: dict[Callable[[ProgressSink], None], tuple[str, ...]] = {
    run_of: (
        *("Silk Road", "conversations", "22 of at most 30 turns", "perspectives", "1 of at most 2 sections"),
        *("searching with brave, since there is a value in BRAVE_API_KEY", "nothing found by brave for 'silk of Mars'"),
        *("25 sources", "1 call, ", "1.0k tokens in, 250 out", "section 'Legacy' could not be written", "1 problem, "),
    ),
    resumed_run_of: (
        *("stopped after 1:15", "session 2, resuming Silk Road in runs/x", "3 of at most 8 turns, 2 reused"),
        "2 problems, 0 sources, 2 calls, 2.0k tokens in, 500 out, 2 reused",
    ),
}


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("happens", FACTS)
def test_the_essential_facts_appear(happens: Callable[[ProgressSink], None], terminal: bool) -> None:
    made, stream = console(terminal=terminal)
    with ProgressSink(made) as sink:
        happens(sink)
    text = plain(stream.getvalue())
    assert [fact for fact in FACTS[happens] if fact not in text] == []
    assert "nothing found by wiki" not in text


PAID = CallFinished("sections", "writer", "m", 1000, 0, 50, 1.0, 0.25)


def row(number: int, state: str = "waiting", **facts: object) -> TopicStatus:
    return TopicStatus(number, TopicRequest(f"Topic {number}"), state, **facts)  # type: ignore[arg-type]


def board(*rows: TopicStatus, height: int = 20, now: Clock | None = None) -> BatchProgress:
    made = BatchProgress(Console(file=io.StringIO(), width=160, height=height, markup=False), now=now or Clock())
    made.begin(Path("runs/x"), rows)
    return made


def board_drawn(made: BatchProgress) -> list[str]:
    with made.console.capture() as capture:
        made.console.print(made.get_renderable())
    return [" ".join(line.translate(str.maketrans("", "", "━╸╺")).split()) for line in capture.get().splitlines()]


def test_a_line_a_topic_tells_how_it_stands() -> None:
    clock = Clock()
    made = board(row(1), row(2), row(3), row(4, "written", calls=9, seconds=61.0, sections=5), now=clock)
    clock.time = 10.0
    made.row(row(1, "running", calls=1, cost=0.25))
    for event in (StageStarted("sections", 8), StageAdvanced("sections", "History"), PAID, PAID):
        made.event(1, event)
    made.row(row(2, "running"))
    made.row(row(2, "failed", error="no\x1b[2J reply", cost=None))
    made.row(row(3, "running"))
    made.row(row(3, "written", sections=5, calls=9))
    clock.time = 70.0
    assert board_drawn(made) == [
        "1 Topic 1 1 of 8 sections, 3 calls, $0.75 0:01:00 -:--:-- sections",
        "1:10 4 topics: 2 written, 1 running, 1 failed",
    ]


def test_what_runs_is_in_sight_however_many_topics_there_are() -> None:
    made = board(*(row(n) for n in range(1, 501)), height=9)
    for n in range(1, 401):
        made.row(row(n, "running"))
        if n not in {7, 200}:
            made.row(row(n, "written"))
    lines = board_drawn(made)
    assert [line.split()[0] for line in lines[:-1]] == ["7", "200"]
    assert "500 topics: 398 written, 2 running, 100 waiting" in lines[-1]


def test_without_a_terminal_there_are_lines() -> None:
    text = io.StringIO()
    with BatchProgress(Console(file=text, width=40, markup=False), now=lambda: 5.0) as progress:
        progress.begin(Path("runs/x"), [row(1), row(2)])
        progress.row(row(1, "running"))
        progress.row(row(1, "running", folder="topic-1-now"))
        progress.event(1, Noted("run", "searching with wiki-leads"))
        progress.event(2, Noted("run", "searching with wiki-leads"))
        progress.event(1, Downloading("set-up", "model", 0, 4_000_000))
        progress.event(1, Downloading("set-up", "model", 1_000_000, 4_000_000))
        progress.row(row(1, "written", calls=3, seconds=9.6, cost=0.5, sections=2, references=7))
        progress.row(row(2, "failed", error="the model\x1b[2J is down", cost=None))
        progress.row(row(2, "stopped"))
    assert text.getvalue().splitlines() == [
        *("2 topics: 2 waiting, in runs/x", "0:00 1/2 Topic 1 in topic-1-now ...", "searching with wiki-leads"),
        *("0:00 downloading model: 0 of 4 MB", "0:00 downloading model: 1 of 4 MB"),
        "0:00 1/2 Topic 1 written (10 s, 3 calls, $0.50, 2 sections, 7 references)",
        "0:00 2/2 Topic 2 failed (0 s, 0 calls, unknown): the model [2J is down",
        "0:00 2/2 Topic 2 stopped (0 s, 0 calls, $0.00)",
    ]
    progress.row(row(1, "failed"))
    assert "Topic 1 failed" not in text.getvalue()


@pytest.mark.parametrize("failure", [None, RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("kind", [ProgressSink, BatchProgress])
def test_the_terminal_is_restored(kind: type[Any], failure: type[BaseException] | None) -> None:
    made, stream = console(terminal=True)
    with pytest.raises(failure) if failure else nullcontext(), kind(made) as shown:
        if isinstance(shown, BatchProgress):
            shown.begin(Path("runs/x"), [row(1)])
            shown.row(row(1, "running", folder="topic-1-now"))
            shown.event(1, StageStarted("conversations"))
        else:
            shown.emit(StageStarted("conversations"))
        if failure:
            raise failure
    text = stream.getvalue()
    assert "conversations" in text
    assert text.count(HIDE) == text.count(SHOW) == 1
    assert text.index(HIDE) < text.index(SHOW)
