"""A key in an address reaches the service and nothing else; what a run writes to Python's own logging."""

import logging
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from found_pages import world
from hypothesis import given
from hypothesis import strategies as st
from llm import FakeModel
from servers import Reply, Request
from test_pipeline import NoContents, folder
from test_resume import answers, storm

from storm_pipeline import Article, Storm
from storm_pipeline.errors import ModelAuthError, SettingsError, StoppedError, StormError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.batch import TopicRequest, write_batch
from storm_pipeline.run.events import CallbackSink, CallFinished, Event, Failed, RunFinished
from storm_pipeline.run.log import LoggingSink
from storm_pipeline.sources.search.fake import FakeSearch

PASSWORD = "hunter2xyz"


class GuardedModel(FakeModel):
    """A model behind a gateway that wants a key in the path."""

    def _reply(self, request: Request) -> Reply:
        if f"/{PASSWORD}/" not in request.path:
            return Reply(status=400, body=f"wrong key in http://me:{PASSWORD}@gateway/?key={PASSWORD}")
        return super()._reply(request)


def guarded(server: FakeModel, tmp_path: Path, **changes: Any) -> Storm:
    address = server.url.replace("/v1", "/${GATEWAY_KEY}/v1")
    return storm(server, tmp_path, lm="openai/fake", api_base=address, turns=1, **changes)


def holding_it(place: Path) -> list[Path]:
    return [path for path in place.rglob("*") if path.is_file() and PASSWORD.encode() in path.read_bytes()]


def test_a_run_is_resumed_with_the_password_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_KEY", PASSWORD)
    halt, events = threading.Event(), list[Event]()

    def stop_after_two(event: Event) -> None:
        events.append(event)
        if sum(isinstance(seen, CallFinished) for seen in events) == 2:
            halt.set()

    with GuardedModel() as server:
        with pytest.raises(StoppedError):
            guarded(server, tmp_path).write("Silk Road", sinks=[CallbackSink(stop_after_two)], halt=halt)
        run = folder(tmp_path)
        assert not holding_it(tmp_path)
        assert "/${GATEWAY_KEY}/v1" in (run / "settings.json").read_text()
        monkeypatch.delenv("GATEWAY_KEY")
        parts: dict[str, Any] = {"search": FakeSearch(world), "embedder": HashingEmbedder(), "contents": NoContents()}
        parts |= {"lm": "openai/fake", "api_base": server.url.replace("/v1", "/${GATEWAY_KEY}/v1")}
        with pytest.raises(SettingsError, match="GATEWAY_KEY is not set"):
            Storm(**parts).resume(run)  # type: ignore[arg-type]
        monkeypatch.setenv("GATEWAY_KEY", PASSWORD)
        assert isinstance(Storm(**parts).resume(run), Article)  # type: ignore[arg-type]
    assert not holding_it(tmp_path)


def test_an_error_with_the_address_does_not_tell_the_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "another")
    events: list[Event] = []
    with GuardedModel() as server, pytest.raises(StormError) as raised:
        guarded(server, tmp_path, sinks=[CallbackSink(events.append)]).write("Silk Road")
    assert PASSWORD not in str(raised.value)
    assert PASSWORD not in str(events)
    assert not holding_it(tmp_path)


def test_a_topic_s_own_settings_are_saved_without_passwords(tmp_path: Path) -> None:
    wrong = TopicRequest("Silk Road", {"api_base": f"http://me:{PASSWORD}@h/v1"}, "t.jsonl, line 1")
    with pytest.raises(SettingsError, match="line 1: api_base") as refused:
        write_batch([wrong], out=tmp_path)
    assert PASSWORD not in str(refused.value)
    assert not list(tmp_path.iterdir())


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
