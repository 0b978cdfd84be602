"""What a server does with orders: they wait in a queue, never vanish, go on after a restart, and share a budget."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from api_server import small_settings, small_storm
from llm import FakeModel
from test_resume import answers

from storm_pipeline import Storm
from storm_pipeline.errors import BudgetSpentError, SettingsError, StormError
from storm_pipeline.interfaces.listing import run_entry
from storm_pipeline.interfaces.server.callers import Caller
from storm_pipeline.interfaces.server.errors import BusyError, ConflictError, UnknownRunError
from storm_pipeline.interfaces.server.records import records_folder
from storm_pipeline.interfaces.server.remote_settings import RemoteSettings, RunOrder
from storm_pipeline.interfaces.server.run_queue import Job
from storm_pipeline.interfaces.server.run_service import RunService
from storm_pipeline.settings import Settings

PRICES = ("openai/fake=10/10",)


def order(topic: str, **settings: Any) -> RunOrder:
    return RunOrder(topic=topic, recipe="direct", settings=settings)


@contextmanager
def service(model: FakeModel, place: Path, owner: dict[str, Any] | None = None, **options: Any) -> Iterator[RunService]:
    settings = small_settings(model.lm, place / "runs", place / "cache")
    settings = Settings.build({**settings.model_dump(exclude_unset=True), **(owner or {})})
    given = {"at_once": 1, "open_storm": small_storm} | options
    with RunService(RemoteSettings.build(settings), **given) as opened:
        yield opened


def ended(runs: RunService, name: str) -> str:
    for _ in range(1200):
        if not runs.is_running(name):
            return runs.view(name).state
        time.sleep(0.05)
    raise AssertionError(f"{name} goes on")


def holding() -> tuple[threading.Event, Callable[[str], str]]:
    """An event until which the model does not answer, and its answer."""
    event = threading.Event()

    def wait(user: str) -> str:
        event.wait(30)
        return str(answers()["DraftOutline"])

    return event, wait


@pytest.fixture
def held() -> Iterator[tuple[threading.Event, Callable[[str], str]]]:
    event, wait = holding()
    yield event, wait
    event.set()


def test_orders_wait_for_their_turn(tmp_path: Path, held: tuple[threading.Event, Callable[[str], str]]) -> None:
    event, slow = held
    with FakeModel(answers() | {"DraftOutline": slow}) as model, service(model, tmp_path, most_waiting=3) as runs:
        names = [runs.start(order(topic)) for topic in ("Silk Road", "Amber Road", "Salt Road", "Tin Road")]
        assert [runs.view(name).state for name in names] == ["running", "queued", "queued", "queued"]
        assert [runs.view(name).position for name in names] == [None, 1, 2, 3]
        assert run_entry(tmp_path / "runs" / names[2]).state == "queued"
        with pytest.raises(BusyError, match="1 runs are under way and 3 wait"):
            runs.start(order("Jade Road"))
        with pytest.raises(ConflictError):
            runs.resume(names[1])
        runs.stop(names[1])
        assert (runs.view(names[1]).state, runs.view(names[1]).reason) == ("stopped", "stopped before its turn came")
        runs.delete(names[2])
        assert runs.view(names[3]).position == 1
        with pytest.raises(ConflictError):
            runs.delete(names[0])
        event.set()
        assert [ended(runs, names[0]), ended(runs, names[3])] == ["finished", "finished"]
        assert runs.view(names[1]).calls == 0
        runs.resume(names[1])
        assert ended(runs, names[1]) == "finished"
        assert runs.view(names[1]).reason == ""
        runs.delete(names[1])
        for name in (names[1], names[2]):
            with pytest.raises(UnknownRunError):
                runs.view(name)
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == sorted([names[0], names[3]])


def test_events_are_followed_from_the_queue(tmp_path: Path, held: tuple[threading.Event, Callable[[str], str]]) -> None:
    event, slow = held
    with FakeModel(answers() | {"DraftOutline": slow}) as model, service(model, tmp_path) as runs:
        runs.start(order("Silk Road"))
        name = runs.start(order("Amber Road"))
        followed = runs.events(name)
        assert next(followed) is None
        event.set()
        kinds = [record[1]["event"] for record in followed if record]
    assert (kinds[0], kinds[-1]) == ("RunStarted", "RunFinished")


def test_an_accepted_run_that_fails_stays_with_its_reason(tmp_path: Path) -> None:
    def broken(settings: Settings) -> Storm:
        return Storm(settings, embedder="/no/such/folder", search=small_storm(settings)._engine_object)

    with FakeModel(answers()) as model, service(model, tmp_path, open_storm=broken) as runs:
        name = runs.start(order("Silk Road"))
        assert ended(runs, name) == "failed"
        view = runs.view(name)
    assert "no/such/folder" in view.reason
    assert view in runs.views(9)


def test_what_cannot_be_accepted_leaves_no_folder(tmp_path: Path) -> None:
    with FakeModel(answers()) as model, service(model, tmp_path) as runs:
        for bad in (order(" "), RunOrder(topic="Silk Road", recipe="strom"), order("Silk Road", lm="other")):
            with pytest.raises(SettingsError):
                runs.start(bad)
    assert not (tmp_path / "runs").exists()


def test_what_waits_or_was_interrupted_goes_on_after_a_restart(tmp_path: Path) -> None:
    asked = threading.Event()

    def slow(user: str) -> str:
        asked.set()
        time.sleep(1)
        return str(answers()["DraftOutline"])

    with FakeModel(answers() | {"DraftOutline": slow}) as model:
        with service(model, tmp_path) as runs:
            first, second = runs.start(order("Silk Road")), runs.start(order("Amber Road", length="short"))
            assert asked.wait(30)
        with service(model, tmp_path) as runs:
            assert [runs.view(first).state, runs.view(second).state] == ["stopped", "interrupted"]
            assert runs.resume_unfinished() == (second,)
            assert ended(runs, second) == "finished"
            assert runs.folders.settings(second)["length"] == "short"


def test_all_runs_share_a_budget(tmp_path: Path) -> None:
    owner = {"max_cost": 0.3, "prices": PRICES, "max_tokens": None}
    with FakeModel(answers()) as model:
        with pytest.raises(SettingsError, match="needs a cap for each run"), service(model, tmp_path, budget=1):
            pass
        with service(model, tmp_path, owner, budget=0.5, at_once=2) as runs:
            names = [runs.start(order(topic)) for topic in ("Silk Road", "Amber Road")]
            states = [ended(runs, name) for name in names]
            costs = [runs.view(name).cost or 0 for name in names]
        assert states == ["finished", "finished"]
        assert 0 < sum(costs) <= 0.5
        with service(model, tmp_path, owner, budget=sum(costs)) as runs, pytest.raises(BudgetSpentError):
            runs.start(order("Salt Road"))
        with service(model, tmp_path, owner, budget=sum(costs) + 0.3) as runs:
            runs.delete(names[0])
            last = runs.start(order("Salt Road"))
            assert ended(runs, last) == "finished"


def test_a_run_that_is_resumed_twice_at_once_begins_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = {"max_cost": 10, "prices": ("openai/fake=1/1",), "max_tokens": None}
    with FakeModel(answers()) as model, service(model, tmp_path, owner, budget=15, at_once=3) as runs:
        name, add = runs.start(order("Silk Road"), Caller("anna")), runs.queue.add
        assert ended(runs, name) == "finished"

        def slowly(job: Job) -> Any:
            time.sleep(0.3)
            return add(job)

        def resumed(_: int) -> str:
            try:
                return runs.resume(name, {"length": "short"})
            except ConflictError as error:
                return str(error)

        monkeypatch.setattr(runs.queue, "add", slowly)
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(resumed, range(4)))
        assert sum(one == name for one in found) == 1, found
        assert ended(runs, name) == "finished"
        other = runs.start(order("Amber Road"))  # which what was reserved would keep waiting
        assert ended(runs, other) == "finished"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"spent": -1}', '{"spent": true}', '{"spent": "1"}', "\\xff"])
def test_a_damaged_record_of_the_budget_is_told(tmp_path: Path, content: str) -> None:
    (records_folder(tmp_path / "runs") / "budget.json").write_bytes(content.encode("latin-1"))
    owner = {"max_cost": 1, "prices": PRICES}
    with (
        FakeModel() as model,
        pytest.raises(StormError, match="does not say what the runs have cost"),
        service(model, tmp_path, owner, budget=1),
    ):
        pass
