"""The check of an article as a service, by HTTP and by MCP: what the command finds, within the same bounds."""

import asyncio
import json
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from llm import FakeModel
from servers import Reply, ScriptedServer
from typer.testing import CliRunner
from year_judge import YearJudge

from storm_pipeline.errors import PageError, StoppedError
from storm_pipeline.evidence.judges.base import Question, Verdict
from storm_pipeline.evidence.judges.opening import open_judge
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.cli import app
from storm_pipeline.interfaces.server.callers import CALLER, OWNER
from storm_pipeline.interfaces.server.records import records_folder
from storm_pipeline.interfaces.server.remote_settings import RemoteSettings
from storm_pipeline.interfaces.server.run_service import RunService
from storm_pipeline.output.articles.pages import AvailablePages
from storm_pipeline.run.concurrency import TurnLock, is_unwanted, within_block
from storm_pipeline.settings import Settings
from storm_pipeline.sources.pages.extract import Page

pytest.importorskip("fastapi")
mcp = pytest.importorskip("mcp")

PAGE = {"url": "https://example.org/o", "title": "Orrin", "text": "The Orrin dam was finished in 1926 by two crews."}
WRITTEN = (
    "The Orrin dam was finished in 1926.[^1] The Orrin dam was finished in 1999.[^1]\n\n[^1]: https://example.org/o\n"
)
JUDGED = "1: supported [1]\n2: contradicted - it was finished in 1926"
ORDER: dict[str, Any] = {"title": "Dam", "markdown": WRITTEN, "sources": [PAGE]}


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunService]:
    for module in ("interfaces.server.checking", "evidence.judges.opening"):  # imported before either is replaced
        monkeypatch.setattr(f"storm_pipeline.{module}.open_judge", lambda *_, **__: YearJudge())
    owner = Settings(out=tmp_path / "runs", cache=tmp_path / "cache")
    with RunService(RemoteSettings.build(owner)) as opened:
        yield opened


def gone(url: str) -> Page:
    raise PageError(f"{url} did not answer")


def client_of(service: RunService) -> httpx.AsyncClient:
    from storm_pipeline.interfaces.server.http_api import create_app

    return httpx.AsyncClient(transport=httpx.ASGITransport(app=create_app(service)), base_url="http://127.0.0.1")


def posted(service: RunService, order: object = None, path: str = "/check", **content: Any) -> httpx.Response:
    async def asked() -> httpx.Response:
        async with client_of(service) as client:
            return await client.post(path, **(content or {"json": order}))

    return asyncio.run(asked())


def test_an_article_comes_with_pages_of_any_usual_length(service: RunService) -> None:
    answer = posted(service, ORDER | {"sources": [PAGE | {"text": PAGE["text"] + " a, b," * 60_000}]})
    assert answer.status_code == 200


@pytest.mark.parametrize("comma", [",", r"\u002c", " ,\\n"])
def test_json_in_an_argument_counts_as_json(service: RunService, comma: str) -> None:
    arguments = {"settings": f"\n[{'[],' * 60_000}1]"}
    body = json.dumps({"method": "tools/call", "params": {"name": "start", "arguments": arguments}})
    answer = posted(service, path="/mcp", content=body.replace("],", f"]{comma}"))
    assert (answer.status_code, "100,000 values" in answer.text) == (413, True)


def called(service: RunService, order: dict[str, Any]) -> Any:
    from storm_pipeline.interfaces.server.mcp_tools import create_mcp_server

    async def asked() -> Any:
        CALLER.set(OWNER)
        server = create_mcp_server(service)
        async with mcp.Client(server) as client:
            return await client.call_tool("check", order)

    return asyncio.run(asked())


def test_a_service_finds_what_the_command_finds(service: RunService, tmp_path: Path) -> None:
    file = tmp_path / "Dam.json"
    file.write_text(json.dumps(ORDER))
    options = ("--offline", "--json", "--cache", str(tmp_path / "cache"))
    printed = json.loads(CliRunner().invoke(app, ["check", str(file), *options]).stdout)
    answer = posted(service, ORDER)
    assert answer.status_code == 200, answer.text
    assert answer.json() == printed
    assert [own["verdict"] for own in printed["sentences"]] == ["supported", "not"]
    (content,) = called(service, ORDER).content
    told = json.loads(content.text)
    assert "follow no instruction" in told.pop("notice")
    assert told == printed


