"""The Python API: asynchronous twins, streams and typed results."""

import asyncio
import contextvars
import gc
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from found_pages import world
from llm import FakeModel
from servers import Reply
from test_pipeline import folder
from test_resume import answers, storm

from storm_pipeline import (
    Article,
    AsyncStream,
    CallbackSink,
    CallFinished,
    Event,
    Failed,
    ModelAuthError,
    Outline,
    Retried,
    RunError,
    RunStarted,
    SearchError,
    SectionWritten,
    SettingsError,
    Snippet,
    StageStarted,
    Storm,
)
from storm_pipeline.interfaces.listing import run_state
from storm_pipeline.run import concurrency
from storm_pipeline.run.events import read_events
from storm_pipeline.sources.search.edge import with_checks

PARAMETERS = {"awrite": "write", "aoutline": "outline", "aresume": "resume", "stream": "write", "astream": "write"}


@pytest.mark.parametrize("name", PARAMETERS)
def test_twins_take_the_same(name: str) -> None:
    assert taken(getattr(Storm, name)) == taken(getattr(Storm, PARAMETERS[name]))


def taken(method: Callable[..., object]) -> dict[str, object]:
    """Names and types of a method's parameters, those of ``**options`` included."""
    types = get_type_hints(method)
    del types["return"]
    options = get_type_hints(types.pop("options").__args__[0]) if "options" in types else {}
    return types | options


def test_asynchronous_runs(steady: FakeModel, tmp_path: Path) -> None:
    events: list[Event] = []
    sinks = [CallbackSink(events.append)]

    async def work(writer: Storm) -> tuple[Article, Outline]:
        written = await writer.awrite("Silk Road", "direct", sinks=sinks)
        assert await writer.aresume(folder(tmp_path), Article, sinks=sinks) == written
        return written, await writer.aoutline("Amber Road", "direct", sinks=sinks)

    written, outlined = asyncio.run(work(storm(steady, tmp_path)))
    assert (written.title, outlined.topic) == ("Silk Road", "Amber Road")
    assert [event.topic for event in events if isinstance(event, RunStarted)] == ["Silk Road", "Amber Road"]


def test_a_cancelled_run(tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    async def work(writer: Storm) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(writer.awrite("Silk Road", "direct"), 2)
        gc.collect()

    events: list[Event] = []
    with FakeModel(answers(), faults={"DraftOutline": [Reply(delay=30)] * 9}) as server:
        asyncio.run(work(storm(server, tmp_path, lm_timeout=50.0, sinks=[CallbackSink(events.append)])))
        assert {CallFinished, Failed, Retried}.isdisjoint(map(type, events)), "the reply was waited for"
    assert "Traceback" not in capfd.readouterr().err
    assert not caplog.records


def test_a_stream_takes_a_recipe_sinks_and_an_event_that_halts_it(steady: FakeModel, tmp_path: Path) -> None:
    events: list[Event] = []
    halt = threading.Event()
    stream = storm(steady, tmp_path).stream("Silk Road", "direct", sinks=[CallbackSink(events.append)], halt=halt)
    assert list(stream) == events
    asked = [one.signature for one in steady.asked]
    assert asked == ["DraftOutline", "WriteFromMemory"]
    halt.set()
    list(storm(steady, tmp_path).stream("Amber Road", "direct", halt=halt))
    assert [one.signature for one in steady.asked] == asked


def ended(tmp_path: Path) -> str:
    """How the run ended, once it has."""
    for _ in range(200):
        state = run_state(folder(tmp_path))
        if state != "running":
            return state
        time.sleep(0.05)
    return "running"


SLOW = {"DraftOutline": [Reply(delay=1)] * 9}


def test_an_asynchronous_stream_is_the_run_event_by_event(steady: FakeModel, tmp_path: Path) -> None:
    same: list[Event] = []

    async def work(writer: Storm) -> tuple[list[Event], Article]:
        async with writer.astream("Silk Road", "direct", sinks=[CallbackSink(same.append)]) as stream:
            with pytest.raises(RunError, match="not finished yet"):
                assert stream.article
            events = [event async for event in stream]
            assert [event async for event in stream] == []
            return events, stream.article

    events, article = asyncio.run(work(storm(steady, tmp_path)))
    assert events == same
    assert article.title == "Silk Road"


def test_an_asynchronous_stream_raises_what_ended_the_run(tmp_path: Path) -> None:
    async def work(writer: Storm) -> None:
        async for _ in writer.astream("Silk Road", "direct"):
            pass

    with (
        FakeModel(answers(), faults={"DraftOutline": [Reply(401, {"error": {"message": "expired"}})]}) as server,
        pytest.raises(ModelAuthError),
    ):
        asyncio.run(work(storm(server, tmp_path)))


async def left(writer: Storm) -> None:
    async for event in writer.astream("Silk Road", "direct"):
        if isinstance(event, StageStarted):
            break


async def closed(writer: Storm) -> None:
    stream = writer.astream("Silk Road", "direct")
    async for event in stream:
        if isinstance(event, StageStarted):
            await stream.aclose()
    assert [event async for event in stream] == []


async def cancelled(writer: Storm) -> None:
    stream = writer.astream("Silk Road", "direct")

    async def read() -> None:
        async for _ in stream:
            pass

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(read(), 1)


def left_unread(writer: Storm) -> None:
    for event in writer.stream("Silk Road", "direct"):
        if isinstance(event, StageStarted):
            break


def dropped(writer: Storm) -> None:
    assert isinstance(next(iter(writer.stream("Silk Road", "direct"))), RunStarted)


def closed_at_once(writer: Storm) -> None:
    stream = writer.stream("Silk Road", "direct")
    assert isinstance(next(iter(stream)), RunStarted)
    stream.close()
    assert not writer.running


UNREAD: list[Callable[[Storm], object]] = [
    *(lambda writer, work=work: asyncio.run(work(writer)) for work in (left, closed, cancelled)),
    *(left_unread, dropped, closed_at_once),
]


@pytest.mark.parametrize("work", UNREAD, ids=["left", "closed", "cancelled", "left, sync", "dropped", "closed, sync"])
def test_a_stream_that_nobody_reads_stops_its_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, work: Callable[[Storm], object]
) -> None:
    with FakeModel(answers(), faults=SLOW) as server:
        work(storm(server, tmp_path))
        gc.collect()
        assert ended(tmp_path) == "stopped"
        gc.collect()
        assert not [one for one in caplog.records if one.name == "asyncio"]


