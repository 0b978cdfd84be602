"""Runs in workers: the driver's folder has what the worker's has, and takes nothing from an earlier attempt."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.errors import RunError
from storm_pipeline.run.events import Noted
from storm_pipeline.run.folder import RunStore
from storm_pipeline.run.log import LogSink
from storm_pipeline.run.replica import Recorder, away
from storm_pipeline.settings import Settings

TASK = "1"


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    made = Recorder()
    made.place(TASK, tmp_path / "batch", set())
    yield made
    made.finish(TASK)


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "run.lock"
    }


WRITES = st.lists(
    st.tuples(
        st.sampled_from(["piece", "part", "reply", "event", "state", "edit", "open"]),
        st.text(st.characters(codec="utf-8"), max_size=9),
    )
)


@given(WRITES)
def test_the_drivers_folder_has_what_the_workers_has(writes: list[tuple[str, str]]) -> None:
    with TemporaryDirectory() as folder:
        recorder = Recorder()
        recorder.place(TASK, Path(folder), set())
        with away(recorder.answer, TASK) as place:
            run = RunStore.create(Path(folder), "Jade", "storm")
            run.update_state(status="queued")
            log = LogSink(run.folder)
            for what, text in writes:
                match what:
                    case "piece" | "part":
                        run.save_text("lead.md" if what == "piece" else "sections/1.md", text)
                    case "reply":
                        run.journal.add("reply", text, text)
                    case "event":
                        log.emit(Noted("run", text))
                    case "state":
                        run.update_state(status=text)
                    case "edit":
                        (run.folder / "lead.md").write_text(text, "utf-8")
                        (Path(folder) / run.folder.name / "lead.md").write_text(text, "utf-8")
                    case "open":
                        run.close()
                        run = RunStore.open(run.folder, accept_damage=True)
            run.close()
            assert files(place.folder) == files(Path(folder))
        recorder.finish(TASK)


def test_an_earlier_attempt_is_refused_and_its_replies_are_served(recorder: Recorder, tmp_path: Path) -> None:
    with away(recorder.answer, TASK), RunStore.create(tmp_path, "Jade", "storm") as dead:
        dead.begin(Settings())
        dead.journal.add("reply", "question", "paid")
        with away(recorder.answer, TASK) as place:
            with RunStore.open(*place.runs()) as run:
                assert run.journal.take("reply", "question") == "paid"
                for late in (
                    lambda: dead.journal.add("reply", "x", "too late"),
                    lambda: dead.save_text("lead.md", "late"),
                ):
                    with pytest.raises(RunError, match="placed anew"):
                        late()
                run.journal.add("reply", "x", "in time")
            assert run.home == tmp_path / "batch" / run.folder.name
            assert b"too late" not in (run.home / "journal.jsonl").read_bytes()
            assert not (run.home / "lead.md").exists()


def test_a_run_that_had_not_begun_is_begun_anew(recorder: Recorder, tmp_path: Path) -> None:
    with away(recorder.answer, TASK):
        RunStore.create(tmp_path, "Jade", "storm").close()
        with away(recorder.answer, TASK) as place:
            assert place.runs() == []
    assert list((tmp_path / "batch").iterdir()) == []


def test_a_task_writes_its_own_files_alone(recorder: Recorder, tmp_path: Path) -> None:
    with away(recorder.answer, TASK), RunStore.create(tmp_path, "Jade", "storm") as run:
        for name in ("batch.json", "../x", f"{run.folder.name}/../../x", f"{run.folder.name}/", "/etc/x"):
            with pytest.raises(RunError, match=r"is not (the name of )?a file of"):
                recorder.answer("write", TASK, 1, name, b"")
        recorder.finish(TASK)
        with pytest.raises(RunError, match="has ended"):
            run.save_text("lead.md", "late")
