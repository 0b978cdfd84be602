"""``storm web`` as a user starts it: the address, the session, the port and the browser."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from commands import run_storm

from storm_pipeline import Storm
from storm_pipeline.interfaces.cli.serve import _PORTS
from storm_pipeline.interfaces.server.records import records_folder
from storm_pipeline.storm import prepare

pytest.importorskip("fastapi")
pytest.importorskip("python_multipart")
pytest.importorskip("storm_pipeline.interfaces.web.app")


@contextmanager
def opened(place: Path, *options: str, **variables: str) -> Iterator[str]:
    """The address that a started ``storm web`` prints."""
    command = [sys.executable, "-m", "storm_pipeline", "web", "--out", str(place / "runs"), *options]
    keys = {name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_TOKEN"))}
    with (
        (place / "log").open("wb") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=keys | variables, text=True) as process,
    ):
        try:
            assert process.stdout
            yield process.stdout.readline().split()[-1]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def found(address: str) -> tuple[str, dict[str, str]]:
    """The address with the number of this machine, and the header that has its name, which browsers alone find."""
    match = re.fullmatch(r"http://(storm-[0-9a-f]{16}\.localhost:(\d+))(/enter\?key=[\w-]{43})", address)
    assert match
    return f"http://127.0.0.1:{match[2]}{match[3]}", {"Host": match[1]}


def entered(client: httpx.Client, printed: str) -> tuple[str, str]:
    """The address that opened a session of a client, and the site's."""
    address, headers = found(printed)
    client.headers.update(headers)
    for _ in range(100):
        with suppress(httpx.TransportError):
            assert client.get(address).status_code == 303
            return address, address.partition("/enter")[0]
        time.sleep(0.1)
    raise AssertionError("the server does not begin")


def test_the_printed_address_opens_a_session_without_any_model_and_no_earlier_run_goes_on(tmp_path: Path) -> None:
    run = prepare(Storm(out=tmp_path / "runs", cache=tmp_path / "cache"), "Silk Road")
    with opened(tmp_path, "--no-browser") as printed, httpx.Client(trust_env=False, timeout=30) as client:
        address, site = entered(client, printed)
        (view,) = client.get(f"{site}/runs").json()
        assert (view["run"], view["state"], view["sessions"]) == (run.name, "interrupted", 0)
        setup = client.get(f"{site}/doctor").json()
        assert setup["writes"] is None
        assert "OPENAI_API_KEY" in setup["variables"]
        home = client.get(site, headers={"Accept": "text/html"})
        assert home.status_code == 200
        assert home.headers["content-type"].startswith("text/html")
        assert client.post(f"{site}/logout").status_code == 403  # without an origin
        assert httpx.get(f"{site}/runs", trust_env=False).status_code == 401
        assert httpx.get(address, trust_env=False).status_code == 401  # it works once
    assert "1 run of an earlier server is interrupted or waiting: the library" in (tmp_path / "log").read_text()


def test_a_browser_is_opened_at_a_file_that_only_the_user_can_read(tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\necho \"$1\" > '{tmp_path}/opened'\n")
    browser.chmod(0o755)
    with opened(tmp_path, BROWSER=str(browser)) as address:
        for _ in range(600):
            if (tmp_path / "opened").exists() and (tmp_path / "opened").read_text().strip():
                break
            time.sleep(0.1)
        shown = Path(urlsplit((tmp_path / "opened").read_text().strip()).path)
        assert shown.parent == tmp_path / "runs"
        assert shown.stat().st_mode & 0o777 == 0o600
        assert f"0;url={address}" in shown.read_text()


def announced(place: Path, patch: pytest.MonkeyPatch, meanwhile: Callable[[], object] = lambda: None) -> str:
    """The address of a ``storm web`` that ends as soon as something has been done while it listens."""
    patch.setattr("storm_pipeline.interfaces.server.serving.serve_api", lambda *_, **__: meanwhile())
    done = run_storm("web", "--no-browser", "--out", place / "runs")
    assert done.exit_code == 0, done.output
    return str(done.stdout.splitlines()[0].split()[-1].partition("/enter")[0])


def test_the_host_name_and_the_port_stay_at_the_next_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def site() -> str:
        return announced(tmp_path, monkeypatch)

    first, kept = site(), records_folder(tmp_path / "runs") / "web.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert site() == first
    with socket.create_server(("127.0.0.1", port_of(first))):
        other = site()  # whoever holds the port may have been told its name
    assert other.rpartition(":")[0] != first.rpartition(":")[0]
    assert site() == other
    kept.chmod(0o644)
    assert site() not in (first, other)
    kept.write_text("{")
    assert site()


def port_of(site: str) -> int:
    return int(site.rpartition(":")[2])


def test_a_port_that_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as first:
        taken = first.getsockname()[1]
        result = run_storm("web", "--no-browser", "--port", taken, "--out", tmp_path)
    assert result.exit_code == 2
    assert f"port {taken} is taken" in result.stderr
    others: list[str] = []
    port = port_of(announced(tmp_path, monkeypatch, lambda: others.append(announced(tmp_path, monkeypatch))))
    assert port in _PORTS
    assert port_of(others[0]) in range(port + 1, _PORTS[-1])
