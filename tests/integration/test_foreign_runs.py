"""A server of a folder of runs that somebody else made, and callers who send what is refused."""

import hashlib
import json
import shutil
from pathlib import Path

import httpx
import pytest
from llm import FakeModel
from test_callers import TOKEN, as_caller
from test_http_api import served, started, watched
from test_resume import answers

from storm_pipeline.interfaces.server.budget import Budgets
from storm_pipeline.interfaces.server.callers import Caller, Tokens
from storm_pipeline.interfaces.server.records import records_folder
from storm_pipeline.run.events import adapter_of
from storm_pipeline.run.folder import RunStore
from storm_pipeline.settings import Settings
from storm_pipeline.types import Conversation, Perspective, Section

pytest.importorskip("fastapi")

STRANGER = "storm_strangers-own-token-0123456789"


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
        with (
            served(model.lm, tmp_path, f"lm={dear.lm}", token=TOKEN) as owner,
            as_caller(owner, anna) as caller,
            as_caller(owner, STRANGER) as stranger,
        ):
            assert stranger.get("/runs").status_code == 401
            (view,) = owner.get("/runs").json()
            assert (view["run"], view["caller"], view["shared"], view["documents"]) == (run, "", False, None)
            assert (caller.get("/runs").json(), caller.get("/documents").json()) == ([], [])
            assert owner.post(f"/runs/{run}/resume").status_code == 202
            assert watched(owner, run)[1] == "finished"
            assert caller.get(f"/runs/{run}/article").status_code == 404
            assert httpx.get(f"{owner.base_url}/shared/{STRANGER}/article", trust_env=False).status_code == 404
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
        served(dear.lm, tmp_path, f"lm={cheap.lm}", token=TOKEN) as owner,
        as_caller(owner, first) as anna,
        as_caller(owner, second) as bert,
    ):
        small = {"perspectives": 0, "turns": 1}
        run = started(bert, recipe="direct", settings=small | {"lm": cheap.lm})
        assert watched(bert, run)[1] == "finished"
        other = started(anna, recipe="direct", settings=small)
        assert watched(anna, other)[1] == "finished"
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
        assert watched(bert, run)[1] == "finished"
        assert len(dear.asked) == asked


def test_linked_folders_in_a_run_are_not_followed(tmp_path: Path) -> None:
    conversation = Conversation(Perspective("PRIVATE", "PRIVATE"), ())
    for name, piece in {"sections": Section("PRIVATE", ()), "conversations": conversation}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.json").write_bytes(adapter_of(type(piece)).dump_json(piece))
    run = planted(tmp_path / "runs", "openai/fake")
    with FakeModel() as model, served(model.lm, tmp_path) as client:
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
        with served(model.lm, tmp_path, GO_ON="1") as client:
            assert (client.get(f"/runs/{run}").json()["state"], model.asked) == ("interrupted", [])
            assert client.post(f"/runs/{run}/resume").status_code == 202
            assert watched(client, run)[1] == "finished"
