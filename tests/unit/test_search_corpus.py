"""One's own documents: every format, encoding and hostile name; read once, kept, and counted by commands."""

import io
import json
import os
import unicodedata
from pathlib import Path

import own_papers
import papers
import pypdf
import pytest
from commands import run_storm

from storm_pipeline.errors import CorpusError
from storm_pipeline.evidence.passages import passages
from storm_pipeline.interfaces.configuration.diagnosis import diagnose
from storm_pipeline.settings import Settings
from storm_pipeline.sources.documents import reader
from storm_pipeline.sources.documents.document import Document, Record
from storm_pipeline.sources.documents.reader import KeptDocuments, parts_of, read_documents, take_inventory
from storm_pipeline.sources.engines.corpus import CorpusSearch
from storm_pipeline.sources.search.edge import LONGEST_TITLE
from storm_pipeline.types import Snippet, Work

SILK = {"url": "https://a.org/silk", "title": "Silk", "text": "Silk was traded for horses.", "published": "2020-01-02"}


def pdf(pages: list[str], *, title: str = "", password: str = "") -> bytes:
    """A PDF with a text a page; an empty text gives an empty page."""
    sheets = [papers.Sheet() for _ in pages]
    for sheet, text in zip(sheets, pages, strict=True):
        for place, line in enumerate(text.split("\n") if text else ()):
            sheet.put(50, 700 - 14 * place, line, 12)
    made = papers.file(sheets, info={"Title": title} if title else None)
    if not password:
        return made
    writer, out = pypdf.PdfWriter(clone_from=io.BytesIO(made)), io.BytesIO()
    writer.encrypt(password, algorithm="RC4-128")
    writer.write(out)
    return out.getvalue()


def lines(*records: object) -> str:
    return "".join((r if isinstance(r, str) else json.dumps(r, ensure_ascii=False)) + "\n" for r in records)


def only(path: Path, query: str) -> Snippet:
    found = CorpusSearch(path).search(query, 5)
    assert len(found) == 1
    return found[0]


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(lines(SILK, {**SILK, "url": "u:2", "text": "Horses came from Fergana.", "page": 7}), "utf-8")
    engine = CorpusSearch(path)
    found = [(s.url, s.page, s.published, s.engine) for s in engine.search("horses from Fergana", 3)]
    assert found == [("u:2", 7, "2020-01-02", "corpus"), ("https://a.org/silk", None, "2020-01-02", "corpus")]
    assert engine.problems == ()


def test_bad_lines_are_skipped_and_named(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    wrong: list[tuple[object, str]] = [("{", "is not JSON"), ("[]", "is not an object"), ("5", "is not an object")]
    wrong += [({"title": "x", "text": "y"}, "has no url"), ({"url": "u", "text": " "}, "has no text")]
    wrong += [({"url": "u", "text": 5}, "has no text"), ("[" * 99_999, "is not JSON")]
    path.write_text(lines(SILK, "", *(record for record, _ in wrong)), "utf-8")
    engine = CorpusSearch(path)
    for number, (problem, (_, reason)) in enumerate(zip(engine.problems, wrong, strict=True), start=3):
        assert f"{path}, line {number} {reason}" in problem
    assert engine.search("silk", 1)


def test_what_each_passage_repeats_of_its_document_is_short(tmp_path: Path) -> None:
    long = "Silk " * 10**5
    (tmp_path / "a.jsonl").write_text(lines({**SILK, "title": long}, {**SILK, "url": f"u:{long}"}))
    (tmp_path / "key.txt").write_text("Horses came from Fergana.")
    (tmp_path / "own.bib").write_text(f"@book{{key, title={{{long}}}, publisher={{{long}}}, note={{x}}}}")
    engine = CorpusSearch(tmp_path)
    found = engine.search("silk horses", 3)
    assert len(found) == 2
    assert all(len(str(snippet)) < 6 * LONGEST_TITLE for snippet in found)
    assert "has no url of at most 8,000 characters" in engine.problems[0]


def test_a_folder_of_everything(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["deep"] * 30)
    deep.mkdir(parents=True)
    (deep / "notes.txt").write_text("Camels carried amber.", "utf-8")
    (tmp_path / "b.md").write_text("# The Oasis\n\nWells were dug in Turfan.", "utf-8")
    (tmp_path / "c.HTML").write_text("<title>Jade</title><body><p>Jade came from Khotan.</p></body>", "utf-8")
    (tmp_path / "d.pdf").write_bytes(pdf(["First page.", "Paper was in-\nvented in Luoyang."], title="On Paper"))
    (tmp_path / "e.jsonl").write_text(lines(SILK), "utf-8")
    (tmp_path / "photo.png").write_bytes(b"\x89PNG")
    (tmp_path / ".hidden.txt").write_text("Secret amber.", "utf-8")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "broken.txt").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.txt")
    engine = CorpusSearch(tmp_path)
    assert [s.title for s in engine.search("camels amber", 5)] == ["notes"]
    assert [s.title for s in engine.search("Turfan wells", 5)] == ["The Oasis"]
    assert [(s.title, s.text) for s in engine.search("Khotan jade", 5)] == [("Jade", "Jade came from Khotan.")]
    paper = engine.search("paper invented Luoyang", 5)[0]
    assert (paper.title, paper.page) == ("On Paper", 2)
    assert "invented" in paper.text
    assert paper.url == (tmp_path / "d.pdf").as_uri()
    assert [s.url for s in engine.search("horses", 5)] == ["https://a.org/silk"]
    assert len(engine.problems) == 3
    assert any("1 files of other types (.png)" in problem for problem in engine.problems)
    assert sum("not a regular file" in problem for problem in engine.problems) == 2


