"""Bytes to text: formats and character sets are told by the bytes; what they state is believed where it can be true."""

import gzip
from pathlib import Path

import pytest
from books import epub, paragraph, run, word, zipped
from hypothesis import given
from hypothesis import strategies as st
from test_search_corpus import pdf

from storm_pipeline.errors import PageError
from storm_pipeline.sources.documents.decoding import decode, decode_lines, is_mojibake, mend
from storm_pipeline.sources.documents.document import Document, Unreadable
from storm_pipeline.sources.documents.formats import format_of
from storm_pipeline.sources.documents.reader import read_documents
from storm_pipeline.sources.pages.extract import Page, extract
from storm_pipeline.sources.pages.fetch import FetchedPage

JAPANESE = "日本語の文章です。東京は首都です。" * 20
GERMAN = "Größe, Maß und Übermut tun selten gut. " * 20


@given(
    st.binary(max_size=300), st.lists(st.text(max_size=12) | st.sampled_from(["gbk", "utf-16", "utf-8"]), max_size=3)
)
def test_any_bytes_become_text_whatever_is_stated(data: bytes, charsets: list[str]) -> None:
    assert isinstance(decode(data, charsets), str)


RUSSIAN = "Москва, столица России. Город основан в 1147 году на берегу реки. " * 4
KOREAN = "서울은 대한민국의 수도이자 최대 도시이며, 한강을 끼고 있는 오래된 도시이다. " * 4
CHINESE = "北京是中华人民共和国的首都，位于华北平原的北部，是全国的政治中心和文化中心。" * 4
TAIWANESE = "臺北是臺灣的首都，位於北部的盆地，是全國的政治中心和文化中心。" * 4
POLISH = "Miasto założono w średniowieczu nad brzegiem rzeki, którą żeglowały łodzie. " * 4
GREEK = "Η Αθήνα είναι η πρωτεύουσα της Ελλάδας και η μεγαλύτερη πόλη της χώρας. " * 4
HEBREW = "ירושלים היא עיר הבירה של מדינת ישראל והעיר הגדולה ביותר בה. " * 4
ARABIC = "القاهرة هي عاصمة جمهورية مصر العربية وأكبر مدنها من حيث عدد السكان. " * 4
THAI = "กรุงเทพมหานครเป็นเมืองหลวงและนครที่มีประชากรมากที่สุดของประเทศไทย " * 4
FRENCH = "L'été dernier, à Orléans, la fenêtre était ouverte et le garçon préférait le café noir. " * 4
ENGLISH = "The so-called “naïve” approach – used in the café since 1904 – isn’t what it seems. " * 4


@pytest.mark.parametrize(
    ("text", "encoding", "label"),
    [
        *((JAPANESE, "cp932", label) for label in ("windows-932", "x-sjis", "windows-31j", "MS_Kanji", "cp932")),
        *((KOREAN, "cp949", label) for label in ("ks_c_5601-1987", "windows-949", "KSC5601", "x-windows-949")),
        *((RUSSIAN, "cp866", label) for label in ("ibm866", "cp866", "csIBM866", "866")),
        *((CHINESE, "gb18030", label) for label in ("gb_2312-80", "x-gbk", "windows-936", "cp936")),
        *((TAIWANESE, "big5", "x-x-big5"), (GERMAN, "mac-roman", "x-mac-roman"), (GERMAN, "cp850", "ibm850")),
        *((POLISH, "iso8859-2", "l2"), (KOREAN, "iso2022_kr", "iso-2022-kr")),
    ],
)
def test_labels_of_the_web_and_of_python(text: str, encoding: str, label: str) -> None:
    assert decode(text.encode(encoding), [label]) == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        *((JAPANESE, "cp932"), (JAPANESE, "euc-jp"), (KOREAN, "cp949")),
        *((CHINESE, "gb18030"), (TAIWANESE, "big5"), (RUSSIAN, "windows-1251"), (RUSSIAN, "cp866")),
        *((POLISH, "windows-1250"), (GREEK, "windows-1253"), (ARABIC, "windows-1256"), (THAI, "cp874")),
        *((GERMAN, "windows-1252"), (FRENCH, "windows-1252")),
    ],
)
@pytest.mark.parametrize("times", [1, 300])
def test_what_is_not_declared_is_detected(text: str, encoding: str, times: int) -> None:
    data = (text * times).encode(encoding)
    assert decode(data) == text * times
    assert decode_lines(data + b"\nplain\n" + data) == [text * times, "plain", text * times]


