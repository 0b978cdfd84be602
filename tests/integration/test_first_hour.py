"""Consoles of docs/first-hour.md against local servers, and those of other pages whose commands need no model."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from documentation import PAGES, ROOT, compare, name, transcript
from found_pages import page, world
from llm import FakeModel
from own_papers import write_folder
from servers import Reply, Request, ScriptedServer
from typer.testing import CliRunner

from storm_pipeline.interfaces.cli import app
from storm_pipeline.sources.search.registry import Choice
from storm_pipeline.text.configuration.variables import PROVIDERS, user_configuration

TEXT = (ROOT / "docs" / "first-hour.md").read_text("utf-8")
PEOPLE = dict(re.findall(r"^## A (\w+)\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S))
SMALL = {"PERSPECTIVES": "0", "TURNS": "1", "RELATED_TOPICS": "2", "READ_PAGES": "never"}


def found(request: Request) -> Reply:
    hits = [{"url": hit.url, "title": hit.title, "content": hit.text} for hit in world(request.query["q"])]
    return Reply(body={"results": hits if request.query["pageno"] == "1" else []})


@pytest.fixture
def servers(no_clients_left: None) -> Iterator[tuple[FakeModel, ScriptedServer]]:
    with FakeModel(other="Yes") as model, ScriptedServer(found) as engine:
        yield model, engine


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, servers: tuple[FakeModel, ScriptedServer]) -> Path:
    """A folder with papers and a handbook, without keys; runs are small, and the network is down."""
    for provider in PROVIDERS:
        for variable in provider.variables:
            monkeypatch.delenv(variable, raising=False)
    for setting, value in SMALL.items():
        monkeypatch.setenv(f"STORM_{setting}", value)
    monkeypatch.setenv("STORM_HOME", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_BASE", servers[0].url)
    monkeypatch.setenv("COLUMNS", "400")
    offline = Choice("wiki-leads", "since the network cannot be reached", offline=True)
    for module in (
        "storm_pipeline.sources.search.registry",
        "storm_pipeline.interfaces.configuration.diagnosis",
        "storm_pipeline.evidence.run_search",
    ):
        monkeypatch.setattr(f"{module}.choose", lambda: offline)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "models").symlink_to(ROOT / "cache" / "models")
    work = tmp_path / "work"
    for own in ("papers", "handbook"):
        (work / own).mkdir(parents=True)
        for number in range(24):
            (work / own / f"{number:02}.md").write_text(f"# Page {number}\n\n{page(number).text}\n", "utf-8")
    monkeypatch.chdir(work)
    return work


def local(text: str, servers: tuple[FakeModel, ScriptedServer]) -> str:
    """The text with the addresses of the local servers."""
    model, engine = servers
    return text.replace("http://localhost:8000/v1", model.url).replace("http://localhost:8080", engine.url)


def matches(pattern: str) -> list[str]:
    return sorted(map(str, Path().glob(pattern)))


def run(command: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a command of a transcript prints."""
    words = [part for word in shlex.split(command) for part in (matches(word) if "*" in word else [word])]
    if words[0] == "export":
        monkeypatch.setenv(*words[1].split("=", 1))
        return ""
    assert words[0] == "storm"
    result = CliRunner(env={"TERM": "dumb"}).invoke(app, words[1:])
    assert result.exit_code == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.mark.assets
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # sockets of LiteLLM's OpenAI clients
@pytest.mark.parametrize("person", PEOPLE)
def test_a_transcript_is_what_happens(
    person: str, folder: Path, servers: tuple[FakeModel, ScriptedServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STORM_WIKIPEDIA_CONTENTS", "never")
    if person == "researcher":  # searches own documents alone: a look-up in Wikipedia would fail the test
        monkeypatch.delenv("STORM_WIKIPEDIA_CONTENTS")
    for kind, block in re.findall(r"^```(\w+)\n(.*?)^```", local(PEOPLE[person], servers), re.M | re.S):
        if kind == "toml":
            user_configuration().write_text(block, "utf-8")
        elif kind == "python":
            exec(compile(block, "first-hour.md", "exec"), {})
        else:
            for command, expected in transcript(block):
                compare(command, expected, run(command, monkeypatch))
    model, engine = servers
    assert model.asked
    assert bool(engine.requests) == (person != "researcher")
    for html in Path("runs").glob("*/article.html"):
        text = html.read_text("utf-8")
        assert "file:" not in text and str(folder) not in text
        assert "[1]" in html.with_name("article.md").read_text("utf-8")


CHEAP = re.compile(
    r"storm (init|doctor|estimate|export(?! runs)|search engines|sources check|documents papers"
    r"|serve.*0\.0\.0\.0)"
)
OTHER_TESTS = ("docs/first-hour.md", "docs/clients.md")


def shown() -> Iterator[tuple[str, str, list[str]]]:
    """Page, command and output of every command of the console blocks that shows any."""
    for one in PAGES:
        for block in re.findall(r"^```console\n(.*?)^```", one.read_text("utf-8"), re.M | re.S):
            for command, lines in transcript(block):
                if name(one) not in OTHER_TESTS and any(lines):
                    yield name(one), re.sub(r"\s+#.*", "", command), [line for line in lines if line]


BLOCKS = [(page, command, text) for page, command, text in shown() if CHEAP.match(command) and command != "storm runs"]


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("YDC_API_KEY", "none")
    monkeypatch.setenv("STORM_DOIS", "never")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("STORM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("STORM_CACHE", str(ROOT / "cache"))
    (tmp_path / "papers").mkdir()
    write_folder(tmp_path / "papers")
    with FakeModel(other="Yes") as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        yield tmp_path


@pytest.mark.assets
@pytest.mark.parametrize("page", sorted({page for page, *_ in BLOCKS}))
def test_a_console_block_shows_what_is_printed(page: str, offered: Path) -> None:
    for command, expected in [(command, lines) for one, command, lines in BLOCKS if one == page]:
        result = CliRunner(env={"TERM": "dumb"}).invoke(app, shlex.split(command)[1:])
        compare(command, expected, result.output)


def test_there_are_blocks_with_outputs() -> None:
    assert len(BLOCKS) >= 8
    assert {command.split()[1] for _, command, _ in shown()} >= {
        *("runs", "show", "export", "estimate", "documents", "search")
    }
    assert (ROOT / "README.md").is_file()
