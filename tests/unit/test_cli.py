"""The command line, with a ``Storm`` of the tests' own behind it."""

import json
import logging
import os
import pty
import signal
import subprocess
import sys
import textwrap
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from articles import article, section, sentence, source
from commands import run_storm as run
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storm_pipeline import MissingExtraError, NothingFoundError
from storm_pipeline.errors import DamagedRunError, ModelError, RunError, SettingsError, StormError
from storm_pipeline.interfaces.cli.guard import stop_on_interrupt
from storm_pipeline.interfaces.cli.setup import needed_assets
from storm_pipeline.run import assets
from storm_pipeline.run.events import CallFinished, Events, EventSink, RunFinished, RunStarted
from storm_pipeline.settings import Settings
from storm_pipeline.types import (
    Article,
    Conversation,
    Heading,
    Outline,
    Perspective,
    Problem,
    Report,
    Turn,
    Usage,
    UsageRow,
)

LEADS = "wikipedia-vital-article-leads-en"
SOURCE = source("a", "It is so.")
ARTICLE = replace(
    article(section("Origins", sentence("It is so.", SOURCE), "It may be so."), sources=(SOURCE,), title="Silk Road"),
    conversations=(Conversation(Perspective("Historian", "The past."), (Turn("Why?"), Turn("When?"))),),
    usage=Usage((UsageRow("sections", "writer", "m", calls=7, tokens_in=1200, tokens_out=300),), 42.0),
    report=Report(problems=(Problem("sections", "failure", "no reply"),) * 3),
)
OUTLINE = Outline("Silk Road", (Heading("Origins", (Heading("Trade"),)),))

GIVEN: dict[str, tuple[str, Any]] = {
    "api_base": ("http://x.example/v1", "http://x.example/v1"),
    "api_key_env": ("SOME_KEY", "SOME_KEY"),
    "length": ("1500", "1500"),
    "depth": ("2", 2),
    "context": ("8192", 8192),
    **dict.fromkeys(("source_language", "region", "article_language"), ("ch", "ch")),
    "domains": ("x.example", ("x.example",)),
}
"""A text and its value, of settings that do not take just any of their type."""
HOW_TO_GO_ON = f"progress is saved in {Path('runs/x')}; resume with: storm resume {Path('runs/x')}"


class FakeStorm:
    """Does what ``ending`` says, after the events of a run in ``runs/x``."""

    seen: Settings
    ending: BaseException | None = None
    headings: str | None = None
    accepted = False
    folder = "runs/x"

    def __init__(self, settings: Settings, *, sinks: Sequence[EventSink] = ()) -> None:
        type(self).seen = settings
        self.events = Events(*sinks)

    def _go(self, topic: str) -> None:
        if isinstance(self.ending, SettingsError):
            raise self.ending
        self.events.emit(RunStarted("run", topic, self.folder))
        with self.events.in_stage("conversations", total=5):
            self.events.emit(CallFinished("conversations", "asker", "m", 1000, 0, 50, 1.0, None))
            self.events.advance("Historian: when?")
            if self.ending:
                raise self.ending
        self.events.emit(RunFinished("run", 1.0, self.folder))

    def write(self, topic: str, *, outline: str | None = None) -> Article:
        type(self).headings = outline
        self._go(topic)
        return ARTICLE

    def answer(self, question: str) -> Article:
        self._go(question)
        return ARTICLE

    def outline(self, topic: str) -> Outline:
        self._go(topic)
        return OUTLINE

    def resume(self, folder: Path, *, accept_damage: bool = False, user: Settings | None = None) -> Article:
        type(self).accepted = accept_damage
        if self.ending:
            raise self.ending
        if not accept_damage:
            raise DamagedRunError(folder, ["journal.jsonl is lost: 4 of 4 replies", "events.jsonl is\x1blost"])
        return ARTICLE


@pytest.fixture(autouse=True)
def storm(monkeypatch: pytest.MonkeyPatch) -> type[FakeStorm]:
    """Commands import ``Storm`` when they run: they find this one, and no download takes place."""

    class Fresh(FakeStorm):
        pass

    module = ModuleType("storm_pipeline.storm")
    module.__dict__["Storm"] = Fresh
    monkeypatch.setitem(sys.modules, "storm_pipeline.storm", module)
    monkeypatch.setattr(assets, "fetch", lambda name, cache, progress=None: Path(cache) / "models" / name)
    return Fresh