@pytest.mark.parametrize(
    "text", ["Größe", "café", "El Niño", "£5", "20 °C", "§ 3", "„Wort“", "Peña, España", "Tromsø", "É", "naïve “x”"]
)
def test_few_letters_are_read_as_windows_1252(text: str) -> None:
    assert decode(text.encode("cp1252")) == text
    assert decode_lines("北京\n".encode() + text.encode("cp1252")) == ["北京", text]


@pytest.mark.parametrize("text", [CHINESE, JAPANESE, RUSSIAN, FRENCH, ENGLISH])
@pytest.mark.parametrize("charsets", [[], ["utf-8"], ["iso-8859-1"], ["gbk"]])
@pytest.mark.parametrize("broken", [b"\xff", b"\xe2\x82", b"\xc3"])
def test_a_broken_byte_leaves_a_page_utf8(text: str, charsets: list[str], broken: bytes) -> None:
    data = text.encode()
    assert decode(data + broken + b" and " + data, charsets) == f"{text}\ufffd and {text}"


@pytest.mark.parametrize("text", [JAPANESE, RUSSIAN, GREEK, CHINESE, KOREAN, THAI, ARABIC], ids=lambda text: text[:2])
def test_mojibake_is_told_and_mended(text: str) -> None:
    damaged = text.encode().decode("latin-1")
    assert not is_mojibake(text)
    assert is_mojibake(damaged)
    assert mend(f"A title\n{damaged}") == f"A title\n{text}"


@pytest.mark.parametrize(
    "text",
    [
        FRENCH,
        POLISH,
        HEBREW,
        "| Year | Ships | % |\n| --- | --- | --- |\n| 1904 | 68 | 12.5 |\n",
        "for (int i = 0; i < n; ++i) { a[i] += b[i] * c[i]; } // x->y != NULL && *p++",
        "pronounced /ˈθʌɹəli/ or [ˈθʌɹəˌli], cf. German [ʃtʁaːsə], French [ʁɛ̃ʒœ̃ː]",
        "Hà Nội là thủ đô của nước Cộng hòa Xã hội chủ nghĩa Việt Nam, kinh đô của các vương triều.",
        "Let ε>0. Then ∃δ>0 s.t. |x−a|<δ ⟹ |f(x)−f(a)|<ε, where λ₁≤λ₂≤…≤λₙ of A∈ℂⁿˣⁿ, ‖A‖₂=σ₁.",
        "Tʼáá íiyisíí łáʼídi mííl dóó ashdladiin neeznádiin.",
        "",
    ],
)
def test_prose_tables_code_and_formulas_are_no_mojibake(text: str) -> None:
    assert not is_mojibake(text * 8)
    assert mend(text) == text


@pytest.mark.parametrize("stated", ["punycode", "idna", "rot13", "zlib", "unicode_escape", "undefined"])
def test_codecs_that_are_no_character_sets_are_passed_over(stated: str) -> None:
    assert decode(b"l'\xe9t\xe9 - " * 200_000, [stated]).startswith("l'été - l'été")


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


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        *((kind, PAPER) for kind in ("text/html", "application/octet-stream", "text/plain", "")),
        *((kind, HTML) for kind in ("application/pdf", "text/plain", "application/octet-stream", "")),
        *((kind, gzip.compress(HTML, mtime=0)) for kind in ("text/html", "application/gzip")),
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
        *((kind, PNG, "a picture") for kind in ("text/html", "application/pdf", "text/plain")),
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


MOSCOW = "Москва, столица России. Город основан в 1147 году на берегу реки, по которой ходили лодки. " * 9
CARAVANS = "".join(f"第{n}の隊商は絹を積んで敦煌のオアシスに到着した。" for n in range(20))


def test_mojibake_is_no_page_and_no_document(tmp_path: Path) -> None:
    damaged = MOSCOW.encode("windows-1251").decode("windows-1252")
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
    double = CARAVANS.encode().decode("latin-1").encode()
    assert words_of(page(double, "text/plain").pages) == CARAVANS
