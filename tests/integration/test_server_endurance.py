"""The HTTP server against pages of other sites, signals, a kill in the middle of a run, and many readers at once."""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from llm import FakeModel
from test_http_api import served, serving, started, watched
from test_resume import answers

pytest.importorskip("fastapi")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the server."""
    return tmp_path_factory.mktemp("endurance")


@pytest.fixture(scope="module")
def client(place: Path) -> Iterator[httpx.Client]:
    """A client of a server."""
    with served("openai/fake@http://127.0.0.1:9/v1", place) as found:
        yield found


@pytest.mark.parametrize("path", ["/runs", "/health", "/settings", "/openapi.json", "/runs/x/events"])
def test_a_page_of_another_site_may_not_get(client: httpx.Client, path: str) -> None:
    refused = client.get(path, headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"})
    assert refused.status_code == 403
    assert set(refused.json()) == {"error", "kind"}
    for site in ("none", "same-origin", "same-site"):
        assert client.get("/health", headers={"Sec-Fetch-Site": site}).status_code == 200
    local = {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:3000"}
    assert client.get("/health", headers=local).status_code == 200


def test_mcp_has_no_streams_that_stay_empty(client: httpx.Client) -> None:
    pytest.importorskip("mcp")
    accept = {"Accept": "application/json, text/event-stream"}
    for method in ("GET", "DELETE"):
        refused = client.request(method, "/mcp", headers=accept)
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    version = "2026-07-28"
    headers = accept | {"MCP-Protocol-Version": version, "Mcp-Method": "subscriptions/listen"}
    about = {"protocolVersion": version, "clientCapabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
    params = {"notifications": {"toolsListChanged": True}, "_meta": meta}
    order = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    refused = client.post("/mcp", json=order, headers=headers, timeout=10)
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, -32601)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("signals", [1, 2])
def test_a_signal_ends_the_server_before_its_model_replies(tmp_path: Path, signals: int) -> None:
    lines = list[str]()
    held, replied = threading.Event(), list[bool]()

    def slow(_: str) -> str:
        replied.append(held.wait(60))
        return ""

    with FakeModel(answers() | {"DraftOutline": slow}) as model, serving(model.lm, tmp_path) as (client, process):
        run = started(client, recipe="direct")
        while not model.of("DraftOutline"):
            time.sleep(0.05)
        with client.stream("GET", f"/runs/{run}/events") as events:
            stream = events.iter_lines()
            lines.append(next(stream))
            for _ in range(signals):
                os.kill(process.pid, signal.SIGTERM)
                time.sleep(0.3)
            with suppress(httpx.HTTPError):
                lines += stream
        process.join(60)
        assert process.exitcode == (0 if signals == 1 else 130)
        assert not replied
        held.set()
    if signals == 1:
        end = lines.index("event: end")
        assert '{"state":"interrupted","reason":""}' in "".join(lines[end:]).replace(" ", "")
        assert "Traceback" not in (tmp_path / "server.log").read_text()


def read_until(client: httpx.Client, run: str, event: str) -> list[tuple[int, dict[str, Any]]]:
    """The events of a run up to one of a name, each with its number."""
    events: list[tuple[int, dict[str, Any]]] = []
    fields: dict[str, str] = {}
    with client.stream("GET", f"/runs/{run}/events") as stream:
        for line in stream.iter_lines():
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            else:
                events.append((int(fields["id"]), json.loads(fields["data"])))
                if events[-1][1]["event"] == event:
                    break
    return events


def test_a_run_goes_on_after_a_kill_and_its_stream_misses_and_repeats_nothing(tmp_path: Path) -> None:
    writing, may_write = threading.Event(), threading.Event()

    def write_later(user: str) -> str:
        writing.set()
        may_write.wait(60)
        written: str = answers()["WriteSection"](user)
        return written

    with FakeModel(answers() | {"WriteSection": write_later}) as model:
        with serving(model.lm, tmp_path) as (client, process):
            run = started(client, recipe="storm")
            before = read_until(client, run, "Searched")
            assert writing.wait(60)
            process.kill()
            process.join()
        bought = [asked.prompt for asked in model.asked if asked.signature != "WriteSection"]
        may_write.set()
        last = before[-1][0]
        with serving(model.lm, tmp_path, GO_ON="1") as (client, _):
            after, state = watched(client, run, last)
            assert client.get(f"/runs/{run}/article").status_code == 200
    assert state == "finished"
    log = (tmp_path / "runs" / run / "events.jsonl").read_text(encoding="utf-8").splitlines()
    numbers = [number for number, _ in (*before, *after)]
    assert numbers == list(range(1, len(log) + 1))
    named = [(record["event"], record["at"]) for _, record in (*before, *after)]
    assert named == [(record["event"], record["at"]) for record in map(json.loads, log)]
    assert [record["session"] for _, record in (*before, *after) if record["event"] == "RunStarted"] == [1, 2]
    again = [asked.prompt for asked in model.asked if asked.signature != "WriteSection"]
    assert sum(prompt in bought for prompt in again) == len(bought)  # nothing that was answered is asked again


TOPICS = ("Silk Road", "Amber Road", "Tin Road", "Salt Road")


def test_many_readers_of_several_runs_miss_and_mix_nothing(tmp_path: Path) -> None:
    with FakeModel(answers()) as model, served(model.lm, tmp_path, AT_ONCE="4") as client:
        runs = [started(client, topic, recipe="storm") for topic in TOPICS]

        def follow(number: int) -> list[tuple[int, dict[str, Any]]]:
            with httpx.Client(base_url=client.base_url, trust_env=False, timeout=60) as own:
                events, state = watched(own, runs[number % 4])
            assert state == "finished"
            return events

        with ThreadPoolExecutor(20) as pool:
            followed = list(pool.map(follow, range(20)))
        for number, events in enumerate(followed):
            log = (tmp_path / "runs" / runs[number % 4] / "events.jsonl").read_text("utf-8").splitlines()
            assert [at for at, _ in events] == list(range(1, len(log) + 1))
            assert next(event["topic"] for _, event in events if event["event"] == "RunStarted") == TOPICS[number % 4]
        for topic, run in zip(TOPICS, runs, strict=True):
            assert topic in client.get(f"/read/{run}").text