def an_option(field: str) -> tuple[str, str, Any]:
    """A way to give a field of the settings: the option, the text after it, and the value that it means."""
    annotation: Any = get_type_hints(Settings)[field]
    kinds, info = set(get_args(annotation)) or {annotation}, Settings.model_fields[field]
    is_many = get_origin(annotation) is tuple
    flag = "--" + (field.removesuffix("s") if is_many else field).replace("_", "-")
    if field in GIVEN:
        return flag, *GIVEN[field]
    if is_many:
        return flag, "https://x.example/", ("https://x.example/",)
    most = next((own.le for own in info.metadata if hasattr(own, "le")), 4096)
    number = info.default or min(most, 4096) if int in kinds else 0
    values = {date: date(2020, 2, 29), int: number, float: 0.25, Path: Path("some/where"), str: "some text"}
    value = next((own for kind, own in values.items() if kind in kinds), get_args(annotation)[-1:])
    value = value[0] if isinstance(value, tuple) else value
    return flag, str(value), value


@pytest.mark.parametrize("field", Settings.model_fields)
def test_every_setting_has_an_option(storm: type[FakeStorm], field: str) -> None:
    option, text, value = an_option(field)
    result = run("write", "Silk Road", option, text)
    assert result.exit_code == 0, result.stderr
    assert getattr(storm.seen, field) == value
    implied = {"perspectives", "turns", "top_k"} if field == "depth" else set()
    assert storm.seen.model_fields_set == {field} | implied


def test_every_option_is_explained() -> None:
    text = run("write", "--help-all").output
    assert "ANNOTATED" not in text
    for field, info in Settings.model_fields.items():
        assert f" {an_option(field)[0]} " in text
        assert str(info.description)[:30] in text


def test_the_help_shows_the_common_settings_and_names_the_others() -> None:
    text = run("write", "--help").output
    shown = {field for field in Settings.model_fields if f" {an_option(field)[0]} " in text}
    assert {"lm", "search", "length", "max_cost"} <= shown
    assert len(shown) <= 12
    assert "--help-all" in text and f"other {len(Settings.model_fields) - len(shown)} settings" in " ".join(
        text.split()
    )


@pytest.mark.parametrize(("answer", "lm"), [("y\n", "openai/gpt-4o"), ("\n", "openai/gpt-4o"), ("n\n", "embedded")])
@pytest.mark.parametrize("command", ["write", "outline"])
def test_a_provider_whose_key_is_set_is_proposed_on_a_terminal(
    storm: type[FakeStorm], monkeypatch: pytest.MonkeyPatch, command: str, answer: str, lm: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setattr("storm_pipeline.interfaces.cli.output.is_interactive", lambda: True)
    result = run(command, "Silk Road", input=answer)
    assert "OPENAI_API_KEY is set. Use openai/gpt-4o" in result.stderr
    assert storm.seen.lm == lm and storm.seen.model_fields_set == {"lm"}


@pytest.mark.parametrize("arguments", [("--lm", "a/b"), ("--quiet",), ("--json-events",)])
def test_nothing_is_asked_where_the_model_is_chosen_or_nobody_reads(
    storm: type[FakeStorm], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setattr("storm_pipeline.interfaces.cli.output.is_interactive", lambda: True)
    result = run("write", "Silk Road", *arguments)
    assert result.exit_code == 0
    assert "OPENAI_API_KEY" not in result.stderr


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.fixed_dictionaries({}, optional={
    "turns": st.integers(-5, 30),
    "temperature": st.floats(-1, 3, allow_nan=False),
    "lm": st.text(max_size=5).filter(lambda text: not text.startswith("-")),
    "uncited": st.sampled_from(["drop", "keep", "burn"]),
}))  # fmt: skip
def test_the_command_line_accepts_what_the_settings_accept(storm: type[FakeStorm], values: dict[str, Any]) -> None:
    result = run("write", "Silk Road", *(f"--{name}={value}" for name, value in values.items()))
    try:
        expected = Settings.build(values)
    except SettingsError as error:
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith(f"error: {str(error).split(' cannot be ')[0]}")
    else:
        assert result.exit_code == 0
        assert storm.seen == expected


@pytest.mark.parametrize("name", [name for name, own in Settings.model_fields.items() if "int" in str(own.annotation)])
def test_a_number_that_no_float_holds_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match=name):
        Settings.build({name: 10**400})


