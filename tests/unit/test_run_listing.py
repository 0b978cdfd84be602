"""Runs below a folder, and the commands that tell of them."""

import errno
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import run_storm as command

from storm_pipeline import CallFinished, StageFinished
from storm_pipeline.interfaces import listing
from storm_pipeline.interfaces.batch import TopicRequest, TopicStatus
from storm_pipeline.interfaces.batch.batch_folder import BatchStore
from storm_pipeline.interfaces.batch.topics import State
from storm_pipeline.interfaces.listing import list_runs, run_entry, run_state
from storm_pipeline.run.events import Event, Failed, Noted, Reused, RunStarted, RunStopped, StageStarted
from storm_pipeline.run.folder import RunStore
from storm_pipeline.run.log import LogSink
from storm_pipeline.settings import Settings

BATCH: dict[str, State] = {"Jade": "written", "Salt": "failed", "Tin": "waiting"}


def call(cost: float | None = 0.25) -> CallFinished:
    return CallFinished("sections", "writer", "m", 1200, 400, 300, 1.0, cost)


@contextmanager
def a_run(root: Path, topic: str, *events: Event, status: str = "", created: float | None = None) -> Iterator[Path]:
    """A run that this process holds while the block runs; ``status`` is how it ended, if it did."""
    with RunStore.create(root, topic, "storm") as run:
        run.begin(Settings.build({}))
        log = LogSink(run.folder)
        for event in (RunStarted("run", topic, str(run.folder)), *events):
            log.emit(event)
        run.update_state(created=created or time.time())
        if status:
            run.end(status)
        yield run.folder


def made(root: Path, topic: str, *events: Event, status: str = "", created: float | None = None) -> Path:
    """As :func:`a_run`, and let go of."""
    with a_run(root, topic, *events, status=status, created=created) as folder:
        return folder


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {p.name: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.iterdir() if p.is_file()}


def test_runs_are_listed_with_how_each_stands(tmp_path: Path) -> None:
    now = time.time()
    made(tmp_path, "Amber", call(), status="finished", created=now - 3 * 86_400)
    made(tmp_path, "Brass", call(None), status="stopped", created=now - 3 * 3600)
    made(tmp_path, "Cedar", call(0.0), created=now - 120)
    made(tmp_path, "Dates", call(), status="failed", created=now - 90 * 60)
    with a_run(tmp_path, "Ebony", call(), call()):
        entries = list_runs(tmp_path)
        shown = command("runs", "--out", tmp_path)
    assert [(e.topic, e.state) for e in entries] == [
        *(("Ebony", "running"), ("Cedar", "interrupted"), ("Dates", "failed"), ("Brass", "stopped")),
        ("Amber", "finished"),
    ]
    lines = shown.stdout.splitlines()
    assert lines[0].split() == ["state", "age", "sessions", "calls", "tokens", "cost", "topic", "and", "folder"]
    rows = [line.split() for line in lines[1::2]]
    assert rows[0].pop(1).isdigit()  # seconds of this test
    assert rows == [
        ["running", "s", "1", "2", "3.0k", "$0.50", "Ebony"],
        ["interrupted", "2", "min", "1", "1", "1.5k", "$0.00", "Cedar"],
        ["failed", "1", "h", "1", "1", "1.5k", "$0.25", "Dates"],
        ["stopped", "3", "h", "1", "1", "1.5k", "unknown", "Brass"],
        ["finished", "3", "d", "1", "1", "1.5k", "$0.25", "Amber"],
    ]
    assert [line.strip() for line in lines[2::2]] == [str(entry.folder) for entry in entries]


