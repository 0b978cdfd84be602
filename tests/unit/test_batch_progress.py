"""What a batch shows on the terminal."""

import io
from pathlib import Path

from rich.console import Console
from test_run_progress import Clock

from storm_pipeline.interfaces.batch import TopicRequest, TopicStatus
from storm_pipeline.interfaces.progress.batch_progress import BatchProgress
from storm_pipeline.run.events import CallFinished, Downloading, Noted, StageAdvanced, StageStarted

CALL = CallFinished("sections", "writer", "m", 1000, 0, 50, 1.0, 0.25)


def row(number: int, state: str = "waiting", **facts: object) -> TopicStatus:
    return TopicStatus(number, TopicRequest(f"Topic {number}"), state, **facts)  # type: ignore[arg-type]


def board(*rows: TopicStatus, height: int = 20, now: Clock | None = None) -> BatchProgress:
    made = BatchProgress(Console(file=io.StringIO(), width=160, height=height, markup=False), now=now or Clock())
    made.begin(Path("runs/x"), rows)
    return made


def drawn(made: BatchProgress) -> list[str]:
    with made.console.capture() as capture:
        made.console.print(made.get_renderable())
    return [" ".join(line.translate(str.maketrans("", "", "━╸╺")).split()) for line in capture.get().splitlines()]


def test_a_line_a_topic_tells_how_it_stands() -> None:
    clock = Clock()
    made = board(row(1), row(2), row(3), row(4, "written", calls=9, seconds=61.0, sections=5), now=clock)
    clock.time = 10.0
    made.row(row(1, "running", calls=1, cost=0.25))
    for event in (StageStarted("sections", 8), StageAdvanced("sections", "History"), CALL, CALL):
        made.event(1, event)
    made.row(row(2, "running"))
    made.row(row(2, "failed", error="no\x1b[2J reply", cost=None))
    made.row(row(3, "running"))
    made.row(row(3, "written", sections=5, calls=9))
    clock.time = 70.0
    assert drawn(made) == [
        "1 Topic 1 1 of 8 sections, 3 calls, $0.75 0:01:00 -:--:-- sections",
        "1:10 4 topics: 2 written, 1 running, 1 failed",
    ]


def test_what_runs_is_in_sight_however_many_topics_there_are() -> None:
    made = board(*(row(n) for n in range(1, 501)), height=9)
    for n in range(1, 401):
        made.row(row(n, "running"))
        if n not in {7, 200}:
            made.row(row(n, "written"))
    lines = drawn(made)
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


def test_a_terminal_gets_a_table_and_is_left_as_it_was() -> None:
    text = io.StringIO()
    console = Console(file=text, width=100, height=12, force_terminal=True, markup=False, _environ={"TERM": "xterm"})
    with BatchProgress(console) as progress:
        progress.begin(Path("runs/x"), [row(1)])
        progress.row(row(1, "running", folder="topic-1-now"))
        progress.event(1, StageStarted("conversations"))
    shown = text.getvalue()
    assert "conversations" in shown
    assert shown.rstrip().endswith("\x1b[?25h")