@pytest.mark.parametrize("command", ["write", "answer"])
def test_an_article_and_an_answer_print_paths_and_a_summary(command: str) -> None:
    result = run(command, "Silk Road")
    assert result.stdout.splitlines() == [str(Path("runs/x/article.md")), str(Path("runs/x/article.html"))]
    for fact in (
        "1 section, 7 words, 1 reference, 1 of 2 sentences uncited, 2 questions asked",
        *("7 calls, 1.2k tokens in, 300 out, unknown cost, 42 s", "3 problems:"),
        *("failure in sections: no reply (3 times)", "conversations"),
    ):
        assert fact in result.stderr


@pytest.mark.parametrize("command", ["write", "outline", "answer"])
@pytest.mark.parametrize("quiet", [(), ("--quiet",)])
def test_json_events_are_all_that_is_on_standard_output(command: str, quiet: tuple[str, ...]) -> None:
    result = run(command, "Silk Road", "--json-events", *quiet)
    names = [json.loads(line)["event"] for line in result.stdout.splitlines()]
    assert names == "RunStarted StageStarted CallFinished StageAdvanced StageFinished RunFinished".split()
    assert ("1 section," in result.stderr) is not bool(quiet)


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (SettingsError("the topic is empty"), 2, "error: the topic is empty"),
        (MissingExtraError("install storm-pipeline[local]"), 2, "error: install storm-pipeline[local]"),
        (ModelError("no\nmodel\x1b[2J"), 1, f"error: no model [2J ({HOW_TO_GO_ON})"),
        (NothingFoundError("no source"), 1, "error: no source (progress"),
        (StormError("root"), 1, "error: root (progress"),
        (ZeroDivisionError("by nought"), 1, "error: unexpected fault: by nought; run again with --debug"),
        (OSError(28, "No space"), 1, "error: unexpected fault: No space"),
        (KeyboardInterrupt(), 130, f"interrupted; progress is saved in {Path('runs/x')}"),
    ],
)
@pytest.mark.parametrize("command", ["write", "outline", "answer"])
def test_errors_are_one_line_and_an_exit_code(
    storm: type[FakeStorm], error: BaseException, code: int, says: str, command: str
) -> None:
    storm.ending = error
    result = run(command, "Silk Road", "--quiet")
    assert result.exit_code == code
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith(says)
    if not isinstance(error, KeyboardInterrupt):
        debugged = run(command, "Silk Road", "--quiet", "--debug")
        assert debugged.exit_code == code
        assert "Traceback (most recent call last)" in debugged.stderr and "test_cli.py" in debugged.stderr
        assert "--debug" not in debugged.stderr.splitlines()[-1]


def a_run(tmp_path: Path) -> str:
    (tmp_path / "run.json").write_text("{}")
    return str(tmp_path)


@pytest.mark.parametrize(
    ("terminal", "option", "reply", "code"),
    [(False, [], "", 1), (False, ["--yes"], "", 0), (True, [], "y\n", 0), (True, [], "n\n", 1), (True, [], "", 1)],
)
def test_a_damaged_run_goes_on_by_yes_only(
    storm: type[FakeStorm],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    terminal: bool,
    option: list[str],
    reply: str,
    code: int,
) -> None:
    monkeypatch.setattr("storm_pipeline.interfaces.cli.write.is_interactive", lambda: terminal)
    asked = run("resume", a_run(tmp_path), "--quiet", *option, input=reply)
    assert (asked.exit_code, storm.accepted) == (code, code == 0)
    assert "unexpected" not in asked.stderr
    assert ("Go on? [y/N]" in asked.stderr) == terminal
    if code:
        said = f"{tmp_path}: journal.jsonl is lost: 4 of 4 replies; events.jsonl is lost. Restore"
        assert said in asked.stderr and asked.stderr.count(f"storm resume {tmp_path}") == 1


def test_of_what_is_no_run_nothing_is_said_to_be_saved(storm: type[FakeStorm], tmp_path: Path) -> None:
    storm.ending = RunError("x is not a run's folder")
    assert run("resume", str(tmp_path), "--quiet").stderr == "error: x is not a run's folder\n"
    assert HOW_TO_GO_ON.split("runs", maxsplit=1)[0] in run("resume", a_run(tmp_path), "--quiet").stderr