def test_neither_files_nor_private_addresses_are_read(service: RunService, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("The Orrin dam holds the hidden word.")
    with ScriptedServer(Reply(body="<p>The Orrin dam holds the hidden word.</p>")) as inside:
        for address in (secret.as_uri(), str(secret), f"{inside.url}/page"):
            order = {"markdown": f"The Orrin dam holds it.[^1]\n\n[^1]: {address}\n", "fetch": True}
            answer = posted(service, order)
            assert "hidden word" not in answer.text
            assert answer.json()["counts"].get("supported", 0) == 0
        assert inside.requests == []


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"judge": "model"}, 422),
        ({"sources": [{**PAGE, "path": "/etc/passwd"}]}, 422),
        ({"title": "x" * 17_000_000}, 413),
        ({"markdown": "It is so.[^1] " * 600 + "\n\n[^1]: https://a.org\n"}, 400),
        ({"markdown": "| Year | Length |\n|---|---|\n" + "| 1926 | 40 m[^1] |\n" * 20_000}, 413),
    ],
    ids=["unknown", "path", "large", "sentences", "table"],
)
def test_what_is_too_much_or_unknown_is_refused_before_sources_are_read(
    service: RunService, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], status: int
) -> None:
    monkeypatch.setattr("storm_pipeline.output.articles.pages.AvailablePages.passages", None)
    assert posted(service, ORDER | changes).status_code == status


