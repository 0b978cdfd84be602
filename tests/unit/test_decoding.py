"""Bytes to text: what a page states of its character set is believed where it can be true."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.sources.documents.decoding import (
    declared_charsets,
    decode,
    decode_lines,
    is_mojibake,
    mend,
)

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


@pytest.mark.parametrize("text", [CHINESE, JAPANESE, RUSSIAN, FRENCH, ENGLISH], ids=["zh", "ja", "ru", "fr", "en"])
@pytest.mark.parametrize("charsets", [[], ["utf-8"], ["iso-8859-1"], ["gbk"]], ids=str)
@pytest.mark.parametrize("broken", [b"\xff", b"\xe2\x82", b"\xc3"], ids=["byte", "cut", "lead"])
def test_a_broken_byte_leaves_a_page_utf8(text: str, charsets: list[str], broken: bytes) -> None:
    data = text.encode()
    assert decode(data + broken + b" and " + data, charsets) == f"{text}\ufffd and {text}"


@pytest.mark.parametrize(
    ("head", "charsets"),
    [
        (b'<?xml version="1.0" encoding="EUC-JP"?><html>', ["EUC-JP"]),
        (b"\n<?xml version='1.0' standalone='no' encoding = 'x-sjis' ?>", ["x-sjis"]),
        (b"<html><head><meta charset=ibm866><title>", ["ibm866"]),
        (b'<?xml encoding="a"?><META http-equiv="Content-Type" content="text/html; charset=b">', ["a", "b"]),
        (b"<p>charset=koi8-r, encoding='x'</p>", []),
    ],
)
def test_declarations_of_a_page(head: bytes, charsets: list[str]) -> None:
    assert declared_charsets(head) == charsets


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