def test_interrupted_before_the_run_no_folder_is_told(storm: type[FakeStorm], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(storm, "__init__", interrupted)
    result = run("write", "Silk Road", "--quiet")
    assert (result.exit_code, result.stderr) == (130, "interrupted\n")


def test_what_libraries_warn_is_shown_with_debug_only(storm: type[FakeStorm], monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[tuple[bool, bool]] = []
    logger = logging.getLogger("some.library")

    def work(self: FakeStorm, topic: str, *, outline: str | None = None) -> Article:
        try:  # the tests turn warnings that are not hushed into errors
            warnings.warn("old", DeprecationWarning, stacklevel=1)
        except DeprecationWarning:
            heard.append((True, logger.isEnabledFor(logging.WARNING)))
        else:
            heard.append((False, logger.isEnabledFor(logging.WARNING)))
        return ARTICLE

    monkeypatch.setattr(storm, "write", work)
    run("write", "x")
    run("write", "x", "--debug")
    assert heard == [(False, False), (True, True)]
    assert logger.isEnabledFor(logging.WARNING)


def test_assets_are_listed(tmp_path: Path) -> None:
    result = run("assets", "list", "--cache", str(tmp_path))
    lines = result.stdout.splitlines()
    assert len(lines) >= 1 + len(assets.catalogue())
    for asset in assets.catalogue():
        (line,) = (line for line in lines if line.startswith(asset.name + " "))
        assert line.split()[1:4] == [f"{asset.download_bytes / 1e6:.0f}", "MB", "no"]


def test_needed_are_the_assets_that_the_settings_use() -> None:
    base, small = "qwen2.5-coder-1.5b-instruct-q4_k_m", "qwen2.5-coder-0.5b-instruct-q4_k_m"
    assert needed_assets(Settings.build({})) == ["all-MiniLM-L6-v2", LEADS]
    assert needed_assets(Settings.build({"lm": "embedded:1.5b"})) == [base, "all-MiniLM-L6-v2", LEADS]
    assert needed_assets(Settings.build({"lm": "openai/gpt-4o", "search": "you"})) == ["all-MiniLM-L6-v2"]
    assert needed_assets(Settings.build({"lm": "a/b", "asker_lm": "embedded:0.5b", "embedder": "e5"})) == [small, LEADS]
    known = {asset.name for asset in assets.catalogue()}
    assert set(needed_assets(Settings.build({"writer_lm": "embedded:0.5b"}))) <= known


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((), needed_assets(Settings.build({}))),
        ((LEADS,), [LEADS]),
        (("--all",), [asset.name for asset in assets.catalogue()]),
    ],
)
def test_pull_fetches_and_shows_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, ...], names: list[str]
) -> None:
    def fetch(name: str, cache: Path, progress: assets.Progress) -> Path:
        progress(name, 5_000_000, 5_000_000)
        return cache / name

    monkeypatch.setattr(assets, "fetch", fetch)
    result = run("assets", "pull", *arguments, "--cache", str(tmp_path))
    assert result.stdout.splitlines() == [str(tmp_path / name) for name in names]
    for name in names:
        assert f"downloading {name}: 5 of 5 MB" in result.stderr


def test_verify_tells_intact_from_damaged_of_what_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nothing = run("assets", "verify", "--cache", str(tmp_path))
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    assert "nothing to verify" in nothing.stderr
    (asset,) = (asset for asset in assets.catalogue() if asset.name == LEADS)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / asset.target).write_text("{}")
    damaged = run("assets", "verify", "--cache", str(tmp_path))
    assert (damaged.exit_code, damaged.stdout) == (1, "")
    assert "damaged" in damaged.stderr
    monkeypatch.setattr(assets, "verify", lambda name, cache: cache / name)
    intact = run("assets", "verify", LEADS, "--cache", str(tmp_path))
    assert (intact.exit_code, intact.stdout) == (0, f"{tmp_path / LEADS}: intact\n")


PRELUDE = """
    import sys, threading, types
    from storm_pipeline.run import assets
    from storm_pipeline.interfaces.cli import main
    from storm_pipeline.run.concurrency import Tasks
    from storm_pipeline.errors import StoppedError
    from storm_pipeline.run.events import Events, RunStarted
    from storm_pipeline.types import Heading, Outline

    class Storm:
        def __init__(self, settings, sinks):
            self.events = Events(*sinks)
            self.running = True
            self.halt = threading.Event()

        def stop(self):
            self.halt.set()

        def outline(self, topic):
            self.events.emit(RunStarted("run", topic, "runs/x"))
            return self.work(topic)

        {work}

    module = types.ModuleType("storm_pipeline.storm")
    module.Storm = Storm
    sys.modules["storm_pipeline.storm"] = module
    assets.fetch = lambda *_: None
    sys.argv = ["storm", "outline", "Silk Road", *sys.argv[1:]]
    main()
"""


