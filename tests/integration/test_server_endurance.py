"""The HTTP server against idle and slow clients, pages of other sites, unknown paths, and signals."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from llm import FakeModel
from test_http_api import served, serving, started
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


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nothing", 404), ("DELETE", "/runs", 405), ("PATCH", "/health", 405), ("GET", "/runs?most=x", 422)],
)
def test_errors_of_the_framework_have_the_documented_form(
    client: httpx.Client, method: str, path: str, status: int
) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    assert set(answer.json()) == {"error", "kind"}
    assert answer.json()["kind"].isidentifier()
    assert (status == 405) == ("allow" in answer.headers)


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
                process.send_signal(signal.SIGTERM)
                time.sleep(0.3)
            with suppress(httpx.HTTPError):
                lines += stream
        assert process.wait(60) == (0 if signals == 1 else 130)
        assert not replied
        held.set()
    if signals == 1:
        end = lines.index("event: end")
        assert '{"state":"interrupted","reason":""}' in "".join(lines[end:]).replace(" ", "")
        assert "Traceback" not in (tmp_path / "server.log").read_text()
