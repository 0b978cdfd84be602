"""The HTTP server against idle and slow clients, pages of other sites, unknown paths, and signals."""

import signal
import socket
import sys
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
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a server that waits two seconds for headers."""
    place = tmp_path_factory.mktemp("endurance")
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


@pytest.mark.parametrize("path", ["/runs", "/health", "/settings", "/openapi.json", "/runs/x/events"])
def test_a_page_of_another_site_may_not_get(client: httpx.Client, path: str) -> None:
    refused = client.get(path, headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"})
    assert refused.status_code == 403
    assert set(refused.json()) == {"error", "kind"}
    for site in ("none", "same-origin", "same-site"):
        assert client.get("/health", headers={"Sec-Fetch-Site": site}).status_code == 200
    local = {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:3000"}
    assert client.get("/health", headers=local).status_code == 200


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
