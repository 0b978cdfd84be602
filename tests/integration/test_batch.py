"""Batches: topics written side by side, isolated from each other, stopped, killed and gone on with."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import run_storm as storm
from found_pages import world
from llm import FakeModel, default_answers, topic_of
from servers import Reply, Request
from test_pipeline import NoContents

from storm_pipeline import Article, Storm
from storm_pipeline.errors import ModelError, RunError, SettingsError, StoppedError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.batch import (
    Batch,
    BatchReport,
    TopicRequest,
    TopicStatus,
    batch_folder,
    is_batch,
    read_topics,
    resume_batch,
    write_batch,
)
from storm_pipeline.run.article_json import from_json
from storm_pipeline.run.events import CallFinished, Event, EventSink, RunStarted, StageFinished
from storm_pipeline.settings import Settings
from storm_pipeline.sources.search.fake import FakeSearch

TOPICS = ("Silk Road", "Amber Road", "Salt Road", "Tea Road", "Fur Road", "Tin Road")
FEW = {"perspectives": 1, "turns": 1, "workers": 2, "call_attempts": 1, "max_failures": 0, "lm_timeout": 60}


def answers() -> dict[str, Any]:
    """Each reply depends on what is asked alone."""

    def question(user: str) -> str:
        asked = user.count("Writer:") + 10 * len(re.findall("Editor 0", user))
        return f"What is known about aspect {asked + 1} of {topic_of(user)}?"

    return default_answers() | {"AskQuestion": question}


def offline(settings: Settings, **own: Any) -> Storm:
    """A Storm over the tests' world."""
    given: dict[str, Any] = {"search": FakeSearch(world), "embedder": HashingEmbedder(), "contents": NoContents()}
    return Storm(settings, **(given | own))


def options(server: FakeModel, tmp_path: Path) -> dict[str, Any]:
    return {**FEW, "lm": server.lm, "out": tmp_path / "runs", "cache": tmp_path / "cache"}


def requests(*topics: str, **settings: Any) -> list[TopicRequest]:
    return [TopicRequest(topic, settings) for topic in topics]


def texts(report: BatchReport) -> dict[str, str]:
    rows = [row for row in report.rows if row.state == "written"]
    return {row.request.topic: (report.folder / row.folder / "article.md").read_text("utf-8") for row in rows}


def saved(folder: Path) -> Any:
    return json.loads((folder / "batch.json").read_text("utf-8"))


class Watch:
    """A sink that keeps what it is told, and does something at each event."""

    def __init__(self, act: Callable[["Watch", Event], None] = lambda watch, event: None) -> None:
        self.events: list[tuple[int, Event]] = []
        self.rows: list[TopicStatus] = []
        self._act = act

    def begin(self, folder: Path, rows: Sequence[TopicStatus]) -> None:
        self.folder = folder

    def event(self, number: int, event: Event) -> None:
        self.events.append((number, event))
        self._act(self, event)

    def row(self, row: TopicStatus) -> None:
        self.rows.append(row)

    @property
    def calls(self) -> int:
        return sum(isinstance(event, CallFinished) for _, event in self.events)


