"""Bytes to text: what a page states of its character set is believed where it can be true."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.documents.decoding import decoded

JAPANESE = "日本語の文章です。東京は首都です。" * 20
GERMAN = "Größe, Maß und Übermut tun selten gut. " * 20


@given(
    st.binary(max_size=300), st.lists(st.text(max_size=12) | st.sampled_from(["gbk", "utf-16", "utf-8"]), max_size=3)
)
def test_any_bytes_become_text_whatever_is_stated(data: bytes, charsets: list[str]) -> None:
    assert isinstance(decoded(data, charsets), str)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=200), st.sampled_from(["gbk", "windows-1251"]))
def test_utf8_is_never_mistaken_for_what_is_stated(text: str, charset: str) -> None:
    assert decoded(text.encode(), [charset]) == decoded(text.encode())


@pytest.mark.parametrize(
    ("text", "encoding", "stated"),
    [
        (JAPANESE, "shift_jis", "Shift_JIS"),
        (JAPANESE, "euc-jp", "EUC-JP"),
        (JAPANESE, "iso-2022-jp", "ISO-2022-JP"),
        ("文章。" * 50, "gb18030", "gb2312"),
        ("Москва — столица. " * 20, "windows-1251", "windows-1251"),
        (GERMAN, "latin-1", "utf-8"),
        (GERMAN, "latin-1", "no-such-charset"),
        (GERMAN, "utf-8", "iso-8859-1"),
        (GERMAN, "utf-16-le", "utf-16"),
    ],
)
def test_stated_character_sets(text: str, encoding: str, stated: str) -> None:
    assert decoded(text.encode(encoding), [stated]) == text


def test_one_bad_byte_spoils_no_page() -> None:
    assert decoded(GERMAN.encode() + b"\xff", ["utf-8"]) == GERMAN + "\ufffd"


def test_a_wrong_statement_gives_way_to_the_next() -> None:
    assert decoded(JAPANESE.encode("euc-jp"), ["utf-8", "euc-jp"]) == JAPANESE


@pytest.mark.parametrize("stated", ["punycode", "idna", "rot13", "zlib", "unicode_escape", "undefined"])
def test_codecs_that_are_no_character_sets_are_passed_over(stated: str) -> None:
    start = time.monotonic()
    assert decoded(b"\xe9-" * 500_000, [stated]).startswith("é-é")
    assert time.monotonic() - start < 5
