"""Events of runs in Python's own logging."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm import FakeModel
from servers import Reply
from test_pipeline import folder
from test_resume import answers, storm

from storm_pipeline.errors import ModelAuthError
from storm_pipeline.run.events import CallbackSink, Event, Failed, RunFinished
from storm_pipeline.run.log import LoggingSink


def test_events_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="storm_pipeline")
    events: list[Event] = []
    with FakeModel(answers(), faults={"WriteFromMemory": [Reply(401, "no")]}) as server:
        with pytest.raises(ModelAuthError):
            storm(server, tmp_path).write("Silk Road", "direct")
        storm(server, tmp_path, sinks=[CallbackSink(events.append)]).resume(folder(tmp_path))
    records = [record for record in caplog.records if record.name == "storm_pipeline"]
    resumed = [record for record in records if getattr(record, "event", None) in events]
    assert [getattr(record, "event", None) for record in records[-len(events) :]] == events
    assert {getattr(record, "run", None) for record in resumed} == {folder(tmp_path).name}
    levels = {record.getMessage().split(": ")[1].split()[0]: record.levelname for record in records}
    assert levels["RunStarted"] == levels["RunFinished"] == levels["StageStarted"] == "INFO"
    assert levels["RunStopped"] == "WARNING"
    assert levels["CallFinished"] == "DEBUG"
    assert isinstance(events[-1], RunFinished)
    assert records[-1].getMessage().startswith(f"{folder(tmp_path).name}: RunFinished stage='run' seconds=")


@given(st.text())
def test_a_logged_event_is_one_line(detail: str) -> None:
    lines: list[str] = []
    logger = logging.getLogger("storm_pipeline")
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logger.addHandler(handler)
    try:
        LoggingSink("silk-road-1").emit(Failed("set-up", detail))
    finally:
        logger.removeHandler(handler)
    assert lines == [f"silk-road-1: Failed stage='set-up' detail={detail!r} counts=True"]
    assert lines[0].isprintable()


def test_logging_is_silent_by_default() -> None:
    code = (
        "from storm_pipeline.run.events import Failed\nfrom storm_pipeline.run.log import LoggingSink\n"
        "LoggingSink('run').emit(Failed('set-up', 'no'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == done.stderr == ""