LINKS = {
    "environ.txt": "/proc/self/environ",
    "absolute.txt": "{outside}/key.txt",
    "relative.md": "../outside/key.txt",
    "twice.txt": "absolute.txt",
    "hidden.txt": ".env",
    "lines.jsonl": "{outside}/key.txt",
    "folder": "{outside}",
    "device.txt": "/dev/zero",
    "itself.txt": "itself.txt",
}


def test_a_link_leads_to_no_file_outside_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "amber-4711")
    folder, outside = tmp_path / "corpus", tmp_path / "outside"
    (folder / "deep").mkdir(parents=True)
    outside.mkdir()
    (outside / "key.txt").write_text("The key is amber.")
    (folder / ".env").write_text("The key is amber.")
    (folder / "notes.txt").write_text("Camels carried silk.")
    (folder / "deep" / "same.txt").symlink_to("../notes.txt")
    for name, target in LINKS.items():
        (folder / name).symlink_to(target.format(outside=outside))
    os.mkfifo(folder / "pipe.txt")
    engine = CorpusSearch(folder)
    assert not engine.search("key amber", 5)
    assert "4711" not in str(engine.search("SOME_API_KEY PATH HOME", 50))
    assert {snippet.url for snippet in engine.search("camels", 5)} == {(folder / "notes.txt").as_uri()}
    reported = " ".join(engine.problems)
    for name in [*LINKS, "pipe.txt"]:
        assert name == "folder" or str(folder / name) in reported


def test_links_are_followed_on_request(tmp_path: Path) -> None:
    folder, notes = tmp_path / "corpus", tmp_path / "notes.txt"
    folder.mkdir()
    notes.write_text("Camels carried silk.")
    (folder / "notes.txt").symlink_to(notes)
    (folder / "own.txt").write_text("Wells were dug.")
    (tmp_path / "link").symlink_to(folder)
    assert CorpusSearch(folder / "notes.txt").search("camels", 5)
    assert CorpusSearch(tmp_path / "link").search("wells", 5)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (pdf(["Secret."], password="x"), "encrypted"),
        (pdf([""]), "contains no text"),
        (pdf([]), "contains no text"),
        (pdf(["Whole."])[:300], "cannot be read as PDF"),
        (b"", "cannot be read as PDF"),
    ],
    ids=["encrypted", "scan", "no pages", "cut off", "empty"],
)
def test_pdfs_of_no_use_are_named(tmp_path: Path, content: bytes, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("Silk.", "utf-8")
    (tmp_path / "b.pdf").write_bytes(content)
    (problem,) = CorpusSearch(tmp_path).problems
    assert "b.pdf" in problem
    assert said in problem
    assert capfd.readouterr() == ("", "")


def test_a_pdf_without_a_user_password_is_read(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(["Silk was traded."])))
    writer.encrypt("", "owner", algorithm="RC4-128")
    writer.write(tmp_path / "a.pdf")
    assert only(tmp_path, "silk").text == "Silk was traded."


