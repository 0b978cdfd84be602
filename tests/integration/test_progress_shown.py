"""When a run of the library shows its progress by itself."""

import io
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from llm import FakeModel
from test_resume import answers
from test_resume import storm as open_storm

from storm_pipeline import Storm
from storm_pipeline.interfaces.progress import with_progress
from storm_pipeline.method.program import StormProgram
from storm_pipeline.run.events import CallbackSink


class Terminal(io.StringIO):
    """A standard error that is a terminal, as long as the test says so."""

    def __init__(self, *, is_one: bool = True) -> None:
        super().__init__()
        self._is_one = is_one

    def isatty(self) -> bool:
        return self._is_one


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel(answers()) as model:
        yield model


def shown(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object], terminal: Terminal | None = None) -> str:
    """What the work prints on standard error, by default a terminal that prints lines."""
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys, "stderr", terminal or Terminal())
    work()
    assert isinstance(sys.stderr, Terminal)
    return sys.stderr.getvalue()


def test_a_run_on_a_terminal_shows_its_progress(
    model: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = shown(monkeypatch, lambda: open_storm(model, tmp_path).outline("Silk Road"))
    assert "researching Silk Road" in said
    assert "conversations ..." in said
    assert "finished: Silk Road" in said
    assert capsys.readouterr().out == "", "standard output is the program's own"


def test_nothing_is_shown_off_a_terminal(model: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # colours in a log file do not make it one that is watched
    here = open_storm(model, tmp_path)
    assert shown(monkeypatch, lambda: here.outline("Silk Road"), Terminal(is_one=False)) == ""


def test_progress_is_shown_on_request(model: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = open_storm(model, tmp_path, progress=True, sinks=[CallbackSink(lambda _: None)])
    assert "researching Silk Road" in shown(monkeypatch, lambda: here.outline("Silk Road"), Terminal(is_one=False))


def in_a_thread(storm: Storm) -> None:
    thread = threading.Thread(target=storm.outline, args=["Silk Road"])
    thread.start()
    thread.join()


SILENT: dict[str, tuple[dict[str, object], Callable[[Storm], object]]] = {
    "told not to": ({"progress": False}, lambda storm: storm.outline("Silk Road")),
    "has a sink": ({"sinks": [CallbackSink(lambda _: None)]}, lambda storm: storm.outline("Silk Road")),
    "gets a sink": ({}, lambda storm: storm.outline("Silk Road", sinks=[CallbackSink(lambda _: None)])),
    "in a thread of a server": ({}, in_a_thread),
    "a stream": ({}, lambda storm: list(storm.stream("Silk Road", "rag"))),
    "a DSPy module": ({}, lambda storm: StormProgram(storm, "research")(topic="Silk Road")),
}


@pytest.mark.parametrize("case", SILENT)
def test_what_others_follow(model: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    changes, work = SILENT[case]
    here = open_storm(model, tmp_path, **changes)
    assert shown(monkeypatch, lambda: work(here)) == ""


def test_of_runs_at_once_one_shows_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with with_progress((), None) as first, with_progress((), None) as second:
        assert (len(first), len(second)) == (1, 0)
    with with_progress((), None) as third:
        assert len(third) == 1
