"""``storm check``: what it prints and writes, its exit status, and edits by a model."""

import json
from pathlib import Path

import pytest
from llm import FakeModel
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


@pytest.mark.parametrize("year", ["1926", "2001"])
def test_edits_are_shown_and_made_only_where_the_judge_accepts_them(folder: Path, year: str) -> None:
    with FakeModel({"AnswerRemarks": f"1: The dam was finished in {year} [1]."}) as server:
        options = ("article.md", "--pages", "pages.jsonl", "--offline", "--fix", "--lm", server.lm)
        code, output = run(*options)
        assert code == 3
        assert ("+Lake Orrin lies in the hills.[^1] The dam was finished in 1926.[^1]" in output) == (year == "1926")
        assert (folder / "article.md").read_text() == WRITTEN
        prompt = server.asked[0].prompt
        assert "1999 not found" in prompt and PAGE in prompt and "Reply to the remarks alone" in prompt
        run(*options, "--apply")
    assert (folder / "article.md").read_text() == (WRITTEN.replace("1999", "1926") if year == "1926" else WRITTEN)


def test_a_sentence_that_nothing_supports_is_deleted(folder: Path) -> None:
    with FakeModel({"AnswerRemarks": "1: delete"}) as server:
        run("article.md", "--pages", "pages.jsonl", "--offline", "--fix", "--apply", "--lm", server.lm)
    assert "1999" not in (folder / "article.md").read_text()


def test_only_text_is_changed_in_place(folder: Path) -> None:
    with FakeModel({"AnswerRemarks": "1: delete"}) as server:
        code, output = run(".", "--offline", "--fix", "--apply", "--lm", server.lm)
    assert code == 2
    assert "--apply changes files of text alone" in output
    assert (folder / "article.md").read_text() == WRITTEN
