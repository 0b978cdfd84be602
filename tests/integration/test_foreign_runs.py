"""A server of a folder of runs that somebody else made, and callers who send what is refused."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from api_server import small_settings, small_storm
from llm import FakeModel
from test_callers import TOKEN
from test_http_api import started
from test_resume import answers
from test_server_queue import ended

from storm_pipeline.interfaces.server.budget import Budgets
from storm_pipeline.interfaces.server.callers import Caller, Tokens
from storm_pipeline.interfaces.server.http_api import create_app
from storm_pipeline.interfaces.server.records import records_folder
from storm_pipeline.interfaces.server.remote_settings import RemoteSettings
from storm_pipeline.interfaces.server.run_service import RunService
from storm_pipeline.run.events import adapter_of
from storm_pipeline.run.folder import RunStore
from storm_pipeline.settings import Settings
from storm_pipeline.types import Conversation, Perspective, Section

pytest.importorskip("fastapi")

from starlette.testclient import TestClient

STRANGER = "storm_strangers-own-token-0123456789"


@contextmanager
def server(model: FakeModel, place: Path, *allow: str) -> Iterator[tuple[RunService, Callable[[str], TestClient]]]:
    """A server of runs, and what opens a client with a token."""
    remote = RemoteSettings.build(small_settings(model.lm, place / "runs", place / "cache"), allow)
    with RunService(remote, at_once=1, open_storm=small_storm) as runs:
        app = create_app(runs, TOKEN)
        yield (
            runs,
            lambda token: TestClient(app, "http://127.0.0.1", headers={"Authorization": f"Bearer {token}"}),
        )


def planted(runs: Path, model: str, status: str = "stopped") -> str:
    """A run and records of a server, all a stranger's; the name of the run."""
    secret = hashlib.sha256(STRANGER.encode()).hexdigest()
    documents = "0" * 32
    with RunStore.create(runs, "Silk Road", "direct") as run:
        run.queue(Settings(lm=model, perspectives=0, turns=1), {})
        run.update_state(status=status, caller="anna", shared=secret, documents=documents)
    token = {"name": "mallory", "sha256": secret, "budget": None, "created": "2026-01-01", "revoked": False}
    (runs / ".documents" / documents).mkdir(parents=True)
    for name, content in {
        ".tokens.json": [token],
        ".services.json": {run.folder.name: {"lm": model}},
        ".budget-anna.json": {"spent": 1000, "month": "2026-11"},
        f".documents/{documents}/.set.json": {"caller": "anna", "created": "2026", "runs": []},
    }.items():
        (runs / name).write_text(json.dumps(content))
    return run.folder.name


def test_nothing_in_a_folder_of_runs_says_whose_they_are(tmp_path: Path) -> None:
    anna = Tokens(tmp_path / "runs").add("anna")
    with FakeModel(answers()) as model, FakeModel(answers()) as dear:
        run = planted(tmp_path / "runs", dear.lm)
        with server(model, tmp_path, f"lm={dear.lm}") as (runs, client):
            owner, caller, stranger = map(client, (TOKEN, anna, STRANGER))
            assert stranger.get("/runs").status_code == 401
            (view,) = owner.get("/runs").json()
            assert (view["run"], view["caller"], view["shared"], view["documents"]) == (run, "", False, None)
            assert (caller.get("/runs").json(), caller.get("/documents").json()) == ([], [])
            assert owner.post(f"/runs/{run}/resume").status_code == 202
            assert ended(runs, run) == "finished"
            assert caller.get(f"/runs/{run}/article").status_code == 404
            assert stranger.get(f"/shared/{STRANGER}/article").status_code == 404
            assert (bool(model.asked), dear.asked) == (True, [])
    budget = Budgets(tmp_path / "runs", None).of(Caller("anna", 1.0))
    assert budget
    assert budget.spent == 0


def test_what_is_refused_or_damaged_changes_no_run(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "runs")
    first, second = tokens.add("anna"), tokens.add("bert")
    with (
        FakeModel(answers()) as dear,
        FakeModel(answers()) as cheap,
        server(dear, tmp_path, f"lm={cheap.lm}") as (runs, client),
    ):
        owner, anna, bert = map(client, (TOKEN, first, second))
        small = {"perspectives": 0, "turns": 1}
        run = started(bert, recipe="direct", settings=small | {"lm": cheap.lm})
        assert ended(runs, run) == "finished"
        other = started(anna, recipe="direct", settings=small)
        assert ended(runs, other) == "finished"
        kept = records_folder(tmp_path / "runs") / "runs"
        assert (kept.parent.stat().st_mode & 0o777, (kept / f"{run}.json").stat().st_mode & 0o777) == (0o700, 0o600)
        before, asked = {path.name: path.read_text() for path in kept.iterdir()}, len(dear.asked)
        deep = f'{{"settings": {{"lm": {"[" * 300}{"]" * 300}}}}}'
        json_type = {"Content-Type": "application/json"}
        assert anna.post(f"/runs/{other}/resume", content=deep, headers=json_type).status_code == 400
        assert anna.post(f"/runs/{other}/resume", json={"settings": {"lm": "x"}}).status_code == 400
        assert {path.name: path.read_text() for path in kept.iterdir()} == before
        (kept / f"{other}.json").write_text("{")
        assert owner.post(f"/runs/{other}/resume", json={"settings": {"lm": cheap.lm}}).status_code == 500
        assert (kept / f"{other}.json").read_text() == "{"
        assert bert.post(f"/runs/{run}/resume", json={"settings": {"length": "short"}}).status_code == 202
        assert ended(runs, run) == "finished"
        assert len(dear.asked) == asked


def test_linked_folders_in_a_run_are_not_followed(tmp_path: Path) -> None:
    conversation = Conversation(Perspective("PRIVATE", "PRIVATE"), ())
    for name, piece in {"sections": Section("PRIVATE", ()), "conversations": conversation}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.json").write_bytes(adapter_of(type(piece)).dump_json(piece))
    run = planted(tmp_path / "runs", "openai/fake")
    with FakeModel() as model, server(model, tmp_path) as (_, opened):
        client = opened(TOKEN)
        for name in ("sections", "conversations"):
            shutil.copytree(tmp_path / name, tmp_path / "runs" / run / name)
        assert client.get(f"/runs/{run}/pieces").text.count("PRIVATE") == 3
        for name in ("sections", "conversations"):
            shutil.rmtree(tmp_path / "runs" / run / name)
            (tmp_path / "runs" / run / name).symlink_to(tmp_path / name)
        for path in (f"/runs/{run}/pieces", f"/watch/{run}"):
            assert "PRIVATE" not in client.get(path).text


def test_a_run_that_no_server_began_does_not_go_on_by_itself(tmp_path: Path) -> None:
    with FakeModel(answers()) as model:
        run = planted(tmp_path / "runs", model.lm, status="queued")
        with server(model, tmp_path) as (runs, opened):
            client = opened(TOKEN)
            assert runs.resume_unfinished() == ()
            assert (client.get(f"/runs/{run}").json()["state"], model.asked) == ("interrupted", [])
            assert client.post(f"/runs/{run}/resume").status_code == 202
            assert ended(runs, run) == "finished"
