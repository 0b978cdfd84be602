"""The HTTP API, served by a process of its own and asked by an HTTP client."""

import http.client
import json
import multiprocessing
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from api_server import serve
from llm import FakeModel
from servers import closed_port
from test_resume import answers

from storm_pipeline.output.export import export
from storm_pipeline.run.article_json import from_json

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

SMALL = {"perspectives": 0, "turns": 1}


@contextmanager
def served(lm: str, place: Path, *allow: str, token: str = "", **environment: str) -> Iterator[httpx.Client]:
    """A client of a server process, which is interrupted in the end."""
    with serving(lm, place, *allow, token=token, **environment) as (client, _):
        yield client


@cache
def forks() -> Any:
    """Servers are forked from a process that has imported what they need."""
    context = multiprocessing.get_context("forkserver")
    needed = ("storm", "interfaces.server.http_api", "interfaces.server.serving", "models.transport")
    context.set_forkserver_preload(["pytest", "openai", "uvicorn", *(f"storm_pipeline.{name}" for name in needed)])
    return context


@contextmanager
def serving(
    lm: str, place: Path, *allow: str, token: str = "", at: str = "", **environment: str
) -> Iterator[tuple[httpx.Client, Any]]:
    """As :func:`served`, with the process. ``at``: the address, of an earlier server."""
    with closed_port() as free:
        address = at or free
    variables = {**os.environ, "STORM_API_TOKEN": token, **environment}
    where = address.rpartition(":")[2], lm, str(place / "runs"), str(place / "cache")
    process = forks().Process(target=serve, args=(variables, place / "server.log", *where, *allow))
    process.start()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with httpx.Client(base_url=address, headers=headers, timeout=60, trust_env=False) as client:
            answering(client, process.is_alive)
            yield client, process
    finally:
        if process.is_alive():
            os.kill(process.pid, signal.SIGINT)
        process.join(60)


def answering(client: httpx.Client, is_running: Callable[[], bool]) -> None:
    for _ in range(600):
        try:
            client.get("/health")
            return
        except httpx.TransportError:
            assert is_running(), "the server ended"
            time.sleep(0.1)
    raise AssertionError("the server does not answer")


def watched(client: httpx.Client, run: str, after: int = 0) -> tuple[list[tuple[int, dict[str, Any]]], str]:
    """The events of a run until it ends, each with its number, and the state in which it ended."""
    events, fields = [], {}
    with client.stream("GET", f"/runs/{run}/events", headers={"Last-Event-ID": str(after)}) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            if not line and fields:
                if fields.get("event") == "end":
                    return events, json.loads(fields["data"])["state"]
                events.append((int(fields["id"]), json.loads(fields["data"])))
                fields = {}
            elif line and not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value
    raise AssertionError("the stream ended before the run")


def started(client: httpx.Client, topic: str = "Silk Road", **more: Any) -> str:
    answer = client.post("/runs", json={"topic": topic, "settings": SMALL, **more})
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/runs/{answer.json()['run']}"
    return str(answer.json()["run"])


def substituted(text: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(name, value)
    return text


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("api")


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModel]:
    with FakeModel(answers()) as server:
        yield server


@pytest.fixture(scope="module")
def client(model: FakeModel, place: Path) -> Iterator[httpx.Client]:
    with served(model.lm, place, MY_API_KEY="sk-hidden-123456") as opened:
        yield opened


@pytest.fixture(scope="module")
def run(client: httpx.Client) -> str:
    """A finished run."""
    name = started(client)
    assert watched(client, name)[1] == "finished"
    return name


def test_a_run_is_started_watched_and_fetched(client: httpx.Client, model: FakeModel, place: Path) -> None:
    name = started(client, "Amber Road", recipe="direct")
    events, state = watched(client, name)
    assert state == "finished"
    kinds = [event["event"] for _, event in events]
    assert (kinds[0], kinds[-1]) == ("RunStarted", "RunFinished")
    assert {event["folder"] for _, event in events if "folder" in event} == {name}
    assert [number for number, _ in events] == list(range(1, len(events) + 1))
    assert watched(client, name, after=3) == (events[3:], "finished")
    view = client.get(f"/runs/{name}").json()
    assert view | {"created": "", "calls": 0} == {
        "run": name,
        "topic": "Amber Road",
        "makes": "article",
        "recipe": "direct",
        "lm": model.lm.partition("@")[0],
        "length": "standard",
        "article_language": "en",
        "state": "finished",
        "reason": "",
        "position": None,
        "created": "",
        "sessions": 1,
        "calls": 0,
        "tokens_in": 100 * view["calls"],
        "tokens_out": view["tokens_out"],
        "cost": None,
        "ready": True,
        "caller": "",
        "documents": None,
        "shared": False,
    }
    assert view in client.get("/runs").json()
    assert str(place) not in json.dumps([events, view])


