"""The Python API: asynchronous twins, streams and typed results."""

import asyncio
import gc
import inspect
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from llm import FakeModel
from servers import Reply
from test_pipeline import folder
from test_resume import answers, storm

from storm_pipeline import (
    Article,
    CallbackSink,
    Event,
    Outline,
    RunError,
    RunStarted,
    StoppedError,
    Storm,
)
from storm_pipeline.run.stream import in_thread

PARAMETERS = {
    "awrite": "write",
    "aoutline": "outline",
    "aresume": "resume",
    "stream": "write",
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_twins_take_the_same(name: str) -> None:
    twin = inspect.signature(getattr(Storm, PARAMETERS[name]))
    assert inspect.signature(getattr(Storm, name)).parameters == twin.parameters


def test_asynchronous_runs(tmp_path: Path) -> None:
    events: list[Event] = []
    sinks = [CallbackSink(events.append)]

    async def work(writer: Storm) -> tuple[Article, Outline]:
        written = await writer.awrite("Silk Road", "direct", sinks=sinks)
        assert await writer.aresume(folder(tmp_path), Article, sinks=sinks) == written
        return written, await writer.aoutline("Amber Road", "direct", sinks=sinks)

    with FakeModel(answers()) as server:
        written, outlined = asyncio.run(work(storm(server, tmp_path)))
    assert (written.title, outlined.topic) == ("Silk Road", "Amber Road")
    assert [event.topic for event in events if isinstance(event, RunStarted)] == ["Silk Road", "Amber Road"]


def test_a_cancelled_run_is_left_within_seconds_and_prints_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def work(writer: Storm) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(writer.awrite("Silk Road", "direct"), 2)
        gc.collect()

    begun = time.monotonic()
    with FakeModel(answers(), faults={"DraftOutline": [Reply(delay=60)] * 9}) as server:
        asyncio.run(work(storm(server, tmp_path)))
        assert time.monotonic() - begun < 15
    assert "Traceback" not in capfd.readouterr().err
    assert not caplog.records


def test_a_cancelled_run_that_ends_is_not_reported_as_unseen(caplog: pytest.LogCaptureFixture) -> None:
    def stopped(halt: threading.Event) -> None:
        halt.wait(20)
        raise StoppedError("stopped")

    async def work() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(in_thread(stopped), 0.2)
        gc.collect()

    asyncio.run(work())
    gc.collect()
    assert "never retrieved" not in caplog.text


def test_asynchronous_runs_are_halted(tmp_path: Path) -> None:
    halt = threading.Event()
    halt.set()

    async def work(writer: Storm) -> None:
        with pytest.raises(StoppedError):
            await writer.awrite("Silk Road", "direct", halt=halt)
        with pytest.raises(StoppedError):
            await writer.aresume(folder(tmp_path), halt=halt)
        with pytest.raises(StoppedError):
            await writer.aoutline("Silk Road", "direct", halt=halt)

    with FakeModel(answers()) as server:
        asyncio.run(work(storm(server, tmp_path)))
        assert not server.asked


def test_a_stream_takes_a_recipe_sinks_and_an_event_that_halts_it(tmp_path: Path) -> None:
    events: list[Event] = []
    halt = threading.Event()
    with FakeModel(answers()) as server:
        stream = storm(server, tmp_path).stream("Silk Road", "direct", sinks=[CallbackSink(events.append)], halt=halt)
        assert list(stream) == events
        asked = [one.signature for one in server.asked]
        assert asked == ["DraftOutline", "WriteFromMemory"]
        halt.set()
        list(storm(server, tmp_path).stream("Amber Road", "direct", halt=halt))
        assert [one.signature for one in server.asked] == asked


@pytest.mark.parametrize(("kind", "other"), [(Article, Outline), (Outline, Article)])
def test_a_run_is_resumed_as_what_it_makes(tmp_path: Path, kind: type[Any], other: type[Any]) -> None:
    with FakeModel(answers()) as server:
        writer = storm(server, tmp_path)
        made = writer.write("Silk Road", "direct") if kind is Article else writer.outline("Silk Road", "direct")
        run = folder(tmp_path)
        assert writer.resume(run) == writer.resume(run, kind) == made
        asked = len(server.asked)
        with pytest.raises(RunError, match=f"is the run of an {kind.__name__.lower()}"):
            writer.resume(run, other)
        assert len(server.asked) == asked
