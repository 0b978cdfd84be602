"""Batches written by worker processes: the same articles, whatever dies, and nothing paid twice but calls in flight."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from llm import FakeModel
from test_batch import (
    FEW,
    TOPICS,
    CountingModel,
    Watch,
    answers,
    child,
    offline,
    options,
    requests,
    saved,
    texts,
)  # fmt: skip

import storm_pipeline
from storm_pipeline import Storm
from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.interfaces.batch import Batch, BatchReport, open_executor, resume_batch, write_batch
from storm_pipeline.run.events import Event, RunFinished, RunStarted
from storm_pipeline.run.replica import Disk
from storm_pipeline.settings import Settings

IN_FLIGHT = 2 * int(FEW["workers"])  # of two topics at once


def known(settings: Settings) -> Storm:
    """A Storm over the tests' world, in a process that leaves its number."""
    (settings.cache / "pids").mkdir(parents=True, exist_ok=True)
    (settings.cache / "pids" / str(os.getpid())).touch()
    return offline(settings)


def pids(tmp_path: Path) -> list[int]:
    return [int(path.name) for path in (tmp_path / "cache" / "pids").glob("*")]


def at(topic: str, act: Callable[[], None]) -> dict[str, Any]:
    """Answers of a model that does something once, when a query for a topic is asked for."""
    default, done = answers()["WriteQueries"], threading.Event()

    def queries(user: str) -> str:
        if topic in user and not done.is_set():
            done.set()
            act()
        return str(default(user))

    return answers() | {"WriteQueries": queries}


def spread(server: FakeModel, tmp_path: Path, topics: int = 3, **given: Any) -> BatchReport:
    """Write a batch by two processes."""
    with open_executor(processes=2, at_once=2) as executor:
        given = {"open_storm": known, "executor": executor} | options(server, tmp_path) | given
        return write_batch(requests(*TOPICS[:topics]), **given)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> BatchReport:
    """What threads write."""
    with FakeModel(answers()) as server:
        folder = tmp_path_factory.mktemp("whole")
        return write_batch(requests(*TOPICS[:3]), open_storm=offline, **options(server, folder))


def calls(report: BatchReport) -> int:
    return sum(row.calls for row in report.rows)


def test_processes_write_what_threads_write(whole: BatchReport, tmp_path: Path) -> None:
    watch = Watch()
    with FakeModel(answers()) as server:
        report = spread(server, tmp_path, sinks=[watch])
        assert len(server.asked) == calls(whole)
    assert texts(report) == texts(whole)
    plain = [[replace(row, folder="", seconds=0) for row in one.rows] for one in (report, whole)]
    assert plain[0] == plain[1]
    assert len(pids(tmp_path)) == 2
    assert os.getpid() not in pids(tmp_path)
    places = {event.folder for _, event in watch.events if isinstance(event, RunStarted | RunFinished)}
    assert places == {str(report.folder / row.folder) for row in report.rows}
    names = [{path.name for path in (one.folder / one.rows[0].folder).rglob("*")} for one in (report, whole)]
    assert names[0] == names[1]
    assert resume_batch(report.folder, open_storm=offline).all_written


def test_limits_hold_over_all_processes(tmp_path: Path) -> None:
    with CountingModel() as server:
        report = spread(server, tmp_path, process_workers=2, prices=["openai/fake=10/10"], batch_max_cost=0.06)
        assert server.most <= 2
    assert 0 < sum(row.cost or 0 for row in report.rows) <= 0.06
    assert report.refused == ("all 0.06 dollars of the batch are spent: raise --batch-max-cost",)
    assert {row.state for row in report.rows} <= {"written", "stopped", "waiting"}


def test_a_killed_worker_is_replaced_and_its_topic_goes_on(whole: BatchReport, tmp_path: Path) -> None:
    def kill() -> None:
        for pid in pids(tmp_path):
            os.kill(pid, signal.SIGKILL)

    with FakeModel(at("Silk Road", kill)) as server:
        report = spread(server, tmp_path)
        assert 0 <= len(server.asked) - calls(whole) <= IN_FLIGHT
    assert texts(report) == texts(whole)
    assert calls(report) == calls(whole)
    assert len([path for path in report.folder.iterdir() if path.is_dir()]) == 3


