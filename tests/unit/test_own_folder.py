"""A folder of own documents: read once and kept, counted by ``storm doctor`` and ``documents``."""

import os
import unicodedata
from pathlib import Path

import own_papers
import pytest
from typer.testing import CliRunner

from storm_pipeline.interfaces.cli import app
from storm_pipeline.interfaces.configuration.diagnosis import diagnose
from storm_pipeline.settings import Settings
from storm_pipeline.sources.documents import reader
from storm_pipeline.sources.documents.document import Document, Record
from storm_pipeline.sources.documents.reader import KeptDocuments, read_documents, take_inventory
from storm_pipeline.sources.engines.corpus import CorpusSearch
from storm_pipeline.types import Work


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return own_papers.write_folder(tmp_path / "papers")


def test_what_was_read_is_kept(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    anew = list(read_documents(folder))
    first = list(read_documents(folder, kept=KeptDocuments(tmp_path)))
    monkeypatch.setattr(reader, "_read_there", lambda _: pytest.fail("read again"))
    again = list(read_documents(folder, kept=KeptDocuments(tmp_path)))
    assert first == again == anew
    assert CorpusSearch(folder, cache=tmp_path).search("stockfish", 3)


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "notes" / "a.txt"
    file.parent.mkdir()
    file.write_text("Silk was traded.")
    kept = KeptDocuments(tmp_path)
    assert [one.pages[0][1] for one in read_documents(file.parent, kept=kept) if isinstance(one, Document)] == [
        "Silk was traded."
    ]
    file.write_text("Paper was made in Luoyang.")
    os.utime(file, (1, 1))
    assert [one.pages[0][1] for one in read_documents(file.parent, kept=kept) if isinstance(one, Document)] == [
        "Paper was made in Luoyang."
    ]


def test_a_bibliography_that_changes_counts_at_once(folder: Path, tmp_path: Path) -> None:
    kept = KeptDocuments(tmp_path)
    list(read_documents(folder, kept=kept))
    (folder / "library.bib").unlink()
    found = [one for one in read_documents(folder, kept=kept) if isinstance(one, Document)]
    assert next(one for one in found if "chapter" in one.url).record.authors == ""


def test_crossref_is_asked_once(tmp_path: Path) -> None:
    kept, record = KeptDocuments(tmp_path), Record("T", "A B", "2019", work=Work("article"))
    assert kept.record("10.1234/a") is None
    kept.keep_record("10.1234/a", record)
    assert KeptDocuments(tmp_path).record("10.1234/a") == record


@pytest.mark.parametrize("spec", ["corpus:{}", "fused:corpus:{}+wikipedia"])
def test_doctor_reads_the_documents(folder: Path, tmp_path: Path, spec: str) -> None:
    settings = Settings.build({"lm": "openai/x", "search": spec.format(folder), "cache": tmp_path / "cache"})
    found = [one for one in diagnose(settings) if one.subject.startswith("documents")]
    assert (found[0].state, found[0].detail) == ("ok", "3 readable, 1 scan, 1 broken; author and year known of 3")
    assert any("ocrmypdf" in one.detail for one in found), "recognition is named"


def test_doctor_misses_documents_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.pdf").write_bytes(b"%PDF-1.4")
    settings = Settings.build(
        {"lm": "openai/x", "search": f"corpus:{tmp_path / 'papers'}", "cache": tmp_path / "cache"}
    )
    assert ("missing", "0 readable, 1 broken; author and year known of 0") in [
        (one.state, one.detail) for one in diagnose(settings)
    ]


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, " ".join(unicodedata.normalize("NFC", result.output).split())


def test_documents_lists_works_and_problems(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORM_HOME", str(tmp_path / "home"))
    code, output = run("documents", str(folder))
    assert code == 0
    assert "3 readable, 1 scan, 1 broken" in output
    assert "Grain and Hunger in Bergen" in output
    assert "broken.pdf cannot be read as PDF" in output
    assert run("documents", str(tmp_path / "absent"))[0] != 0


def test_a_searchable_copy_is_read_in_place_of_its_scan(folder: Path, tmp_path: Path) -> None:
    (folder / "minutes 1740.ocr.pdf").write_bytes(own_papers.manuscript())
    assert take_inventory(folder, tmp_path / "cache").scans == ()
