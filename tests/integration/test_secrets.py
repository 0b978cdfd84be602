"""A key in an address reaches the service and nothing else, also when the run is resumed."""

import threading
from pathlib import Path
from typing import Any

import pytest
from found_pages import world
from llm import FakeModel
from servers import Reply, Request
from test_pipeline import NoContents, folder
from test_resume import storm

from storm_pipeline import Article, Storm
from storm_pipeline.errors import SettingsError, StoppedError, StormError
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.batch import TopicRequest, write_batch
from storm_pipeline.run.events import CallbackSink, CallFinished, Event
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
