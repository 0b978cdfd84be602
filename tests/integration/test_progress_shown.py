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


def in_a_thread(storm: Storm) -> None:
    thread = threading.Thread(target=outline, args=[storm])
    thread.start()
    thread.join()


def outline(storm: Storm) -> object:
    return storm.outline("Silk Road")


SINKS = [CallbackSink(lambda _: None)]
SHOWN = ("researching Silk Road", "conversations ...", "finished: Silk Road")
CASES: dict[str, tuple[dict[str, object], Callable[[Storm], object], bool, tuple[str, ...]]] = {
    "on a terminal": ({}, outline, True, SHOWN),
    "off a terminal": ({}, outline, False, ()),
    "on request": ({"progress": True, "sinks": SINKS}, outline, False, SHOWN),
    "told not to": ({"progress": False}, outline, True, ()),
    "has a sink": ({"sinks": SINKS}, outline, True, ()),
    "gets a sink": ({}, lambda storm: storm.outline("Silk Road", sinks=SINKS), True, ()),
    "in a thread of a server": ({}, in_a_thread, True, ()),
    "a stream": ({}, lambda storm: list(storm.stream("Silk Road", "rag")), True, ()),
    "a DSPy module": ({}, lambda storm: StormProgram(storm, "research")(topic="Silk Road"), True, ()),
}
"""Case → settings, work, whether standard error is a terminal, and what is shown there."""


@pytest.mark.parametrize("case", CASES)
def test_progress_is_shown_on_a_terminal_that_nobody_else_writes_to_or_on_request(
    model: FakeModel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    case: str,
) -> None:
    changes, work, is_terminal, expected = CASES[case]
    monkeypatch.setenv("TERM", "dumb")  # prints lines
    monkeypatch.setenv("FORCE_COLOR", "1")  # colours in a log file do not make it one that is watched
    monkeypatch.setattr(sys, "stderr", terminal := Terminal(is_one=is_terminal))
    work(open_storm(model, tmp_path, **changes))
    said = terminal.getvalue()
    assert [one for one in expected if one not in said] == []
    assert expected or said == ""
    assert capsys.readouterr().out == "", "standard output is the program's own"


def test_of_runs_at_once_one_shows_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    with with_progress((), None) as first, with_progress((), None) as second:
        assert (len(first), len(second)) == (1, 0)
    with with_progress((), None) as third:
        assert len(third) == 1
