"""What pages and clients ask of a server's runs: estimates, pieces, edited outlines, questions and read-only links."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest
from api_server import small_settings, small_storm
from llm import FakeModel
from test_resume import answers
from test_server_queue import PRICES, ended, service

from storm_pipeline.errors import BudgetSpentError, ContradictionError, SettingsError
from storm_pipeline.interfaces.estimate import estimate
from storm_pipeline.interfaces.server.callers import CALLER, OWNER, Caller
from storm_pipeline.interfaces.server.errors import ConflictError, UnknownRunError
from storm_pipeline.interfaces.server.records import records_folder
from storm_pipeline.interfaces.server.remote_settings import RemoteSettings, RunOrder
from storm_pipeline.interfaces.server.run_service import RunService
from storm_pipeline.run.events import adapter_of
from storm_pipeline.storm import prepare

OUTLINE = "# Goods\n## Silk\n# Routes\n"
QUESTION = "Who travelled the road?"


@pytest.fixture(autouse=True)
def _by_the_owner() -> Iterator[None]:
    before = CALLER.set(OWNER)
    yield
    CALLER.reset(before)


def order(**more: object) -> RunOrder:
    return RunOrder.model_validate({"topic": "Silk Road", "settings": {"perspectives": 1, "turns": 2}, **more})


def finished(runs: RunService, name: str) -> str:
    assert ended(runs, name) == "finished", runs.view(name).reason
    return name


def test_an_estimate_is_that_of_the_command_line_with_the_time_of_earlier_runs(tmp_path: Path) -> None:
    with FakeModel(answers()) as model, service(model, tmp_path, {"prices": PRICES}) as runs:
        first = runs.estimate(order())
        settings = small_settings(model.lm, tmp_path, tmp_path).model_copy(update={"perspectives": 1, "turns": 2})
        expected = asdict(estimate(settings.model_copy(update={"prices": PRICES}), "Silk Road"))
        shown = adapter_of(type(first)).dump_python(first, mode="json")
        assert (shown.pop("minutes"), shown.pop("outline")) == (None, "")
        assert shown == json.loads(json.dumps(expected).replace(model.lm, "openai/fake"))
        assert not model.asked
        run = finished(runs, runs.start(order()))
        usage_file = tmp_path / "runs" / run / "usage.json"
        usage = json.loads(usage_file.read_text()) | {"seconds": 600.0}
        usage_file.write_text(json.dumps(usage))
        later = runs.estimate(order())
        assert later.minutes
        made = sum(row["tokens_out"] for row in usage["rows"])
        assert later.minutes.likely == round(10 * later.tokens_out.likely / made, 1)
        with pytest.raises(SettingsError):
            runs.estimate(order(settings={"out": "/tmp"}))
        short = runs.estimate(order(makes="outline"))
        assert short.calls.likely < later.calls.likely


def test_pieces_grow_with_the_run(tmp_path: Path) -> None:
    with FakeModel(answers()) as model, service(model, tmp_path) as runs:
        run = finished(runs, runs.start(order()))
        article = runs.article(run)
        whole = runs.pieces(run)
        assert [one.name for one in whole.perspectives] == ["Editor 0"]
        assert [one.perspective for one in whole.conversations] == ["Basic fact writer", "Editor 0", "Reader"]
        assert all(turn.question and turn.answer for one in whole.conversations[:2] for turn in one.turns)
        assert whole.outline_state == "final"
        assert [section.heading for section in whole.sections] == [section.heading for section in article.sections]
        assert {source.id for source in article.sources} <= {source.id for source in whole.sources}
        cited = {source.id for source in whole.sources if source.cited_in}
        assert cited == {source.id for source in article.references}
        assert all(source.rating and source.reason for source in whole.sources)
        folder = tmp_path / "runs" / run
        for name in ("article.json", "conversations.json", "outline.md"):  # as while it was under way
            (folder / name).unlink()
        before = runs.pieces(run)
        assert [one.perspective for one in before.conversations] == ["Basic fact writer", "Reader", "Editor 0"]
        assert before.outline_state == "draft"
        assert len(before.sections) == len(whole.sections)
        for path in (*folder.glob("conversations/e*"), *folder.glob("sections/01*")):
            path.write_text('{"perspective": 3}')
        (folder / "perspectives.json").write_bytes(b"\xff")
        left = runs.pieces(run)
        assert (left.perspectives, len(left.conversations), len(left.sections)) == ((), 2, len(whole.sections) - 1)
        shutil.rmtree(folder / "conversations")
        assert not runs.pieces(run).conversations
        with pytest.raises(UnknownRunError):
            runs.pieces("no-run")


def test_pieces_are_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-hidden-123456")
    said = {"AskQuestion": f"Is it in {tmp_path}/runs or is it sk-hidden-123456?"}
    with FakeModel(answers() | said) as model, service(model, tmp_path) as runs:
        run = finished(runs, runs.start(order(settings={"perspectives": 0, "turns": 1})))
        (question,) = {turn.question for turn in runs.pieces(run).conversations[0].turns}
    assert str(tmp_path) not in question
    assert "sk-hidden" not in question


@pytest.mark.parametrize("recipe", ["storm", "storm-iterative"])
def test_an_outline_is_edited_and_becomes_an_article_and_nothing_is_paid_twice(tmp_path: Path, recipe: str) -> None:
    with FakeModel(answers()) as model, service(model, tmp_path) as runs:
        first = finished(runs, runs.start(order(makes="outline", recipe=recipe)))
        bought = [(one.signature, one.prompt) for one in model.asked]
        research = {"AskQuestion", "WriteQueries", "AnswerFromPassages", "FindPerspectives", "FindRelatedTopics"}
        assert research <= {signature for signature, _ in bought}
        second = finished(runs, runs.continue_from(first, OUTLINE))
        new = [(one.signature, one.prompt) for one in model.asked[len(bought) :]]
        assert not set(new) & set(bought)
        assert not {signature for signature, _ in new} & {"FindPerspectives", "DraftOutline", "RefineOutline"}
        view = runs.view(second)
        assert (view.makes, view.recipe) == ("article", recipe)
        assert view.calls == len(new)
        assert [section.heading for section in runs.article(second).sections] == ["Goods", "Routes"]
        assert runs.pieces(first).outline != OUTLINE  # the earlier run stays as it was
        weaver = finished(runs, runs.continue_from(first, None, [{"name": "Weaver", "focus": "Looms."}]))
        names = [one.perspective for one in runs.pieces(weaver).conversations]
        assert names[:2] == ["Basic fact writer", "Weaver"]


def test_what_cannot_be_continued(tmp_path: Path) -> None:
    with FakeModel(answers()) as model, service(model, tmp_path) as runs:
        run = finished(runs, runs.start(order(makes="outline")))
        folders = len(list((tmp_path / "runs").iterdir()))
        with pytest.raises(ContradictionError, match="heading"):
            runs.continue_from(run, "no heading here, only prose that goes on.")
        with pytest.raises(ContradictionError, match="perspectives"):
            runs.continue_from(run, None, [{"who": "Weaver"}])
        with pytest.raises(UnknownRunError):
            runs.continue_from("no-run", OUTLINE)
        with pytest.raises(UnicodeEncodeError):  # the run's record cannot be written
            runs.continue_from(run, OUTLINE, [{"name": "a\ud800", "focus": "b"}])
        with pytest.raises(SettingsError, match="surrogate"):
            RunOrder.of(topic="a\ud800")
        assert len(list((tmp_path / "runs").iterdir())) == folders


def test_the_new_run_is_of_its_caller_and_searches_the_same_documents(tmp_path: Path) -> None:
    anna = Caller("anna")
    with FakeModel(answers()) as model, service(model, tmp_path) as runs:
        documents = runs.documents.create(anna).documents
        with runs.documents.upload(anna, documents, "silk.txt", None) as upload:
            upload.write(
                b"The Silk Road was a network of trade routes. Silk came by caravan along the Silk Road.\n" * 9
            )
            upload.commit()
        run = finished(runs, runs.start(order(makes="outline", documents=documents), anna))
        new = finished(runs, runs.continue_from(run, OUTLINE, caller=anna))
        assert (runs.view(new).caller, runs.view(new).documents) == ("anna", documents)
        assert set(runs.documents.view(anna, documents).runs) == {run, new}
        assert {source.url.rpartition("/")[2] for source in runs.pieces(new).sources} == {"silk.txt"}


def test_a_question_counts_in_the_usage_of_the_run_and_in_the_budgets(tmp_path: Path) -> None:
    with FakeModel(answers()) as model:
        with service(model, tmp_path, {"prices": PRICES, "max_cost": 1.0}, budget=2.0) as runs:
            run = finished(runs, runs.start(order(recipe="storm")))
            budget = records_folder(tmp_path / "runs") / "budget.json"
            before, cost = json.loads(budget.read_text())["spent"], runs.view(run).cost
            assert cost
            answer = runs.ask(run, QUESTION)
            assert list(answer.sentences())
            assert answer.usage.cost
            assert runs.view(run).cost == pytest.approx(cost + answer.usage.cost)
            assert json.loads(budget.read_text())["spent"] == pytest.approx(before + answer.usage.cost)
            asked = len(model.asked)
            assert runs.ask(run, QUESTION) == answer
            assert len(model.asked) == asked
            spent = json.loads(budget.read_text())["spent"]
            with pytest.raises(UnknownRunError):
                runs.ask("no-run", QUESTION)
            outline = finished(runs, runs.start(order(makes="outline")))
            with pytest.raises(ConflictError, match="no article"):
                runs.ask(outline, QUESTION)
        with (
            service(model, tmp_path, {"prices": PRICES, "max_cost": 1.0}, budget=spent) as poor,
            pytest.raises(BudgetSpentError),
        ):
            poor.ask(run, "What else?")
        with service(model, tmp_path, {"prices": PRICES, "max_cost": cost}) as capped, pytest.raises(BudgetSpentError):
            capped.ask(run, "What else?")


def test_a_shared_article_is_read_by_its_key_until_that_is_revoked(tmp_path: Path) -> None:
    with FakeModel(answers()) as model, service(model, tmp_path) as runs:
        run = finished(runs, runs.start(order(recipe="direct")))
        assert not runs.view(run).shared
        first = runs.share(run)
        assert len(first) >= 43
        assert runs.shared(first) == run
        assert runs.view(run).shared
        assert first not in (tmp_path / "runs" / run / "run.json").read_text()
        second = runs.share(run)
        assert runs.shared(second) == run
        for wrong in (first, "", "x" * 43):
            with pytest.raises(UnknownRunError):
                runs.shared(wrong)
        runs.resume(run)
        assert runs.shared(second) == run
        runs.unshare(run)
        assert not runs.view(run).shared
        with pytest.raises(UnknownRunError):
            runs.shared(second)
        outline = finished(runs, runs.start(order(makes="outline")))
        with pytest.raises(ConflictError):
            runs.share(outline)


def test_a_link_is_open_and_all_else_needs_the_token(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    from described_api import application
    from described_api import service as at_once

    token = "correct-horse-battery"
    with at_once(tmp_path) as runs:
        app = application(runs, token)

        def ask(method: str, path: str, *, with_token: bool = True, **request: Any) -> httpx.Response:
            async def send() -> httpx.Response:
                async with httpx.AsyncClient(
                    transport=httpx.ASGITransport(app),
                    base_url="http://testserver",
                    headers={"Authorization": f"Bearer {token}"} if with_token else {},
                ) as client:
                    return await client.request(method, path, **request)

            return asyncio.run(send())

        run = ask("POST", "/runs", json={"topic": "Orrin dam"}).json()["run"]
        assert ended(runs, run) == "finished"
        for method, path in (("GET", "pieces"), ("POST", "share"), ("POST", "questions"), ("POST", "continue")):
            assert ask(method, f"/runs/{run}/{path}", with_token=False).status_code == 401
        assert ask("POST", "/estimate", with_token=False, json={"topic": "x"}).status_code == 401
        assert ask("POST", "/estimate", json={"topic": "x"}).json()["dollars"]["likely"] > 0
        assert [one["heading"] for one in ask("GET", f"/runs/{run}/pieces").json()["sections"]] == ["History"]
        asked = ask("POST", f"/runs/{run}/questions", json={"question": QUESTION})
        assert asked.text.startswith(f"# {QUESTION}\n")
        assert ask("POST", f"/runs/{run}/questions?format=no", json={"question": QUESTION}).status_code == 400
        link = f"/shared/{ask('POST', f'/runs/{run}/share').json()['key']}/article"
        shared = ask("GET", link, with_token=False)
        assert shared.text == ask("GET", f"/runs/{run}/article").text
        assert ask("GET", f"{link}?format=json", with_token=False).status_code == 400  # it has the research
        page = ask("GET", f"{link}?format=html", with_token=False)
        assert page.headers["content-security-policy"].startswith("default-src 'none'")
        assert ask("POST", link, with_token=False).status_code == 405
        assert ask("DELETE", f"/runs/{run}/share").status_code == 204
        assert ask("GET", link, with_token=False).status_code == 404


def test_the_folder_of_a_run_chooses_no_model_that_no_caller_chose(tmp_path: Path) -> None:
    with FakeModel(answers()) as model:
        settings = small_settings(model.lm, tmp_path / "runs", tmp_path / "cache")
        other = model.lm.replace("openai/fake", "openai/other")
        theirs = settings.model_copy(update={"lm": other, "perspectives": 1, "turns": 1})
        foreign = prepare(small_storm(theirs), "Tin Road").name
        remote = RemoteSettings.build(settings, [f"lm={other}"])
        few = {"perspectives": 1, "turns": 1}
        with RunService(remote, at_once=1, open_storm=small_storm) as runs:
            finished(runs, runs.resume(foreign))
            assert {asked.body["model"] for asked in model.asked} == {"fake"}
            count = len(model.asked)
            own = finished(runs, runs.start(RunOrder(topic="Amber Road", settings={**few, "lm": other})))
            assert {asked.body["model"] for asked in model.asked[count:]} == {"other"}
        with RunService(remote, at_once=1, open_storm=small_storm) as later:
            count = len(model.asked)
            finished(later, later.continue_from(own, OUTLINE))
            assert {asked.body["model"] for asked in model.asked[count:]} == {"other"}
