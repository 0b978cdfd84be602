"""What files and downloads are is told by their bytes: wrong names and headers, and formats that are not read."""

import gzip
from pathlib import Path

import pytest
from books import epub, paragraph, run, word, zipped
from hypothesis import given
from hypothesis import strategies as st
from test_search_corpus import pdf

from storm_pipeline.errors import PageError
from storm_pipeline.sources.documents.document import Document, Unreadable
from storm_pipeline.sources.documents.formats import format_of
from storm_pipeline.sources.documents.reader import read_documents
from storm_pipeline.sources.pages.extract import Page, extract
from storm_pipeline.sources.pages.fetch import FetchedPage

SENTENCES = [f"In the year {100 + n} the caravan number {n} reached the oasis of Dunhuang with silk." for n in range(9)]
TEXT = " ".join(SENTENCES)
BODY = "".join(f"<p>{sentence}</p>" for sentence in SENTENCES)
HTML = (
    f"<!doctype html><html><head><title>Caravans</title></head><body><article>{BODY}</article></body></html>".encode()
)
COMMENTED = b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- saved from a server -->\n" + HTML.replace(b"<!doctype html>", b"")
MHTML = (
    b"From: <Saved by Blink>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\tboundary=x\r\n\r\n--x\r\n"
    + HTML
)
WORD, BOOK, PAPER = word(paragraph(run(TEXT))), epub(f"<p>{TEXT}</p>"), pdf([TEXT])
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
UNREAD = {
    "a picture": [PNG, b"\xff\xd8\xff\xe0\0\x10JFIF", b"GIF89a\x01\0\x01\0", b"RIFF\x24\0\0\0WEBPVP8 "],
    "web archive": [MHTML, MHTML.replace(b"\r\n", b"\n"), b"bplist00\xd1\x01\x02_\x10"],
    "an archive": [zipped({"a.txt": "x"}), b"7z\xbc\xaf\x27\x1c\0\x04", b"Rar!\x1a\x07\x01\0"],
    "compressed": [gzip.compress(b"x", mtime=0)],
    "Excel": [zipped({"xl/workbook.xml": "<x/>"}), b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"],
    "PowerPoint": [zipped({"ppt/presentation.xml": "<x/>"})],
    "OpenDocument": [zipped({"mimetype": "application/vnd.oasis.opendocument.text", "META-INF/manifest.xml": "<x/>"})],
    "RTF": [rb"{\rtf1\ansi Silk.}"],
    "sound or video": [b"ID3\x04\0\0\0", b"\0\0\0\x18ftypmp42", b"OggS\0\x02"],
}


def read(folder: Path, name: str, data: bytes) -> Document | Unreadable:
    (folder / name).write_bytes(data)
    (found,) = read_documents(folder)
    return found


def page(data: bytes, kind: str) -> Page:
    url = "https://a.example/x"
    return extract(FetchedPage(url, url, kind, data))


def words_of(pages: tuple[tuple[int | None, str], ...]) -> str:
    return " ".join(" ".join(text for _, text in pages).split())


@pytest.mark.parametrize(
    ("name", "data"),
    [
        *((name, PAPER) for name in ("a.txt", "a.html", "a.docx", "a.jsonl")),
        *((name, WORD) for name in ("a.txt", "a.pdf", "a.epub", "a.md")),
        *((name, BOOK) for name in ("a.txt", "a.pdf", "a.docx", "a.json")),
        *((name, HTML) for name in ("a.txt", "a.pdf", "a.docx", "a.md")),
        *((name, COMMENTED) for name in ("a.txt", "a.pdf")),
        ("a.pdf", HTML.decode().encode("utf-16")),
    ],
)
def test_a_file_is_read_as_what_its_bytes_are(tmp_path: Path, name: str, data: bytes) -> None:
    found = read(tmp_path, name, data)
    assert isinstance(found, Document)
    assert words_of(found.pages) == TEXT


@pytest.mark.parametrize("name", ["a.txt", "a.html", "a.pdf", "a.md"])
@pytest.mark.parametrize(("what", "data"), [(what, data) for what, several in UNREAD.items() for data in several])
def test_a_file_of_another_format_is_named(tmp_path: Path, name: str, what: str, data: bytes) -> None:
    found = read(tmp_path, name, data)
    assert isinstance(found, Unreadable)
    assert what in found.reason
    assert name in found.reason
    assert ".docx" in found.reason


@pytest.mark.parametrize(
    "text",
    [
        *("ID3 tags are older than those of MP4.", "RIFF is a format of files.", "GIF89a has frames."),
        "%PDF is how they begin, in <html> too: <!doctype html>",
        *("# A\n\n<p align=center>Silk</p> and <!-- a comment --> more", "BZhang is a name."),
        *("The type is Content-Type: multipart/related; as in mail.", "PK", ""),
        *("<!--a-->" * 100, "<?xml ?>" * 100, "<!--a" * 200),
    ],
)
def test_texts_about_formats_are_texts(text: str) -> None:
    assert format_of(text.encode()) == ""


@given(st.binary(max_size=200), st.sampled_from([b"PK\x03\x04", b"\x1f\x8b", b"%PDF-", b"<html", b"\xff\xfe<\0", b""]))
def test_any_bytes_have_a_format_or_none(data: bytes, beginning: bytes) -> None:
    assert isinstance(format_of(beginning + data), str)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        *(
            (kind, PAPER)
            for kind in ("text/html", "application/octet-stream", "text/plain", "", "application/x-download")
        ),
        *((kind, HTML) for kind in ("application/pdf", "text/plain", "application/octet-stream", "")),
        *(
            (kind, gzip.compress(HTML, mtime=0))
            for kind in ("text/html", "application/gzip", "application/octet-stream")
        ),
        ("application/pdf", COMMENTED),
        ("text/html", gzip.compress(PAPER, mtime=0)),
        ("text/plain", TEXT.encode()),
        ("text/plain", gzip.compress(TEXT.encode(), mtime=0)),
    ],
)
def test_a_page_is_read_as_what_its_bytes_are(kind: str, data: bytes) -> None:
    assert words_of(page(data, kind).pages) == TEXT