@pytest.fixture
def terminal() -> Iterator[None]:
    """SIGHUP as on a terminal, also where the tests run under nohup, which has all processes ignore it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def start(work: str, *arguments: str, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
    """``storm outline`` as a process of its own, with a Storm that does ``work``."""
    code = textwrap.dedent(PRELUDE).format(work=textwrap.dedent(work).strip().replace("\n", "\n    "))
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=pipe, stdout=pipe, stderr=stderr, text=True, encoding="utf-8"
    )


ORDERLY = """
    def work(self, topic):
        print("begun", file=sys.stderr, flush=True)
        self.halt.wait(60)
        print("saved", file=sys.stderr, flush=True)
        raise StoppedError("stopped")
"""
WAITING = """
    def work(self, topic):
        with Tasks() as tasks:
            task = tasks.start(threading.Event().wait, 120)
            print("begun", file=sys.stderr, flush=True)
            task.result()
"""
LOADING = """
    def work(self, topic):
        self.running = False
        print("begun", file=sys.stderr, flush=True)
        threading.Event().wait(600)
"""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.mark.slow
@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("work", "number", "says"),
    [
        *((ORDERLY, number, ["saved", f"interrupted; {HOW_TO_GO_ON}"]) for number in SIGNALS),
        *((WAITING, number, None) for number in SIGNALS),
        (LOADING, signal.SIGINT, [f"interrupted; {HOW_TO_GO_ON}"]),
    ],
)
def test_an_interruption_lets_what_is_in_flight_finish_and_a_second_waits_for_nothing(
    work: str, number: signal.Signals, says: list[str] | None
) -> None:
    """While nothing is in flight, a model is loaded: the first one ends it at once."""
    with start(work, "--quiet") as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "begun\n"
        process.send_signal(number)
        if work == WAITING:
            assert "interrupt again to end at once" in process.stderr.readline()
            process.send_signal(number)
        _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    if says:
        assert complaint.splitlines()[-len(says) :] == says
        assert ("interrupt again to end at once" in complaint.splitlines()[0]) == (work == ORDERLY)


def test_an_interruption_may_come_while_the_stopped_work_holds_a_lock() -> None:
    class Work(threading.Event):
        running, lock = True, threading.Lock()

        def stop(self) -> None:
            self.set() if self.lock.acquire(timeout=20) else None

    work = Work()
    with stop_on_interrupt(work):
        with work.lock:
            signal.raise_signal(signal.SIGINT)
        assert work.wait(60)


@pytest.mark.slow
@pytest.mark.parametrize("ignored", [True, False])
def test_a_closed_terminal_stops_the_run_unless_it_is_to_outlive_it(ignored: bool) -> None:
    orderly = f"""
        def work(self, topic):
            print("working", flush=True)
            stopped = self.halt.wait({1 if ignored else 60})
            print("stopped" if stopped else "finished", flush=True)
            if stopped:
                raise StoppedError("stopped")
            return Outline(topic, (Heading("Origins"),))
    """
    ours, theirs = pty.openpty()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
    try:
        process = start(orderly, stderr=theirs)
    finally:
        signal.signal(signal.SIGHUP, before)
        os.close(theirs)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        os.close(ours)  # writing to the terminal fails from now on
        process.send_signal(signal.SIGHUP)
        shown, _ = process.communicate(timeout=60)
    assert process.returncode == (0 if ignored else 130)
    assert shown.startswith("finished" if ignored else "stopped")


@pytest.mark.parametrize("arguments", [(), ("--json-events",)])
def test_a_reader_that_leaves_is_no_error_of_ours(arguments: tuple[str, ...]) -> None:
    patient = """
        def work(self, topic):
            sys.stdin.readline()
            self.events.advance("more")
            return Outline(topic, (Heading("Origins"),))
    """
    with start(patient, *arguments) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write("go\n")
        process.stdin.close()
        complaint = process.stderr.read()
        process.wait(60)
    assert process.returncode == (0 if arguments else 141)
    assert "Traceback" not in complaint
    assert "BrokenPipe" not in complaint
    assert "1 section, 1 heading" in complaint