DRIVER = """
    import sys
    sys.path[:0] = [{tests!r}, {tests!r} + "/integration"]
    from test_batch_workers import FEW, known
    from storm_pipeline.interfaces.batch import open_executor, write_batch
    address, lm, out, cache, *topics = sys.argv[1:]
    place = dict(name="ray", address=address) if address else dict(processes=2)
    with open_executor(**place, at_once=2) as executor:
        write_batch(topics, open_storm=known, executor=executor, lm=lm, out=out, cache=cache, **FEW)
"""


def test_workers_end_with_a_killed_driver_and_the_batch_goes_on(whole: BatchReport, tmp_path: Path) -> None:
    def check_and_kill() -> None:
        (folder,) = (tmp_path / "runs").iterdir()
        with pytest.raises(RunError, match="another process"):
            resume_batch(folder, open_storm=offline, lm=server.lm)
        (run,) = folder.glob("salt-road-*")
        with pytest.raises(RunError, match="another process"):
            offline(Settings(lm=server.lm)).resume(run)
        driver.kill()

    with FakeModel(at("Salt Road", check_and_kill)) as server:
        folders = tmp_path / "runs", tmp_path / "cache"
        driver = child(DRIVER, "", server.lm, *folders, *TOPICS[:3])
        _, complaint = driver.communicate(timeout=120)
        assert driver.returncode == -signal.SIGKILL, complaint
        require_end(pids(tmp_path))
        (folder,) = (tmp_path / "runs").iterdir()
        assert saved(folder)["status"] == "running"
        report = resume_batch(folder, open_storm=offline, lm=server.lm)
        assert 0 <= len(server.asked) - calls(whole) <= IN_FLIGHT
    assert texts(report) == texts(whole)


def require_end(workers: list[int]) -> None:
    end = time.monotonic() + 20
    while any(is_alive(pid) for pid in workers):
        assert time.monotonic() < end, "workers outlive their driver"
        time.sleep(0.05)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] not in {"", "Z"}


def test_a_full_disk_of_the_driver_stops_the_runs_in_a_sentence(whole: BatchReport, tmp_path: Path) -> None:
    def fill() -> None:
        patch.setattr(Disk, "append", refuse)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with FakeModel(at("Road", fill)) as server, pytest.MonkeyPatch.context() as patch:
        report = spread(server, tmp_path, topics=2)
        patch.undo()
        for row in report.rows:
            assert row.state == "failed"
            assert row.error.startswith(f"cannot write {report.folder / row.folder}/")
            assert "No space left on device; free some space, then resume" in row.error
        again = resume_batch(report.folder, open_storm=offline, lm=server.lm)
        assert 0 <= len(server.asked) - calls(again) <= IN_FLIGHT
    assert texts(again) == {topic: text for topic, text in texts(whole).items() if topic in TOPICS[:2]}


def test_a_stopped_batch_of_processes_goes_on_and_asks_nothing_twice(whole: BatchReport, tmp_path: Path) -> None:
    box: list[Batch] = []

    def stop(watch: Watch, event: Event) -> None:
        if watch.calls >= 8:
            box[0].stop()

    with FakeModel(answers()) as server, open_executor(processes=2, at_once=2) as executor:
        given: dict[str, Any] = {"open_storm": known, "executor": executor}
        settings = Settings.build(options(server, tmp_path))
        with Batch.create(requests(*TOPICS[:3]), settings, sinks=[Watch(stop)], **given) as batch:
            box.append(batch)
            report = batch.run()
        assert report.stopped
        assert {row.state for row in report.rows} <= {"written", "stopped", "waiting"}
        again = resume_batch(report.folder, lm=server.lm, **given)
        assert len(server.asked) == calls(whole)
    assert texts(again) == texts(whole)


def test_workers_have_the_version_of_the_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storm_pipeline, "__version__", "0.0.1")
    with FakeModel(answers()) as server, pytest.raises(SettingsError, match=r"a worker has storm-pipeline .*0\.0\.1"):
        spread(server, tmp_path)
    assert not list((tmp_path / "runs").iterdir())


def test_what_workers_cannot_import_is_refused(tmp_path: Path) -> None:
    def local(settings: Settings) -> Storm:
        return offline(settings)

    with open_executor(processes=2) as executor, pytest.raises(SettingsError, match="open_storm must be a function of"):
        write_batch(["Silk Road"], open_storm=local, executor=executor, out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_workers_that_do_not_start_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with FakeModel(answers()) as server, pytest.raises(SettingsError, match="worker processes do not start"):
        spread(server, tmp_path)