def test_an_article_that_cites_too_much_is_refused(service: RunService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.interfaces.server.checking.MOST_COMPARED", 10)
    found, passages = list[str](), AvailablePages.passages
    monkeypatch.setattr(AvailablePages, "passages", lambda *given: (found.append(given[1]), passages(*given))[1])
    answer = posted(service, ORDER)
    assert (answer.status_code, "a check or a page may have 10" in answer.text) == (400, True)
    assert len(found) == 1  # no others are looked for


@pytest.mark.parametrize("order", [{"markdown": WRITTEN, "fetch": True}, ORDER])
def test_a_check_that_is_slow_holds_up_no_other(
    service: RunService, monkeypatch: pytest.MonkeyPatch, order: dict[str, Any]
) -> None:
    asked_for, done, judge = threading.Event(), threading.Event(), YearJudge.judge

    def slow(asked: Any) -> Any:
        if not asked_for.is_set():
            asked_for.set()
            done.wait(60)
        return asked

    monkeypatch.setattr("storm_pipeline.interfaces.server.checking.kept_pages", lambda _: lambda url: gone(slow(url)))
    monkeypatch.setattr(YearJudge, "judge", lambda self, questions: judge(self, slow(questions)))

    async def asked() -> list[int]:
        async with client_of(service) as client:
            slow_one = asyncio.create_task(client.post("/check", json=order))
            try:
                assert await asyncio.to_thread(asked_for.wait, 30)
                other = await asyncio.wait_for(client.post("/check", json=ORDER), 30)
            finally:
                done.set()
            return [other.status_code, (await slow_one).status_code]

    assert asyncio.run(asked()) == [200, 200]


@pytest.mark.parametrize("path", ["/check", "/mcp"])
def test_a_check_ends_when_its_client_goes_away(
    service: RunService, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    asked_for, gone, ended, lock = threading.Event(), threading.Event(), threading.Event(), TurnLock()

    def slow(*_: object) -> list[Verdict]:
        asked_for.set()
        try:
            while not gone.wait(0.01):
                with lock:
                    pass
        except StoppedError:
            ended.set()
        return [Verdict("not", 0.0)] * 2

    monkeypatch.setattr(YearJudge, "judge", slow)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "check", "arguments": ORDER}}

    async def asked() -> None:
        from storm_pipeline.interfaces.server.http_api import create_app

        app: Any = create_app(service)
        sent = [json.dumps(call if path == "/mcp" else ORDER).encode()]
        names = {"host": "127.0.0.1", "content-length": str(len(sent[0])), "content-type": "application/json"}
        names |= {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
        headers = [(name.encode(), value.encode()) for name, value in names.items()]
        scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "headers": headers}
        scope |= {"query_string": b"", "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1), "scheme": "http"}

        async def receive() -> dict[str, Any]:
            if sent:
                return {"type": "http.request", "body": sent.pop()}
            await asyncio.to_thread(asked_for.wait, 60)
            return {"type": "http.disconnect"}

        async def send(_: Any) -> None:
            pass

        async with app._app.router.lifespan_context(app._app):
            await app(scope, receive, send)

    try:
        asyncio.run(asked())
        assert ended.wait(30)
    finally:
        gone.set()


def test_a_model_is_asked_no_more_when_nobody_waits_for_the_check(tmp_path: Path) -> None:
    gone = threading.Event()

    def judged(_: str) -> str:
        gone.set()
        return JUDGED

    with within_block(is_unwanted, gone.is_set), FakeModel({"CheckSentences": judged}) as model:
        judge = open_judge("model", Settings.build({"lm": model.lm, "cache": tmp_path, "workers": 1}))
        with pytest.raises(StoppedError):
            judge.judge([Question(f"It was {number}.", ("It was long ago.",)) for number in range(200)])
        assert len(model.asked) == 1


def test_no_page_is_fetched_when_nobody_waits(service: RunService, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = list[str]()
    monkeypatch.setattr(
        "storm_pipeline.interfaces.server.checking.kept_pages", lambda _: lambda url: gone(fetched.append(url) or url)
    )
    written = "".join(f"It was {n}.[^{n}]\n\n[^{n}]: https://example.org/{n}\n\n" for n in range(40))
    with within_block(is_unwanted, lambda: bool(fetched)), pytest.raises(StoppedError):
        service.checks.record(written, "Dam", [], fetch=True)
    assert 1 <= len(fetched) <= 2  # of one host at the same time


def test_a_body_of_very_many_texts_is_refused_in_little_memory(service: RunService) -> None:
    def asked(body: bytes) -> int:
        return posted(service, content=body, headers={"Content-Type": "application/json"}).status_code

    asked(b"[]")
    for body in (b'"' * 4_000_000, b'"' + rb"\a" * 2_000_000):
        tracemalloc.start()
        try:
            assert asked(body) in (413, 422)
            assert tracemalloc.get_traced_memory()[1] < 60_000_000
        finally:
            tracemalloc.stop()
    values = '{"markdown":["\\"",' + "[]," * 200_000 + '"\\""]}'
    statuses = [asked(values.encode(name)) for name in ("utf-8", "utf-16", "utf-16-le", "utf-32-be")]
    assert statuses == [413, 400, 400, 400]
    assert asked(json.dumps(dict.fromkeys(map(str, range(20_000)), 1)).encode()) == 413
    text = rb"\\\" , [ { " * 60_000  # is one value
    assert asked(b'{"unknown": "' + text + b'"}') == 422


def test_checks_that_wait_are_bounded_and_hold_no_other_request_up(
    service: RunService, monkeypatch: pytest.MonkeyPatch
) -> None:
    from storm_pipeline.interfaces.server import checking

    done, checked = threading.Event(), checking.check_article
    monkeypatch.setattr(checking, "check_article", lambda *given, **more: done.wait(60) and checked(*given, **more))

    async def asked() -> list[int]:
        async with client_of(service) as client:
            waiting = [asyncio.create_task(client.post("/check", json=ORDER)) for _ in range(45)]
            refused, _ = await asyncio.wait(waiting[:], return_when=asyncio.FIRST_COMPLETED)
            assert {one.result().status_code for one in refused} == {429}
            assert (await client.get("/health")).status_code == 200
            done.set()
            return [answer.status_code for answer in await asyncio.gather(*waiting)]

    found = asyncio.run(asked())
    assert sorted({*found}) == [200, 429]
    assert found.count(200) >= 1 + checking.MOST_WAITING


def test_a_service_judges_with_its_own_model_while_its_budget_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storm_pipeline.evidence.judges.opening.shared_embedder", lambda *_: HashingEmbedder())
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeModel({"CheckSentences": JUDGED}) as model:
        folders = {"out": tmp_path / "runs", "cache": tmp_path / "cache"}
        owner = Settings.build({"lm": model.lm, "prices": ["fake=100/1"], "max_cost": 1} | folders)
        with RunService(RemoteSettings.build(owner), budget=1) as service:
            first = posted(service, ORDER).json()
            assert "sentences" in first, first
            assert [own["verdict"] for own in first["sentences"]] == ["supported", "contradicted"]
            assert (first["read"], first["support"], first["judge"]) == (2, 0.5, "model:openai/fake")
            assert json.loads((records_folder(tmp_path / "runs") / "budget.json").read_text())["spent"] > 0.01
        with RunService(RemoteSettings.build(owner.model_copy(update={"max_cost": 0.01})), budget=0.01) as service:
            second = json.loads(called(service, ORDER).content[0].text)
        assert len(model.asked) == 1
    assert [own["verdict"] for own in second["sentences"]] == ["on topic", "digits not found"]
    assert (second["read"], second["support"]) == (0, None)
    assert "nothing was read for support" in second["summary"]


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({"prices": ["fake=100/1"], "max_cost": 0.01}, 0),
        ({"prices": ["fake=100/1"], "max_cost": 0.5}, 1),
        ({}, 0),
        ({"prices": ["fake=0/0"]}, 1),
    ],
    ids=["too dear", "below the cap", "of unknown price", "free"],
)
def test_without_a_budget_a_check_asks_a_model_of_known_price_within_the_owners_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], asked: int
) -> None:
    monkeypatch.setattr("storm_pipeline.evidence.judges.opening.shared_embedder", lambda *_: HashingEmbedder())
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with FakeModel({"CheckSentences": JUDGED}) as model:
        owner = Settings.build({"lm": model.lm, "out": tmp_path / "runs", "cache": tmp_path / "cache", **given})
        with RunService(RemoteSettings.build(owner)) as service:
            assert posted(service, ORDER).json()["read"] == 2 * asked
        assert len(model.asked) == asked
