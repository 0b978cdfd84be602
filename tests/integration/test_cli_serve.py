"""``storm serve --api`` and ``storm mcp``: what they refuse, and a server as a user starts it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from servers import closed_port
from test_http_api import answering
from typer.testing import CliRunner

from storm_pipeline.interfaces.cli import app

TOKEN = "correct-horse-battery"


def refused(arguments: list[str], token: str = "") -> str:
    result = CliRunner().invoke(app, arguments, env={"STORM_API_TOKEN": token})
    assert result.exit_code == 2
    return " ".join(result.stderr.split())


def test_it_says_what_can_be_served() -> None:
    assert "storm serve --api" in refused(["serve"])


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_it_listens_nowhere_else_without_a_token(host: str) -> None:
    assert "set STORM_API_TOKEN" in refused(["serve", "--api", "--host", host])
    assert "can be guessed" in refused(["serve", "--api", "--host", host], token="short")


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (["--allow", "lm"], "allow single values of it"),
        (["--allow", "api_base=http://localhost"], "can never choose"),
        (["--allow", "no_such"], "there is no setting"),
        (["--at-once", "0"], "room for at least one run"),
        (["--perspectives", "99"], "perspectives"),
    ],
)
@pytest.mark.parametrize("command", [["serve", "--api"], ["mcp"]])
def test_wrong_options(command: list[str], rules: list[str], reason: str) -> None:
    pytest.importorskip("fastapi")
    pytest.importorskip("mcp")
    assert reason in refused([*command, *rules])


@pytest.mark.parametrize("command", [["serve", "--api"], ["mcp"]])
def test_no_start_where_runs_would_fail(command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fastapi")
    pytest.importorskip("mcp")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    local = ["--lm", "openai/mine@http://127.0.0.1:9/v1"]
    assert "no key set for openai/gpt-4o" in refused([*command, "--lm", "openai/gpt-4o"])
    assert "a cap on dollars needs prices" in refused([*command, *local, "--max-cost", "1"])
    assert "needs a cap for each run" in refused([*command, *local, "--budget", "5"])
    assert "no search engine 'wikipeda'" in refused([*command, *local, "--search", "wikipeda"])
    result = CliRunner().invoke(app, [*command, *local, "--search", f"corpus:{tmp_path / 'none'}"])
    assert result.exit_code in (1, 2)
    assert "none" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(("prices", "said"), [([], True), (["--price", "mine=1/1"], False)])
def test_a_server_says_at_its_start_that_its_checks_ask_no_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prices: list[str], said: bool
) -> None:
    pytest.importorskip("mcp")
    monkeypatch.setattr("storm_pipeline.interfaces.server.serving.serve_mcp", lambda _: None)
    options = ["--lm", "openai/mine@http://127.0.0.1:9/v1", "--search", "wikipedia", "--out", str(tmp_path), *prices]
    ended = CliRunner().invoke(app, ["mcp", *options])
    assert ended.exit_code == 0, ended.stderr
    assert ("the price of openai/mine is unknown" in ended.stderr) == said


@pytest.mark.parametrize(
    ("command", "library", "extra"),
    [(["serve", "--api"], "fastapi", "api"), (["serve", "--api"], "uvicorn", "api"), (["mcp"], "mcp", "mcp")],
)
def test_a_missing_extra_is_told(command: list[str], library: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*sys.modules, library]:
        if name.split(".")[0] == library:
            monkeypatch.setitem(sys.modules, name, None)
    assert f"pip install 'storm-pipeline[{extra}]'" in refused(command)


def test_settings_and_token_are_read_where_they_are_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("STORM_API_TOKEN=short\n")
    (tmp_path / "storm.toml").write_text("perspectives = 2\n")
    result = CliRunner().invoke(app, ["serve", "--api", "--env-file", ".env"], env={"STORM_API_TOKEN": None})
    assert (result.exit_code, "can be guessed" in result.stderr) == (2, True)
    (tmp_path / "storm.toml").write_text("perspectives = 99\n")
    assert "storm.toml" in refused(["mcp"]) or "extra 'mcp'" in refused(["mcp"])


def test_tokens_are_made_listed_and_revoked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STORM_HOME", str(tmp_path / "home"))

    def token(*arguments: str) -> str:
        result = CliRunner().invoke(app, ["serve", "token", *arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    made = token("add", "anna", "--budget", "20").strip()
    assert len(made) > 40
    assert "it is not shown again" in CliRunner().invoke(app, ["serve", "token", "add", "bert"]).stderr
    assert [line.split()[0] for line in token("list").splitlines()] == ["name", "anna", "bert"]
    records = [path.read_bytes() for path in (tmp_path / "home" / "servers").rglob("*") if path.is_file()]
    assert records
    assert made not in token("list")
    assert made.encode() not in b"".join(records)
    token("revoke", "anna")
    (anna,) = [line.split() for line in token("list", "--out", "runs").splitlines() if line.startswith("anna")]
    assert anna[2:] == ["revoked", "20", "0.00"]
    assert "no token of the name" in refused(["serve", "token", "revoke", "anna"])
    assert "give --out alone" in refused(["serve", "--lm", "gpt-4o", "token", "list"])
    assert "need one of your own" in refused(["serve", "--api"])
    assert "--trust-proxy takes" in refused(["serve", "--api", "--trust-proxy", "caddy"], TOKEN)


@contextmanager
def started(tmp_path: Path, program: list[str], ending: signal.Signals) -> Iterator[str]:
    """The address of a server that runs, and ends well when it is told to."""
    with closed_port() as address:
        port = address.rpartition(":")[2]
    command = [*program, "serve", "--api", "--port", port, "--out", str(tmp_path / "runs")]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, env=os.environ | {"STORM_API_TOKEN": TOKEN}, stdout=log, stderr=log)
    try:
        with httpx.Client(base_url=address, trust_env=False) as client:
            answering(client, lambda: process.poll() is None)
            assert client.get("/health").json()["status"] == "ok"
        yield address
    finally:
        process.send_signal(ending)
        assert process.wait(60) == 0


def test_a_server_as_a_user_starts_it(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    with started(tmp_path, [sys.executable, "-m", "storm_pipeline"], signal.SIGINT) as address:
        assert httpx.get(f"{address}/runs", trust_env=False).status_code == 401
        mine = httpx.get(f"{address}/runs", headers={"Authorization": f"Bearer {TOKEN}"}, trust_env=False)
        assert mine.json() == []
        pieces = httpx.post(f"{address}/runs", content=iter([b"{}"]), trust_env=False)  # a body without its length
        assert (pieces.status_code, pieces.request.headers["Transfer-Encoding"]) == (400, "chunked")
    written = (tmp_path / "log").read_text()
    assert f"Uvicorn running on {address}" in written
    assert TOKEN not in written
    assert "Traceback" not in written


ENDLESS = """
import sys, threading
from storm_pipeline.interfaces.cli import app
from storm_pipeline.interfaces.server import checking
from storm_pipeline.interfaces.server.source_search import SourceSearch

def endless(*_, **__):
    print("begun", flush=True)
    threading.Event().wait()

checking.check_article = SourceSearch.find = endless
app(sys.argv[1:])
"""
SEARCH = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "search", "arguments": {"query": "silk"}},
}
CHECK = {"markdown": "It is so.[^1]\n\n[^1]: https://example.org/o\n"}


@pytest.mark.parametrize(("path", "order"), [("check", CHECK), ("mcp", SEARCH)])
def test_a_server_ends_whatever_its_threads_do(tmp_path: Path, path: str, order: dict[str, object]) -> None:
    pytest.importorskip("fastapi")
    pytest.importorskip("mcp")
    (tmp_path / "endless.py").write_text(ENDLESS)
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}
    asking = {"json": order, "headers": headers, "trust_env": False, "timeout": 60}
    with ThreadPoolExecutor() as pool:
        with started(tmp_path, [sys.executable, str(tmp_path / "endless.py")], signal.SIGTERM) as address:
            answer = pool.submit(httpx.post, f"{address}/{path}", **asking)
            while "begun" not in (tmp_path / "log").read_text():
                assert not answer.done()
                time.sleep(0.1)
        assert isinstance(answer.exception(60), httpx.TransportError) or answer.result().is_server_error