class StubStorm:
    """Stands in for a Storm where what is written does not matter."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def write(self, topic: str, *, sinks: Sequence[EventSink] = (), **_: Any) -> Article:
        folder = self.settings.out / topic
        folder.mkdir()
        for sink in sinks:
            sink.emit(RunStarted("run", topic, str(folder)))
        if topic.startswith("Bad"):
            raise ModelError("the model is down")
        if topic.startswith("Crash"):
            raise ZeroDivisionError(topic)
        return Article(topic)

    def resume(self, run: Path, **_: Any) -> Article:
        return Article(run.name)


def stubbed(settings: Settings) -> Any:
    return StubStorm(settings)


def refused(settings: Settings) -> Any:
    raise AssertionError("nothing was to be opened")


def test_one_bad_setting_and_one_failing_model_are_rows_and_the_others_are_written(tmp_path: Path) -> None:
    path = tmp_path / "roads.jsonl"
    watch = Watch()
    opened: list[Settings] = []

    def open_storm(settings: Settings) -> Storm:
        opened.append(settings)
        return offline(settings)

    refusing = [Reply(401, {"error": {"message": "expired"}})] * 99
    with FakeModel(answers()) as server, FakeModel(faults=dict.fromkeys(answers(), refusing)) as broken:
        extra = {1: {"turns": "many"}, 3: {"lm": broken.lm}}
        records = [{"topic": topic, **extra.get(i, {})} for i, topic in enumerate(TOPICS)]
        path.write_text("\n".join(map(json.dumps, records)), "utf-8")
        report = write_batch(
            read_topics(path, ["lm"]), name="roads", sinks=[watch], open_storm=open_storm, **options(server, tmp_path)
        )
        asked = len(server.asked)
    assert [row.state for row in report.rows] == ["written", "failed", "written", "failed", "written", "written"]
    assert not report.all_written
    assert not report.stopped
    assert "roads.jsonl, line 2: setting 'turns' cannot be 'many'" in report.rows[1].error
    assert "refuses the key" in report.rows[3].error
    assert len(opened) == 2
    assert sum(row.calls for row in report.rows) == asked == watch.calls
    for row in report.rows:
        if row.state == "written":
            article = from_json((report.folder / row.folder / "article.json").read_text("utf-8"))
            assert article.title == row.request.topic
            assert min(row.sections, row.words, row.references, row.tokens_in, row.tokens_out) > 0
    state = saved(report.folder)
    assert (state["format"], state["status"]) == (1, "failed")
    assert [topic["state"] for topic in state["topics"]] == [row.state for row in report.rows]
    assert [topic["folder"] for topic in state["topics"]] == [row.folder for row in report.rows]
    assert report.folder.parent == tmp_path / "runs"
    assert report.folder.name.startswith("roads-")


@pytest.mark.parametrize("at_once", [1, 2])
def test_a_key_that_is_refused_is_not_tried_for_every_topic(tmp_path: Path, at_once: int) -> None:
    refusing = [Reply(401, {"error": {"message": "expired"}})] * 99
    with FakeModel(answers()) as server, FakeModel(faults=dict.fromkeys(answers(), refusing)) as broken:
        topics = [*requests(*TOPICS[:3]), *requests("Fur Road", max_sections=3), *requests("Tin Road", lm=server.lm)]
        report = write_batch(topics, at_once=at_once, open_storm=offline, **options(broken, tmp_path))
        states = [row.state for row in report.rows]
        assert states[0] == "failed"
        assert states.count("failed") <= at_once
        assert set(states[at_once:4]) == {"waiting"}
        assert states[4] == "written"
        assert [text for text in report.refused if "refuses the key for openai/fake" in text] == list(report.refused)
        assert len(report.refused) == 1
        assert not any(row.folder for row in report.rows if row.state == "waiting")
        again = resume_batch(report.folder, open_storm=offline, lm=server.lm)
    assert again.all_written
    assert again.refused == ()


@pytest.mark.parametrize("calls", [2, 20])
def test_a_stopped_batch_goes_on_and_asks_nothing_twice(tmp_path: Path, calls: int) -> None:
    with FakeModel(answers()) as server:
        whole = write_batch(requests(*TOPICS[:3]), open_storm=offline, **options(server, tmp_path / "whole"))
        asked = len(server.asked)
        box: list[Batch] = []
        watch = Watch(lambda watch, event: box[0].stop() if watch.calls >= calls else None)
        settings = Settings.build(options(server, tmp_path))
        with Batch.create(requests(*TOPICS[:3]), settings, sinks=[watch], open_storm=offline) as batch:
            box.append(batch)
            report = batch.run()
        assert report.stopped
        assert saved(report.folder)["status"] == "stopped"
        assert {row.state for row in report.rows} <= {"written", "stopped", "waiting"}
        again = resume_batch(report.folder, open_storm=offline, lm=server.lm)
        assert again.all_written
        assert len(server.asked) == 2 * asked
    assert texts(again) == texts(whole)
    assert [row.calls for row in again.rows] == [row.calls for row in whole.rows]


def test_a_batch_that_could_not_be_read_again_is_refused(tmp_path: Path) -> None:
    notes = "x" * 3900
    topics = [TopicRequest(f"Topic {number}", {"about": notes}) for number in range(2200)]
    with pytest.raises(SettingsError, match="2,200 topics are too much for one batch"):
        write_batch(topics, open_storm=offline, out=tmp_path / "runs")
    assert not list((tmp_path / "runs").iterdir())


@pytest.mark.parametrize("at_once", [1, 3])
def test_the_dollars_of_a_batch_are_those_of_all_its_topics_and_sessions(tmp_path: Path, at_once: int) -> None:
    def dollars(report: BatchReport) -> float:
        return sum(row.cost or 0 for row in report.rows)

    with FakeModel(answers()) as server:
        given = options(server, tmp_path) | {"open_storm": offline, "at_once": at_once}
        with pytest.raises(SettingsError, match="a cap on dollars needs prices"):
            write_batch(TOPICS[:3], **given, batch_max_cost=1)
        assert not list((tmp_path / "runs").iterdir())
        given |= {"prices": ["openai/fake=10/10"]}
        whole = write_batch(TOPICS[:3], **given)
        asked = len(server.asked)
        known = list[float]()  # costs in the batch's file while topics are written

        def look(watch: Watch, _: Event) -> None:
            known.extend(row["cost"] for row in saved(watch.folder)["topics"] if row["state"] == "running")

        capped = write_batch(TOPICS[:3], **given, batch_max_cost=0.6 * dollars(whole), sinks=[Watch(look)])
        assert 0.2 * dollars(whole) < dollars(capped) <= 0.6 * dollars(whole)
        assert 0 < max(known) < 1.001 * dollars(capped)  # sums are rounded
        assert {row.state for row in capped.rows} <= {"written", "stopped", "waiting"}
        assert (capped.all_written, capped.stopped) == (False, False)
        assert f"all {saved(capped.folder)['max_cost']:g} dollars of the batch are spent" in capped.refused[0]
        del given["out"]
        unpriced = resume_batch(capped.folder, **(given | {"prices": []}))
        assert "a cap on dollars needs prices" in " ".join(row.error for row in unpriced.rows)
        assert dollars(unpriced) == pytest.approx(dollars(capped))
        kept = resume_batch(capped.folder, **given)  # the cap is still the batch's
        assert kept.refused == capped.refused
        assert dollars(kept) <= 0.6 * dollars(whole)
        copy = shutil.copytree(capped.folder, tmp_path / "copy")
        again = resume_batch(capped.folder, **given, batch_max_cost=2 * dollars(whole))
        assert again.all_written
        assert len(server.asked) == 2 * asked
        for _ in range(2):  # what was spent stays so when its folder is deleted
            for name in {row.folder for row in kept.rows if row.state != "written"} - {""}:
                shutil.rmtree(copy / name)
            kept = resume_batch(copy, **given)
            assert 0.999 * dollars(capped) < dollars(kept) <= 0.6 * dollars(whole)
        topics = [*requests(TOPICS[0]), *requests(TOPICS[1], lm="openai/fake@http://127.0.0.1:9/v1")]
        unpriced = write_batch(topics, **(given | {"out": tmp_path / "unpriced", "prices": []}))
        asked = len(server.asked)  # by the first topic; its calls have a price when the batch goes on
        assert resume_batch(unpriced.folder, **given, batch_max_cost=0.2 * dollars(whole)).refused
        assert len(server.asked) == asked
    assert texts(again) == texts(whole)


@pytest.mark.parametrize("cap", [0, -1, float("nan"), float("inf")])
def test_impossible_caps_of_a_batch_are_refused(tmp_path: Path, cap: float) -> None:
    with pytest.raises(SettingsError, match="dollars on the batch is out of range"):
        write_batch(["Jade"], open_storm=stubbed, out=tmp_path, batch_max_cost=cap)
    report = write_batch(["Bad"], open_storm=stubbed, out=tmp_path)
    state = saved(report.folder) | {"max_cost": cap}
    (report.folder / "batch.json").write_text(json.dumps(state))
    with pytest.raises(RunError, match="max_cost is not a number above 0"):
        resume_batch(report.folder)


def test_errors_of_written_rows_are_removed_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Path] = []
    write = batch_folder.write_atomically
    monkeypatch.setattr(batch_folder, "write_atomically", lambda path, text: (written.append(path), write(path, text)))
    for many in (2, 9):
        report = write_batch([f"Jade {n}" for n in range(many)], open_storm=stubbed, out=tmp_path)
        state = saved(report.folder)
        for row in state["topics"]:
            row["error"] = "it was not copied"
        (report.folder / "batch.json").write_text(json.dumps(state))
        written.clear()
        assert [row.error for row in resume_batch(report.folder, open_storm=stubbed).rows] == [""] * many
        assert len(written) == 2


def test_crashes_are_rows_too(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    report = write_batch(["Jade", "Crash", "Bad", "Silk"], open_storm=stubbed, out=tmp_path)
    assert [row.state for row in report.rows] == ["written", "failed", "failed", "written"]
    assert report.rows[1].error == "unexpected fault: Crash"
    assert report.rows[2].error == "the model is down"
    assert "Traceback" in caplog.text


def test_orders_that_repeat_others_are_written_once(tmp_path: Path) -> None:
    topics = [*requests("Jade", "Silk"), *requests("Jade", turns=2), *requests(" Jade  ", "Silk")]
    report = write_batch(topics, open_storm=stubbed, out=tmp_path)
    assert [(row.number, row.request.topic) for row in report.rows] == [(1, "Jade"), (2, "Silk"), (3, "Jade")]
    assert report.repeated == 2
    assert resume_batch(report.folder).repeated == 2


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    report = write_batch(["Bad"], open_storm=stubbed, out=tmp_path)
    with Batch.open(report.folder), pytest.raises(RunError, match="another process"):
        resume_batch(report.folder)


def test_a_batch_that_can_no_longer_be_written_ends(tmp_path: Path) -> None:
    def lose(watch: Watch, event: Event) -> None:
        (watch.folder / "batch.json").unlink(missing_ok=True)
        (watch.folder / "batch.json").mkdir(exist_ok=True)

    with pytest.raises(RunError, match=r"batch\.json"):
        write_batch([f"Topic {n}" for n in range(9)], sinks=[Watch(lose)], open_storm=stubbed, out=tmp_path)
    assert len(list(next(tmp_path.iterdir()).glob("Topic *"))) <= 2


def in_one_folder(text: str) -> list[dict[str, Any]]:
    return [json.loads(text)["topics"][0] | {"number": number, "folder": "a"} for number in (1, 2)]


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda text: text[:40], "damaged"),
        (lambda text: text.replace('"format": 1', '"format": 99'), "newer version"),
        (lambda text: text.replace('"format"', '"for"'), "states no format"),
        (lambda text: text.replace('"state": "failed"', '"state": "odd"'), r"topics\.0\.state"),
        (lambda text: text.replace('"number": 1', '"number": 2'), "numbered"),
        (lambda text: json.dumps(json.loads(text) | {"topics": in_one_folder(text)}), "one folder"),
        (lambda text: text.replace('"repeated"', '"often"'), "'repeated' is missing"),
        (lambda text: text.replace('"settings": {}', '"settings": {"odd": 1}'), "there is no setting 'odd'"),
    ],
)
def test_damaged_and_newer_batches_are_refused(tmp_path: Path, damage: Callable[[str], str], complaint: str) -> None:
    report = write_batch(["Bad"], open_storm=stubbed, out=tmp_path)
    path = report.folder / "batch.json"
    path.write_text(damage(path.read_text("utf-8")), "utf-8")
    with pytest.raises((RunError, SettingsError), match=complaint):
        resume_batch(report.folder, open_storm=stubbed)


@pytest.mark.parametrize(("given", "most"), [({}, 2), ({"at_once": 3}, 3)])
def test_a_folder_does_not_say_how_many_are_written_at_once(tmp_path: Path, given: dict[str, int], most: int) -> None:
    def down(settings: Settings) -> Any:
        raise ModelError("the model is down")

    report = write_batch(TOPICS, at_once=6, open_storm=down, out=tmp_path)
    path = report.folder / "batch.json"
    path.write_text(json.dumps(saved(report.folder) | {"at_once": 64}), "utf-8")
    together, running, seen = threading.Barrier(most), set[str](), list[int]()

    class Together(StubStorm):
        def write(self, topic: str, *, sinks: Sequence[EventSink] = (), **options: Any) -> Article:
            running.add(topic)
            together.wait(20)
            seen.append(len(running))
            together.wait(20)
            running.discard(topic)
            return super().write(topic, sinks=sinks, **options)

    assert resume_batch(report.folder, open_storm=Together, **given).all_written  # type: ignore[arg-type]
    assert max(seen) == most


def test_other_folders_and_impossible_batches_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"no batch\.json"):
        resume_batch(tmp_path)
    jade, wrong = ["Jade"], [TopicRequest("Jade", {"turn": 3})]
    given: dict[str, Any] = {"no topic": ([], {}), "1 to 64": (jade, {"at_once": 0}), "'turns'": (jade, {"turns": 0})}
    for said, (topics, settings) in (given | {"there is no setting 'turn'": (wrong, {})}).items():
        with pytest.raises(SettingsError, match=said):
            write_batch(topics, out=tmp_path, **settings)
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError, match="cannot make"):
        write_batch(["Jade"], out=tmp_path / "file")


# The command line


def flags(server: FakeModel, tmp_path: Path) -> list[str]:
    return [f"--{name.replace('_', '-')}={value}" for name, value in options(server, tmp_path).items()]


@pytest.fixture
def in_the_tests_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.storm.Storm", offline)


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.storm.Storm", StubStorm)


@pytest.mark.usefixtures("in_the_tests_world")
def test_the_command_writes_and_tells(tmp_path: Path) -> None:
    topics = tmp_path / "roads.csv"
    topics.write_text("topic,max_sections\nSilk Road,2\nAmber Road,\n", "utf-8")
    with FakeModel(answers()) as server:
        result = storm("batch", topics, *flags(server, tmp_path), "--price", "openai/fake=1/1", "--batch-max-cost", 9)
    assert result.exit_code == 0, result.stderr
    head, *rows, where = result.stdout.splitlines()
    assert head.split()[:3] == ["topic", "state", "sections"]
    assert [row.split()[:4] for row in rows] == [["Silk", "Road", "written", "2"], ["Amber", "Road", "written", "4"]]
    assert is_batch(Path(where).parent)
    assert "1/2 Silk Road in silk-road-" in result.stderr
    assert "2/2 Amber Road written (" in result.stderr
    assert "2 topics: 2 written" in result.stderr


@pytest.mark.usefixtures("stubs")
def test_the_command_ends_with_1_where_a_topic_failed_and_resume_goes_on(tmp_path: Path) -> None:
    topics = tmp_path / "t.txt"
    topics.write_text("Jade\nBad\nJade\n", "utf-8")
    result = storm("batch", topics, "--out", tmp_path / "runs")
    (folder,) = (tmp_path / "runs").iterdir()
    assert result.exit_code == 1
    assert "1 of 2 topics have no article: fix the cause, then resume with: storm resume" in result.stderr
    assert f"storm resume {folder}" in result.stderr
    assert "1 repeated topics were written once" in result.stderr
    assert "the model is down" in result.stdout
    single = storm("resume", folder / "none", "--batch-max-cost", 1)
    assert (single.exit_code, "cap a run with --max-cost" in single.stderr) == (2, True)
    again = storm("resume", folder)
    assert again.exit_code == 0, again.stderr
    assert "2 topics: 2 written" in again.stderr
    quiet = storm("resume", folder, "--quiet")
    assert (quiet.exit_code, quiet.stderr) == (0, "")


@pytest.mark.usefixtures("stubs")
def test_events_are_lines_that_name_their_topic(tmp_path: Path) -> None:
    topics = tmp_path / "t.txt"
    topics.write_text("Jade\nBad\n", "utf-8")
    result = storm("batch", topics, "--out", tmp_path / "runs", "--json-events")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert lines[0] | {"at": 0} == {"event": "BatchStarted", "at": 0, "folder": lines[0]["folder"], "topics": 2}
    assert {(one["order"], one["topic"]) for one in lines if one["event"] == "RunStarted"} == {(1, "Jade"), (2, "Bad")}
    last = {line["order"]: line["state"] for line in lines if line["event"] == "TopicChanged"}
    assert last == {1: "written", 2: "failed"}


PATIENT = """
    import sys, types
    from storm_pipeline.interfaces.cli import main
    from storm_pipeline.errors import StoppedError
    from storm_pipeline.run.events import RunStarted, StageFinished

    class Storm:
        def __init__(self, settings):
            self.out = settings.out

        def write(self, topic, *, outline, sinks, halt):
            (self.out / topic).mkdir()
            for sink in sinks:
                sink.emit(RunStarted("run", topic, str(self.out / topic)))
                sink.emit(StageFinished("set-up", 0.1))
            sys.stderr.write("working\\n")
            halt.wait(60)
            raise StoppedError("stopped")

    sys.modules["storm_pipeline.storm"] = types.SimpleNamespace(Storm=Storm)
    sys.argv = ["storm", *sys.argv[1:]]
    main()