def test_k_counts_documents_and_each_gives_a_few_passages(tmp_path: Path) -> None:
    long = [{"url": f"u:{i}", "text": f"Silk was sold in town {i}. " * 300} for i in range(4)]
    path = tmp_path / "x.jsonl"
    path.write_text(lines(*long), "utf-8")
    found = CorpusSearch(path).search("silk", 2)
    assert len({s.url for s in found}) == 2
    assert all(s.text.startswith("Silk was sold") for s in found)
    varied = {"url": "u:v", "text": " ".join(f"Silk bale {i} went west on day {i}." for i in range(300))}
    path.write_text(lines(varied, *long), "utf-8")
    assert len(CorpusSearch(path).search("silk bale west", 1)) == 3
    assert len(CorpusSearch(path, passages=1).search("silk bale west", 1)) == 1
    assert CorpusSearch(path).search("silk", 0) == ()


def test_words_that_all_documents_share_find_them(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(lines(*({"url": f"u:{n}", "text": f"Orsund harbour in year {n}."} for n in range(20))))
    engine = CorpusSearch(path)
    assert len(engine.search("Orsund harbour definition", 3)) == 3
    assert len(engine.search("Orsund establishment", 3)) == 3
    assert engine.search("xqzt blorf wug plok harbour", 3) == ()
    assert engine.search("history of renaissance painting in the year", 3) == ()


@pytest.mark.parametrize("name", ["absent", "", "empty.jsonl"])
def test_nothing_to_search_is_an_error(tmp_path: Path, name: str) -> None:
    if name == "empty.jsonl":
        (tmp_path / name).touch()
    with pytest.raises(CorpusError, match=r"does not exist|no searchable text"):
        CorpusSearch(tmp_path / name)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends(tmp_path: Path, encoding: str, end: str) -> None:
    text = f"The café sold silk.{end}{end}It was naïve – “so they said”."
    (tmp_path / "a.txt").write_bytes(text.encode(encoding))
    assert only(tmp_path, "café silk").text == "The café sold silk. It was naïve – “so they said”."
    if end != "\r":
        (tmp_path / "a.txt").write_bytes(b"x")
        record = json.dumps(SILK | {"title": "Café"}, ensure_ascii=False)
        (tmp_path / "b.jsonl").write_bytes(f"{record}{end}".encode(encoding))
        assert only(tmp_path, "silk horses").title == "Café"


def test_the_best_passage_comes_with_what_is_beside_it(tmp_path: Path) -> None:
    sentences = [f"Of caravan number {number} the chronicle of the town says nothing more." for number in range(90)]
    sentences[45] = "Then the merchants of Antioch weighed the jade."
    (tmp_path / "a.jsonl").write_text(lines(SILK | {"text": " ".join(sentences)}), "utf-8")
    found = CorpusSearch(tmp_path).search("merchants Antioch jade", 1)
    assert "jade" in found[0].text
    (passage,) = passages(found)
    told = [number for number in range(90) if f"number {number} " in passage.text]
    assert told == [n for n in range(told[0], told[-1] + 1) if n != 45]
    assert told[0] <= 40 < 50 <= told[-1]


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


def test_a_bibliography_that_changes_counts_at_once(folder: Path, tmp_path: Path) -> None:
    kept = KeptDocuments(tmp_path)
    list(read_documents(folder, kept=kept))
    (folder / "library.bib").unlink()
    found = [one for one in read_documents(folder, kept=kept) if isinstance(one, Document)]
    assert next(one for one in found if "chapter" in one.url).record.authors == ""
    for number in range(50):
        (folder / f"{number}.bib").write_text("@misc{a, title = {A}}")
    assert max(len(part.state) for part in parts_of(folder)) < 1000


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
    for path in folder.iterdir():
        path.unlink()
    (folder / "a.pdf").write_bytes(b"%PDF-1.4")
    found = [one for one in diagnose(settings) if one.subject.startswith("documents")]
    assert found[0].state == "missing"
    assert found[0].detail == f"0 readable, 1 broken; author and year known of 0: add readable files to {folder}"


def test_documents_lists_works_and_problems(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORM_HOME", str(tmp_path / "home"))
    (folder / "odd.jsonl").write_text('{"url": "file://[", "title": "Odd", "text": "No address."}')
    shown = run_storm("documents", folder)
    output = " ".join(unicodedata.normalize("NFC", shown.output).split())
    assert shown.exit_code == 0
    for said in ("4 readable, 1 scan, 1 broken", "Grain and Hunger in Bergen", "broken.pdf cannot be read as PDF"):
        assert said in output
    assert run_storm("documents", tmp_path / "absent").exit_code != 0


def test_a_searchable_copy_is_read_in_place_of_its_scan(folder: Path, tmp_path: Path) -> None:
    (folder / "minutes 1740.ocr.pdf").write_bytes(own_papers.manuscript())
    assert take_inventory(folder, tmp_path / "cache").scans == ()
