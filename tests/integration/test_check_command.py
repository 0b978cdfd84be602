"""``storm check``: what it prints and writes, its exit status, and edits by a model."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner
from year_judge import YearJudge

from storm_pipeline.interfaces.cli import app

PAGE = "Lake Orrin lies in the hills. The dam was finished in 1926 by two hundred workers. Trout live in the lake."
WRITTEN = "# Lake Orrin\n\nLake Orrin lies in the hills.[^1] The dam was finished in 1999.[^1]\n\n[^1]: https://example.org/o\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_clients_left: None) -> Path:
    """A folder with an article and its source, as the current one."""
    (tmp_path / "article.md").write_text(WRITTEN)
    (tmp_path / "pages.jsonl").write_text(json.dumps({"url": "https://example.org/o", "title": "Orrin", "text": PAGE}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("storm_pipeline.evidence.judges.opening.open_judge", lambda *_: YearJudge())
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["check", *arguments])
    return done.exit_code, done.output


def test_sentences_that_fail_are_shown_and_end_with_3(folder: Path) -> None:
    code, output = run(".", "--offline", "--to", "report")
    assert code == 3
    assert "2         not      0.10    The dam was finished in 1999.  1999 not found" in output
    assert "2 sentences: 1 supported, 1 not supported, as years judges" in output
    assert json.loads((folder / "report" / "check.json").read_text())["counts"]["not"] == 1
    assert "not supported (0.10): 1999 not found" in (folder / "report" / "check.html").read_text()


def test_what_was_matched_to_what_is_listed(folder: Path) -> None:
    (folder / "diary.txt").write_text(PAGE)
    (folder / "article.md").write_text(WRITTEN + "[^2]: diary.txt\n[^3]: Smith, A book.\n\nDeep.[^2] Wide.[^3]\n")
    code, output = run("article.md", "--offline")
    assert code == 3
    assert [line.split() for line in output.splitlines()[:4]] == [
        ["cited", "matched", "by", "document"],
        ["https://example.org/o", "address", "https://example.org/o"],
        ["diary.txt", "file", "name", "diary.txt"],
        ["Smith,", "A", "book", "nothing"],
    ]
    assert "2 of 3 references matched to documents" in output
    matches = json.loads(run("article.md", "--offline", "--json")[1].partition("\n1 of")[0])["matches"]
    assert matches[1:] == [
        {"cited": "diary.txt", "documents": ["diary.txt"], "by": "file name"},
        {"cited": "Smith, A book", "documents": [], "by": ""},
    ]


def test_an_article_without_failing_sentences_ends_with_0(folder: Path) -> None:
    assert run(".", "--offline", "--fail-on", "uncited")[0] == 0
    (folder / "article.md").write_text(WRITTEN.replace("1999", "1926"))
    code, output = run(".", "--offline", "--json")
    assert code == 0
    assert json.loads(output)["support"] == 1.0


def test_errors_are_no_verdict(folder: Path) -> None:
    assert run("nowhere.md")[0] == 1
    assert run(".", "--fail-on", "nonsense")[0] == 2
    (folder / "pages.jsonl").unlink()
    code, output = run(".", "--offline")
    assert code == 1
    assert "nothing was judged" in output


@pytest.mark.parametrize("name", ["article.md", "article.json"])
def test_a_link_out_of_the_folder_is_not_read(folder: Path, name: str) -> None:
    """Its target would stand in the report, which may be passed on."""
    (folder / "diary.txt").write_text("The key is under the mat.")
    (folder / "sent").mkdir()
    (folder / "sent" / name).symlink_to(folder / "diary.txt")
    code, output = run("sent", "--offline", "--to", "report")
    assert code == 1
    assert "under the mat" not in output
    assert not (folder / "report").exists()
