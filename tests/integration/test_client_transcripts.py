"""The transcripts of docs/clients.md: servers and clients in processes of their own, and a scripted model."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from documentation import compare, python_blocks, transcript
from found_pages import page
from llm import FakeModel
from servers import closed_port
from test_http_api import answering, substituted
from test_resume import answers

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "clients.md"
CURL, MCP = PAGE.read_text("utf-8").split("\n## MCP\n")
PORT, RUN = "8765", "silk-road-20261122-203616"
"""In the page; the test has its own."""
SMALL = {"STORM_RELATED_TOPICS": "2", "STORM_WIKIPEDIA_CONTENTS": "never"}

pytestmark = pytest.mark.assets


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with documents."""
    (tmp_path / "papers").mkdir()
    for number in range(24):
        (tmp_path / "papers" / f"{number:02}.txt").write_text(page(number).text, "utf-8")
    return tmp_path


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """Of servers and clients: a scripted model in place of OpenAI's, and this package's command on the path."""
    with FakeModel(answers()) as model:
        places = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("STORM_", "OPENAI_"))}
        given = {"OPENAI_API_KEY": "sk-...", "OPENAI_API_BASE": model.url, "STORM_HOME": str(ROOT)}
        yield kept | SMALL | given | {"PYTHONPATH": places, "PATH": programs, "PYTHONWARNINGS": "default"}


def consoles(section: str) -> list[tuple[str, list[str]]]:
    """The commands of a part of the page with the lines that they should print."""
    blocks = re.findall(r"^```console\n(.*?)^```", section, re.M | re.S)
    return [command for block in blocks for command in transcript(block)]


def printed_by(command: str, work: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        ["bash", "-c", command], cwd=work, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_transcript_of_curl(work: Path, environment: dict[str, str]) -> None:
    pytest.importorskip("fastapi")
    with closed_port() as address:
        port = address.rpartition(":")[2]
    (_, _), (serve, announced), *requests = consoles(CURL)
    log = work / "server.log"
    with log.open("wb") as file:
        server = subprocess.Popen([*serve.split(), "--port", port], cwd=work, env=environment, stdout=file, stderr=file)
    try:
        with httpx.Client(base_url=address, trust_env=False) as client:
            answering(client, lambda: server.poll() is None)
        names = {PORT: port}
        for command, expected in requests:
            printed = printed_by(substituted(command, names), work, environment)
            if RUN not in names and printed.startswith('{"run"'):
                names[RUN] = json.loads(printed)["run"]
            compare(command, [substituted(line, names) for line in expected], printed)
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
    compare(serve, [substituted(line, names) for line in announced], log.read_text())
    assert (work / "silk.docx").read_bytes().startswith(b"PK")


def test_the_transcript_of_an_mcp_client(work: Path, environment: dict[str, str]) -> None:
    pytest.importorskip("mcp")
    (program,) = python_blocks(PAGE)
    (work / "client.py").write_text(program, "utf-8")
    ((command, expected),) = consoles(MCP)
    compare(command, expected, printed_by(command, work, environment))
