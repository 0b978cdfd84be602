"""``storm export``: files of a run's article."""

from pathlib import Path

import pytest
from articles import section, sentence, source
from commands import run_storm
from typer.testing import Result

from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.output.export import export, write
from storm_pipeline.run.article_json import to_json
from storm_pipeline.types import Article

LAKE = source("lake", "The lake is deep.")
ARTICLE = Article("Lake Orrin", sections=(section("Depth", sentence("It is deep.", LAKE)),), sources=(LAKE,))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "article.json").write_text(to_json(ARTICLE), "utf-8")
    return folder


def storm(*arguments: object) -> Result:
    return run_storm("export", *arguments)


def test_files_are_written_beside_the_article_and_named(run: Path) -> None:
    told = storm(run, "--to", "docx, bibtex,CSL")
    assert told.exit_code == 0, told.output
    assert told.stdout.split() == [str(run / f"article{suffix}") for suffix in (".docx", ".bib", ".csl.json")]
    assert (run / "article.bib").read_text() == export(ARTICLE, "bibtex").decode()
    assert (run / "article.docx").read_bytes() == export(ARTICLE, "docx")


def test_a_file_and_a_folder_can_be_given(run: Path, tmp_path: Path) -> None:
    told = storm(run / "article.json", "--to", "ris", "--out", tmp_path / "new" / "e")
    assert told.exit_code == 0, told.output
    assert (tmp_path / "new" / "e" / "article.ris").read_text() == export(ARTICLE, "ris").decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("RUN", "--to", "doc"), 2, "no export format is called 'doc'"),
        (("RUN",), 2, "say which run and which formats"),
        (("RUN/absent", "--to", "ris"), 1, "cannot be read"),
    ],
)
def test_what_cannot_be_done(run: Path, arguments: tuple[str, ...], code: int, message: str) -> None:
    told = storm(*(argument.replace("RUN", str(run)) for argument in arguments))
    assert told.exit_code == code
    assert message in told.stderr
    assert not list(run.glob("article.[!j]*"))


def test_python_writes_any_format_to_a_file(tmp_path: Path) -> None:
    assert write(ARTICLE, "docx", tmp_path / "new" / "silk.docx").read_bytes() == export(ARTICLE, "docx")
    assert write(ARTICLE, "html", f"{tmp_path}/silk.html").read_text("utf-8") == ARTICLE.to_html()
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"cannot write .*choose another folder"):
        write(ARTICLE, "ris", tmp_path / "file" / "silk.ris")
    with pytest.raises(SettingsError, match="choose from: docx"):
        write(ARTICLE, "doc", tmp_path / "silk.doc")