@pytest.mark.parametrize(
    ("name", "content", "state", "told"),
    [
        ("run.json", None, "no run", "it has no run.json"),
        ("run.json", b"{", "unreadable", "is damaged"),
        ("run.json", b"\xff\xfe", "unreadable", "is damaged"),
        ("run.json", b'{"format": 99}', "unreadable", "newer version"),
        ("run.json", b'{"format": 1, "topic": 4}', "unreadable", "'topic' is missing"),
        ("events.jsonl", None, "finished", "no events.jsonl"),
        ("events.jsonl", b'{"event": "CallFinished", "at": 1, "tokens_in": "x"}\n', "finished", ""),
        ("events.jsonl", b"\x00\xff{[", "finished", ""),
    ],
)
def test_what_is_no_run_or_is_damaged_is_told_in_its_row(
    tmp_path: Path, name: str, content: bytes | None, state: str, told: str
) -> None:
    path = made(tmp_path, "Amber", call(), status="finished") / name
    path.unlink() if content is None else path.write_bytes(content)
    made(tmp_path, "Brass", call(), status="finished")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "a file").touch()
    shown = command("runs", "--out", tmp_path)
    assert shown.exit_code == 0
    assert len(shown.stdout.splitlines()) >= 3
    assert "Brass" in shown.stdout
    entry = run_entry(path.parent)
    assert entry.state == state
    assert told in entry.problem
    assert len(json.loads(command("runs", "--out", tmp_path, "--json").stdout)) == 2


def a_batch(root: Path, created: float) -> Path:
    """A batch of three topics, two of which have runs."""
    rows = [TopicStatus(n, TopicRequest(topic), state) for n, (topic, state) in enumerate(BATCH.items(), 1)]
    with BatchStore.create(root, "roads", rows, settings={}, repeated=0) as store:
        made(store.folder, "Jade", call(), status="finished", created=created + 1)
        made(store.folder, "Salt", call(), status="failed", created=created + 2)
    path = store.folder / "batch.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"created": created}), encoding="utf-8")
    return store.folder


def test_a_run_that_ends_while_looked_at_was_not_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunStore.create(tmp_path, "Jade", "storm") as run:
        run.begin(Settings.build({}))
        LogSink(run.folder)

        def held(folder: Path) -> bool:
            run.end("stopped")
            return False

        monkeypatch.setattr(listing, "is_held", held)
        assert run_state(run.folder) == "stopped"
        run.begin(Settings.build({}))
        assert run_entry(run.folder).state == "stopped"


def test_a_run_that_renames_its_files_was_not_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with RunStore.create(tmp_path, "Jade", "storm") as run:
        run.begin(Settings.build({}))
        (run.folder / "piece").write_text("being written")
        is_file = Path.lstat

        def renamed(path: Path) -> os.stat_result:
            """Whether it is a file is asked of one that is gone a moment later."""
            if path.name == "piece":
                raise FileNotFoundError(errno.ENOENT, "gone", str(path))
            return is_file(path)

        monkeypatch.setattr(Path, "lstat", renamed)
        assert run_state(run.folder) == "running"


def test_a_batch_is_listed_with_its_runs(tmp_path: Path) -> None:
    now = time.time()
    made(tmp_path, "Amber", call(), status="finished", created=now - 300)
    batch = a_batch(tmp_path, now - 200)
    made(tmp_path, "Brass", call(), status="finished", created=now - 100)
    before = files(batch)
    entries = list_runs(tmp_path)
    assert [(entry.state, entry.topic) for entry in entries] == [
        *(("finished", "Brass"), ("failed", "Salt"), ("finished", "Jade")),
        *(("batch", "3 topics: 1 written, 1 failed, 1 waiting"), ("finished", "Amber")),
    ]
    shown = command("runs", "--out", tmp_path)
    assert (shown.exit_code, str(batch) in shown.stdout) == (0, True)
    assert len(json.loads(command("runs", "--out", tmp_path, "--json").stdout)) == 5
    assert [entry.topic for entry in list_runs(batch)] == ["Salt", "Jade"]
    asked = command("show", batch)
    assert (asked.exit_code, f"storm runs --out {batch}" in asked.stderr) == (1, True)
    assert files(batch) == before
    (batch / "batch.json").write_text("{", "utf-8")
    *runs, last = list_runs(tmp_path)
    assert [entry.topic for entry in runs] == ["Brass", "Salt", "Jade", "Amber"]
    assert (last.state, "is damaged" in last.problem) == ("unreadable", True)
    assert command("runs", "--out", tmp_path).exit_code == 0


