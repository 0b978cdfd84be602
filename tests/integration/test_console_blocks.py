"""Console blocks of README and the guides show what their commands print now, where that needs no model."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from documentation import PAGES, ROOT, compare, name, transcript
from llm import FakeModel
from own_papers import write_folder
from typer.testing import CliRunner

from storm_pipeline.interfaces.cli import app

CHEAP = re.compile(
    r"storm (init|doctor|estimate|export(?! runs)|search engines|sources check|documents papers"
    r"|serve.*0\.0\.0\.0)"
)
OTHER_TESTS = ("docs/first-hour.md", "docs/clients.md")


def shown() -> Iterator[tuple[str, str, list[str]]]:
    """Page, command and output of every command of the console blocks that shows any."""
    for page in PAGES:
        for block in re.findall(r"^```console\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
            for command, lines in transcript(block):
                if name(page) not in OTHER_TESTS and any(lines):
                    yield name(page), re.sub(r"\s+#.*", "", command), [line for line in lines if line]


BLOCKS = [(page, command, text) for page, command, text in shown() if CHEAP.match(command) and command != "storm runs"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
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
def test_a_console_block_shows_what_is_printed(page: str, folder: Path) -> None:
    for command, expected in [(command, lines) for one, command, lines in BLOCKS if one == page]:
        result = CliRunner(env={"TERM": "dumb"}).invoke(app, shlex.split(command)[1:])
        compare(command, expected, result.output)


def test_there_are_blocks_with_outputs() -> None:
    assert len(BLOCKS) >= 8
    assert {command.split()[1] for _, command, _ in shown()} >= {
        *("runs", "show", "export", "estimate", "documents", "search")
    }
    assert (ROOT / "README.md").is_file()