"""


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    program = textwrap.dedent(code).format(tests=str(Path(__file__).parents[1]))
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8")


def test_the_first_interruption_stops_all_runs_in_order(tmp_path: Path) -> None:
    topics = tmp_path / "roads.txt"
    topics.write_text("Jade\nSilk\nAmber\n", "utf-8")
    with child(PATIENT, "batch", topics, "--out", tmp_path / "runs", "--quiet") as process:
        assert process.stderr is not None
        assert [process.stderr.readline(), process.stderr.readline()] == ["working\n"] * 2
        process.send_signal(signal.SIGINT)
        table, complaint = process.communicate(timeout=60)
    (folder,) = (tmp_path / "runs").iterdir()
    assert process.returncode == 130, complaint
    assert "finishing work in flight" in complaint
    assert f"resume with: storm resume {folder}" in complaint
    assert [line.split()[1] for line in table.splitlines()[1:4]] == ["stopped", "stopped", "waiting"]
    assert saved(folder)["status"] == "stopped"


@pytest.fixture
def keyboard() -> Iterator[None]:
    """SIGINT as at a keyboard: shells have what they start in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("keyboard")
def test_an_interruption_from_the_keyboard_stops_a_batch_of_a_program_in_order(tmp_path: Path) -> None:
    class Patient(StubStorm):
        def write(self, topic: str, *, sinks: Sequence[EventSink] = (), halt: Any = None, **_: Any) -> Article:
            for sink in sinks:
                sink.emit(StageFinished("set-up", 0.1))
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
            halt.wait(60)
            raise StoppedError("stopped")

    with pytest.raises(KeyboardInterrupt):
        write_batch(["Jade", "Silk"], at_once=1, open_storm=Patient, out=tmp_path)  # type: ignore[arg-type]
    (folder,) = tmp_path.iterdir()
    assert [topic["state"] for topic in saved(folder)["topics"]] == ["stopped", "waiting"]