def test_of_a_lock_that_may_not_be_tried_nothing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path, "Amber", call())
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert run_entry(folder).state == "unclear"
    (folder / "run.lock").unlink()
    assert run_entry(folder).state == "interrupted"
    assert not (folder / "run.lock").exists()


def sessions_of(root: Path) -> Path:
    """Stopped, gone on with, and then killed while a line was written."""
    folder = made(
        root,
        "Silk Road",
        StageStarted("sections"),
        call(),
        Failed("sections", "section 'B': no\treply"),
        Failed("sections", "section 'B': no\treply"),
        StageFinished("sections", 4.0),
        RunStopped("run", 5.0, "stopped; what was finished is saved"),
        RunStarted("run", "Silk Road", "", 2),
        StageStarted("set-up"),
        Noted("set-up", "changed since the last session: turns"),
        StageFinished("set-up", 1.0),
        StageStarted("sections"),
        Reused("sections", "reply"),
        call(None),
    )
    with (folder / "events.jsonl").open("ab") as file:
        file.write(b'{"event": "CallFinished", "at": 17')
    return folder


def test_show_tells_sessions_stages_and_roles(tmp_path: Path) -> None:
    shown = command("show", sessions_of(tmp_path))
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("Silk Road: interrupted, in ")
    assert [line.split(", ")[-1] for line in lines if line.startswith("session ")] == [
        "stopped: stopped; what was finished is saved",
        "interrupted",
    ]
    stages = [line.split() for line in lines if line.startswith(("sections", "set-up", "  writer"))]
    assert stages == [
        ["sections", "0:00", "0:04", "1", "800", "400", "300", "$0.25"],
        ["writer", "0:01", "1", "800", "400", "300", "$0.25"],
        ["set-up", "0:00", "0:01"],
        ["sections", "0:00", "0:00,", "cut", "off", "1", "800", "400", "300", "unknown", "1"],
        ["writer", "0:01", "1", "800", "400", "300", "unknown"],
    ]
    assert "failure in sections: section 'B': no reply (2 times)" in lines
    assert "note: changed since the last session: turns" in lines
    record = json.loads(command("show", tmp_path / lines[0].rpartition("/")[2], "--json").stdout)
    assert (record["state"], record["topic"], record["usage"]["calls"]) == ("interrupted", "Silk Road", 2)
    assert [session["ending"] for session in record["timeline"]] == ["stopped", "interrupted"]
    assert [session["usage"]["cost"] for session in record["timeline"]] == [0.25, None]
    assert record["timeline"][0]["stages"][0]["rows"][0]["role"] == "writer"
    assert record["rows"][0]["calls"] == 2
    for fact in ("2 sessions", "2 calls", "1.6k fresh", "800 cached", "600 written", "cost unknown", "1 reused"):
        assert fact in lines[-1]


def test_no_runs(tmp_path: Path) -> None:
    shown = command("runs", "--out", tmp_path / "none")
    assert (shown.exit_code, shown.stdout) == (0, "")
    assert "no runs in" in shown.stderr
    assert json.loads(command("runs", "--out", tmp_path, "--json").stdout) == []
    shown = command("show", tmp_path)
    assert (shown.exit_code, "has no events.jsonl" in shown.stderr) == (1, True)


@pytest.mark.parametrize(
    "before", [b"", b"\n", b'{"event": "Noted", "at": 1, "stage": "", "detail": "x"}\n', b'{"event']
)
def test_a_session_begins_its_events_on_a_line_of_their_own(tmp_path: Path, before: bytes) -> None:
    (tmp_path / "events.jsonl").write_bytes(before)
    log = LogSink(tmp_path)
    log.emit(Noted("run", "later"))
    lines = (tmp_path / "events.jsonl").read_bytes().splitlines()
    assert lines[:-1] == before.splitlines()
    assert json.loads(lines[-1])["detail"] == "later"