@pytest.mark.parametrize(
    ("kind", "data", "says"),
    [
        *(
            (kind, PNG, "a picture")
            for kind in ("text/html", "application/pdf", "application/octet-stream", "text/plain")
        ),
        *((kind, WORD, "a Word file") for kind in ("text/html", "application/octet-stream", "text/plain")),
        ("text/html", BOOK, "an EPUB book"),
        ("application/octet-stream", TEXT.encode(), "of an unknown kind"),
        ("", b"\x01\x02\x03" * 99, "of an unknown kind"),
        ("text/html", MHTML, "web archive"),
        ("text/html", gzip.compress(HTML, mtime=0)[:60], "damaged gzip|no text|words"),
        ("text/html", b"\x1f\x8b\x08 no gzip", "damaged gzip"),
        ("text/html", gzip.compress(bytes(20_000_000), mtime=0), "unpacks to more than"),
        ("text/html", gzip.compress(gzip.compress(HTML, mtime=0), mtime=0), "compressed"),
        ("application/pdf", b"<html><body><h1>Not found</h1>No such file.</body></html>", "words|no text"),
    ],
)
def test_a_page_of_another_kind_is_named(kind: str, data: bytes, says: str) -> None:
    with pytest.raises(PageError, match=says) as raised:
        page(data, kind)
    assert "https://a.example/x" in str(raised.value)


RUSSIAN = "Москва, столица России. Город основан в 1147 году на берегу реки, по которой ходили лодки. " * 9
JAPANESE = "".join(f"第{n}の隊商は絹を積んで敦煌のオアシスに到着した。" for n in range(20))


def test_mojibake_is_no_page_and_no_document(tmp_path: Path) -> None:
    damaged = RUSSIAN.encode("windows-1251").decode("windows-1252")
    for kind, text in (("text/plain", damaged), ("text/html", f"<html><body><p>{damaged}</p></body></html>")):
        with pytest.raises(PageError, match="no character set that can be told"):
            page(text.encode(), kind)
    for name in ("a.txt", "a.md", "a.html"):
        found = read(tmp_path, name, f"<html><body><p>{damaged}".encode() if name == "a.html" else damaged.encode())
        (tmp_path / name).unlink()
        assert isinstance(found, Unreadable)
        assert "save it as UTF-8" in found.reason


def test_utf8_that_was_saved_as_windows_1252_is_mended(tmp_path: Path) -> None:
    found = read(tmp_path, "a.txt", "He said “naïve” in the café.".encode().decode("cp1252", "ignore").encode())
    assert isinstance(found, Document)
    assert "café" in found.pages[0][1]
    double = JAPANESE.encode().decode("latin-1").encode()
    assert words_of(page(double, "text/plain").pages) == JAPANESE
