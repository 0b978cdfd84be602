"""The HTTP server against idle and slow clients, pages of other sites, unknown paths, and signals."""

import json
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from llm import FakeModel
from servers import Reply
from test_http_api import served, serving, started
from test_resume import answers

pytest.importorskip("fastapi")

HEADER_SECONDS = 2.0


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the server."""
    return tmp_path_factory.mktemp("endurance")


@pytest.fixture(scope="module")
def client(place: Path) -> Iterator[httpx.Client]:
    """A client of a server that waits two seconds for headers."""
    with served("openai/fake@http://127.0.0.1:9/v1", place, HEADER_SECONDS=str(HEADER_SECONDS)) as found:
        yield found


def silent(client: httpx.Client, number: int, stack: ExitStack) -> list[socket.socket]:
    """Connections that say nothing."""
    address = (client.base_url.host, client.base_url.port)
    return [stack.enter_context(socket.create_connection(address, timeout=10)) for _ in range(number)]


def test_idle_connections_silence_nobody(client: httpx.Client) -> None:
    with ExitStack() as stack:
        silent(client, 300, stack)
        begun = time.monotonic()
        assert httpx.get(str(client.base_url.join("/health")), timeout=10, trust_env=False).status_code == 200
        assert time.monotonic() - begun < 5


@pytest.mark.parametrize("sent", [b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "])
def test_a_connection_that_sends_no_whole_header_is_closed(client: httpx.Client, sent: bytes) -> None:
    with ExitStack() as stack:
        (connection,) = silent(client, 1, stack)
        begun = time.monotonic()
        connection.sendall(sent)
        try:
            while time.monotonic() - begun < 20:
                connection.settimeout(0.3)
                try:
                    if connection.recv(100) == b"":
                        break
                except TimeoutError:
                    connection.sendall(b"x" if sent else b"")
        except ConnectionError:
            pass
        assert HEADER_SECONDS - 1 < time.monotonic() - begun < HEADER_SECONDS + 8


def test_a_connection_whose_answers_are_not_read_is_closed(client: httpx.Client) -> None:
    with ExitStack() as stack:
        (connection,) = silent(client, 1, stack)
        connection.settimeout(0.5)
        with suppress(TimeoutError):
            for _ in range(2000):
                connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        begun = time.monotonic()
        while time.monotonic() - begun < 60:
            time.sleep(0.5)
            try:
                connection.send(b"G")
            except TimeoutError:
                continue
            except ConnectionError:
                break
        else:
            raise AssertionError("the connection is kept")


def test_an_answer_that_is_read_slowly_arrives_whole(client: httpx.Client) -> None:
    whole = client.get("/openapi.json").content
    with ExitStack() as stack:
        (connection,) = silent(client, 1, stack)
        number = 100  # more than what the system keeps of an answer
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * number)
        found = bytearray()
        begun = time.monotonic()
        while found.count(b"HTTP/1.1 200") < number or not found.endswith(whole):
            piece = connection.recv(1 << 16)
            assert piece, "cut off"
            found += piece
            if time.monotonic() - begun < 4 * HEADER_SECONDS:
                time.sleep(0.1)
    assert found.count(whole) == number


def sent(client: httpx.Client, *pieces: bytes) -> bytes:
    """What the server answers to pieces of a request, until it closes the connection."""
    with ExitStack() as stack:
        (connection,) = silent(client, 1, stack)
        with suppress(ConnectionError):
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(0.2)
            answer = b""
            while piece := connection.recv(1 << 16):
                answer += piece
        return answer


START = b"POST /runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = START + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        START + b"a:\r\n" * 12_000 + b"\r\n",
        CHUNKED + b"1\r\n \r\n" * 5_000,
        CHUNKED + b"2\r\n{}\r\n0\r\n" + b"a:\r\n" * 12_000 + b"\r\n",
    ],
    ids=["headers", "chunks", "trailers"],
)
def test_a_request_of_very_many_lines_or_chunks_is_refused(client: httpx.Client, request_: bytes) -> None:
    assert sent(client, request_).startswith(b"HTTP/1.1 400 ")


def test_requests_in_crumbs_delay_nobody(client: httpx.Client) -> None:
    stop = threading.Event()

    def crumble() -> None:
        while not stop.is_set():
            sent(client, CHUNKED + b"1\r\n \r\n" * 40_000)

    crumbling = [threading.Thread(target=crumble) for _ in range(20)]
    for one in crumbling:
        one.start()
    try:
        time.sleep(1)
        begun = time.monotonic()
        assert client.get("/runs").status_code == 200
        assert time.monotonic() - begun < 5
    finally:
        stop.set()
        for one in crumbling:
            one.join()


def test_a_run_that_is_deleted_ends_its_events(tmp_path: Path) -> None:
    faults = {"DraftOutline": [Reply(delay=5)]}
    with FakeModel(answers(), faults=faults) as model, served(model.lm, tmp_path) as client:
        started(client, recipe="direct")
        waiting = started(client, recipe="direct")
        with client.stream("GET", f"/runs/{waiting}/events") as events:
            assert client.delete(f"/runs/{waiting}").status_code == 204
            lines = [line for line in events.iter_lines() if line]
        assert lines[-2] == "event: end"
        assert json.loads(lines[-1].removeprefix("data: ")) == {"state": "deleted", "reason": "the run was deleted"}
    assert "Traceback" not in (tmp_path / "server.log").read_text()


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
def test_a_signal_ends_the_server_within_five_seconds(tmp_path: Path, signals: int) -> None:
    faults = {"DraftOutline": [Reply(delay=30)]}
    lines: list[str] = []
    with FakeModel(answers(), faults=faults) as model, serving(model.lm, tmp_path) as (client, process):
        run = started(client, recipe="direct")
        while not model.of("DraftOutline"):
            time.sleep(0.05)
        with client.stream("GET", f"/runs/{run}/events") as events:
            stream = events.iter_lines()
            lines.append(next(stream))
            begun = time.monotonic()
            for _ in range(signals):
                process.send_signal(signal.SIGTERM)
                time.sleep(0.3)
            with suppress(httpx.HTTPError):
                lines += stream
        assert process.wait(20) == (0 if signals == 1 else 130)
        assert time.monotonic() - begun < (6 if signals == 1 else 2)
    if signals == 1:
        end = lines.index("event: end")
        assert '{"state":"interrupted","reason":""}' in "".join(lines[end:]).replace(" ", "")
        assert "Traceback" not in (tmp_path / "server.log").read_text()