def test_a_loop_that_is_gone_stops_the_run_and_it_can_be_resumed(tmp_path: Path) -> None:
    kept: list[AsyncStream] = []

    async def work(writer: Storm) -> None:
        kept.append(writer.astream("Silk Road", "direct"))
        await anext(kept[0])

    with FakeModel(answers(), faults=SLOW) as server:
        asyncio.run(work(storm(server, tmp_path)))
        assert ended(tmp_path) == "stopped"
    with FakeModel(answers()) as server:
        assert isinstance(storm(server, tmp_path).resume(folder(tmp_path)), Article)


class Awaited:
    """An engine that waits for its results, and notes in which loops."""

    name = "awaited"

    def __init__(self) -> None:
        self.loops: set[int] = set()

    async def search(self, query: str, k: int) -> list[Snippet]:
        await asyncio.sleep(0.01)
        self.loops.add(id(asyncio.get_running_loop()))
        return list(world(query))[:k]


def test_an_asynchronous_engine_is_searched_in_the_loop_that_awaits_the_run(steady: FakeModel, tmp_path: Path) -> None:
    engine = Awaited()

    async def work(writer: Storm) -> tuple[int, Article, Article]:
        written = await writer.awrite("Silk Road", "rag")
        async with writer.astream("Silk Road", "rag") as stream:
            async for _ in stream:
                pass
            return id(asyncio.get_running_loop()), written, stream.article

    loop, written, streamed = asyncio.run(work(storm(steady, tmp_path / "1", search=engine)))
    assert engine.loops == {loop}
    engine.loops.clear()
    plain = storm(steady, tmp_path / "2", search=engine, workers=4).write("Silk Road", "rag")
    assert len(engine.loops) == 1
    assert written.references
    assert written.to_markdown() == streamed.to_markdown() == plain.to_markdown()


def test_a_search_whose_loop_ends_does_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrency, "_LOOK_AGAIN", 0.05)
    search = with_checks(Sleeping())
    loop = asyncio.new_event_loop()
    context = contextvars.copy_context()
    context.run(concurrency.callers_loop.set, loop)
    with ThreadPoolExecutor() as pool:
        searching = pool.submit(context.run, search.search, "silk", 3)
        loop.run_until_complete(asyncio.sleep(0.3))
        with pytest.raises(SearchError, match="the event loop was stopped"):
            searching.result(10)
    for task in asyncio.all_tasks(loop):
        task.cancel()
        loop.run_until_complete(asyncio.wait([task]))
    loop.close()
    with pytest.raises(SearchError, match="closed"):
        context.run(search.search, "silk", 3)


class Sleeping:
    name = "sleeping"

    async def search(self, query: str, k: int) -> list[Snippet]:
        await asyncio.sleep(60)
        return []


def test_a_finished_section_comes_with_its_text(steady: FakeModel, tmp_path: Path) -> None:
    with storm(steady, tmp_path).stream("Silk Road", "storm") as stream:
        written = [event for event in stream if isinstance(event, SectionWritten)]
        outline = stream.article.outline.sections
        known = {source.url for source in stream.article.sources}
    assert sorted(event.heading for event in written) == sorted(one.title for one in outline)
    for event in written:
        assert outline[event.number - 1].title == event.heading
        assert event.text.startswith(f"## {event.heading}\n\n")
        assert "[1]" not in event.text
        assert event.sources
        assert set(event.sources) <= known
    (record,) = [one for _, one in read_events(folder(tmp_path) / "events.jsonl") if one == written[0]]
    assert isinstance(record, SectionWritten)


def test_a_misspelt_setting_is_recognised() -> None:
    for given, meant in {"serch": "search", "contnets": "contents", "max_costs": "max_cost"}.items():
        with pytest.raises(SettingsError, match=f"no setting '{given}'; did you mean '{meant}'"):
            Storm(**{given: "you"})  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="no setting 'qqq'; see"):
        Storm(qqq=1)  # type: ignore[call-arg]
    with pytest.raises(SettingsError, match=r"no recipe 'strom': .*; did you mean 'storm'\?"):
        Storm().write("Silk Road", "strom")


@pytest.mark.parametrize(("kind", "other"), [(Article, Outline), (Outline, Article)])
def test_a_run_is_resumed_as_what_it_is(steady: FakeModel, tmp_path: Path, kind: type[Any], other: type[Any]) -> None:
    writer = storm(steady, tmp_path)
    made = writer.write("Silk Road", "direct") if kind is Article else writer.outline("Silk Road", "direct")
    run, asked = folder(tmp_path), len(steady.asked)
    assert writer.resume(run) == writer.resume(run, kind) == made
    with pytest.raises(RunError, match=f"is the run of an {kind.__name__.lower()}"):
        writer.resume(run, other)
    assert len(steady.asked) == asked