def test_an_article_is_fetched_in_every_format(client: httpx.Client, run: str, place: Path) -> None:
    article = from_json(client.get(f"/runs/{run}/article", params={"format": "json"}).text)
    assert article == from_json((place / "runs" / run / "article.json").read_text())
    assert client.get(f"/runs/{run}/article").text == article.to_markdown()
    names = {one["name"] for one in client.get("/formats").json()}
    assert {"markdown", "html", "json", "docx", "epub", "wikitext", "latex", "bibtex", "ris", "csl"} <= names
    for name in names - {"pdf"}:
        answer = client.get(f"/runs/{run}/article", params={"format": name})
        assert answer.status_code == 200
        assert answer.content
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert client.get(f"/runs/{run}/article", params={"format": "docx"}).content == export(article, "docx")
    assert client.get(f"/runs/{run}/article?format=exe").status_code == 400


def test_an_outline_is_made_and_one_is_given(client: httpx.Client) -> None:
    made = started(client, makes="outline")
    assert watched(client, made)[1] == "finished"
    assert "# History" in client.get(f"/runs/{made}/outline").text
    assert client.get(f"/runs/{made}/article").status_code == 409
    given = started(client, outline="# Trade\n# Caravans\n")
    assert watched(client, given)[1] == "finished"
    assert "Caravans" in client.get(f"/runs/{given}/outline").text


def test_a_run_is_stopped_and_resumed_by_another_server(tmp_path: Path) -> None:
    held = threading.Event()

    def slow(user: str) -> str:
        held.wait(20)
        return str(answers()["AskQuestion"](user))

    with FakeModel(answers() | {"AskQuestion": slow}) as model:
        with served(model.lm, tmp_path) as client:
            name = started(client)
            assert client.get(f"/runs/{name}").json()["state"] == "running"
            waiting = client.post("/runs", json={"topic": "Amber Road", "settings": SMALL})
            assert (waiting.status_code, waiting.json()["state"], waiting.json()["position"]) == (202, "queued", 1)
            assert client.delete(f"/runs/{name}").status_code == 409
            gone = client.delete(f"/runs/{waiting.json()['run']}")
            assert (gone.status_code, gone.content) == (204, b"")
            assert client.get(f"/runs/{waiting.json()['run']}").status_code == 404
            assert client.post(f"/runs/{name}/resume").status_code == 409
            assert client.get(f"/runs/{name}/article").status_code == 409
            assert client.post(f"/runs/{name}/stop").status_code == 202
            held.set()
            assert watched(client, name)[1] == "stopped"
        asked = len(model.asked)
        with served(model.lm, tmp_path) as client:
            assert client.get(f"/runs/{name}").json()["state"] == "stopped"
            assert client.post(f"/runs/{name}/resume").status_code == 202
            events, state = watched(client, name)
            assert state == "finished"
            assert sum(event["event"] == "RunStarted" for _, event in events) == 2
            assert sum(event["event"] == "Reused" and event["kind"] == "reply" for _, event in events) == asked
            assert client.get(f"/runs/{name}").json()["sessions"] == 2
            before = len(model.asked)
            assert client.post(f"/runs/{name}/resume").json()["state"] == "finished"
            assert len(model.asked) == before


@pytest.fixture(scope="module")
def beside(run: str, place: Path) -> None:
    """A hidden run, a link to a run, and a folder that holds none."""
    runs = place / "runs"
    shutil.copytree(runs / run, runs / ".hidden")
    (runs / "link").symlink_to(runs / run)
    (runs / "empty").mkdir()


NAMES = "no-such-run empty link .hidden . .. %2e %2e%2e ..%2f..%2fetc %2fetc%2fpasswd a%00b %ff %2e%2e%5c".split()


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("what", ["", "/article", "/outline", "/events", "/resume", "/stop"])
def test_a_run_is_a_name_and_no_path(client: httpx.Client, name: str, what: str) -> None:
    raw = http.client.HTTPConnection(client.base_url.host, client.base_url.port, timeout=20)
    raw.request("POST" if what in {"/resume", "/stop"} else "GET", f"/runs/{name}{what}")
    answer = raw.getresponse()
    assert answer.status == 404
    assert len(answer.read()) < 100
    raw.close()


@pytest.mark.usefixtures("beside")
def test_only_runs_are_listed(client: httpx.Client) -> None:
    listed = {view["run"] for view in client.get("/runs").json()}
    assert not listed & {"link", "empty", ".hidden"}


def test_keys_in_paths_are_not_logged(client: httpx.Client, place: Path) -> None:
    for path in ("/shared/secret-of-a-link/article", "/enter?key=secret-of-the-address", "/runs?most=7"):
        client.get(path)
    log = (place / "server.log").read_text(encoding="utf-8")
    assert "GET /runs?most=7" in log
    assert "GET /shared/…" in log
    assert "secret-of" not in log