class CountingModel(FakeModel):
    """Also knows how many requests were in flight at once at most."""

    def __enter__(self) -> "CountingModel":
        super().__enter__()
        return self

    def __init__(self, replies: dict[str, Any] | None = None) -> None:
        super().__init__(replies or answers())
        self._gate = threading.Lock()
        self._now = self.most = 0

    def _reply(self, request: Request) -> Reply:
        with self._gate:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.01)
        try:
            return super()._reply(request)
        finally:
            with self._gate:
                self._now -= 1


def test_calls_in_flight_are_bounded_over_all_topics(tmp_path: Path) -> None:
    with CountingModel() as server:
        bounds = {"workers": 4, "process_workers": 3, "perspectives": 2}
        report = write_batch(
            requests(*TOPICS[:3]), at_once=3, open_storm=offline, **(options(server, tmp_path) | bounds)
        )
    assert report.all_written
    assert 2 <= server.most <= 3


CHILD = """
    import sys
    sys.path[:0] = [{tests!r}, {tests!r} + "/integration"]
    import test_batch, storm_pipeline.storm
    storm_pipeline.storm.Storm = test_batch.offline
    from storm_pipeline.interfaces.cli import main
    sys.argv = ["storm", *sys.argv[1:]]
    main()
"""


def test_a_killed_batch_goes_on(tmp_path: Path) -> None:
    topics = tmp_path / "roads.txt"
    topics.write_text("\n".join(TOPICS[:3]), "utf-8")
    default, killed = answers(), threading.Event()

    def queries(user: str) -> str:
        if "Salt Road" in user and not killed.is_set():
            killed.set()
            process.kill()
        return str(default["WriteQueries"](user))

    with FakeModel(answers() | {"WriteQueries": queries}) as server:
        process = child(CHILD, "batch", topics, *flags(server, tmp_path), "--debug")
        _, complaint = process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL, complaint
        (folder,) = (tmp_path / "runs").iterdir()
        assert saved(folder)["status"] == "running"
        asked = len(server.asked)
        report = resume_batch(folder, open_storm=offline, lm=server.lm)
        assert report.all_written
        written = sum(row.calls for row in report.rows)
        assert asked < written
        assert len(server.asked) - written <= 2 * int(FEW["workers"])
    assert len([path for path in folder.iterdir() if path.is_dir()]) == 3
