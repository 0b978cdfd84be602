"""Decoding bytes of unknown encoding; never fails."""

import codecs
import re
from collections.abc import Sequence

_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark is a prefix of it
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SAMPLE = 4096
_MAX_ERROR_SHARE = 0.01
# An allow-list: some of Python's codecs are not character sets (rot13), or take quadratic time (punycode).
_CHARSET = re.compile(
    r"utf-?8|iso-?8859-\d{1,2}|latin-?\d|(?:windows-|cp)(?:125\d|874|932|949|950)|koi8-[ru]|gb2312|gbk|gb18030|big5(?:-?hkscs)?"
    r"|euc-(?:jp|kr)|shift[_-]jis|iso-2022-(?:jp|kr)|tis-620|macintosh|utf-?16(?:-?[lb]e)?",
    re.I,
)
# Supersets that pages declaring the key are usually encoded in.
_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949", "tis-620": "cp874"}
_SEVEN_BIT = "iso-2022-"


def decoded(data: bytes, charsets: Sequence[str] = ()) -> str:
    """Decode bytes: by byte order mark, UTF-16 by its zero bytes, else UTF-8 or Windows-1252.

    Line ends become line feeds. Undecodable bytes become replacement characters.

    Args:
        charsets: declared character sets, most credible first. They are tried before Windows-1252, but after UTF-8,
            which has no false positives; unknown ones are skipped.
    """
    text = _by_declared(data, charsets) or _decoded(data)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decoded_lines(data: bytes) -> list[str]:
    """The lines of :func:`decoded`; without a byte order mark each is decoded on its own, so errors stay local."""
    if _told_encoding(data):
        return decoded(data).split("\n")
    return [_decoded(line.rstrip(b"\r")) for line in data.split(b"\n")]


def _by_declared(data: bytes, charsets: Sequence[str]) -> str | None:
    """The text in the first declared character set that decodes with few errors."""
    names = [name.lower() for name in charsets if _CHARSET.fullmatch(name)]
    seven_bit = [name for name in names if name.startswith(_SEVEN_BIT)]
    if not seven_bit and (not names or data.startswith(tuple(_BOMS)) or _is_utf8(data)):
        return None
    for name in seven_bit or names:
        text = data.decode(_SUPERSETS.get(name, name), "replace")
        if text.count("\ufffd") <= _MAX_ERROR_SHARE * len(text):
            return text
    return None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _decoded(data: bytes) -> str:
    if encoding := _told_encoding(data):
        return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _told_encoding(data: bytes) -> str:
    """The encoding that a byte order mark tells or, of UTF-16, the positions of its zero bytes; empty if none does."""
    if marked := next((encoding for mark, encoding in _BOMS.items() if data.startswith(mark)), ""):
        return marked
    sample = data[:_SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 4 < len(sample) or min(even, odd) * 8 > max(even, odd):
        return ""
    return "utf-16-le" if odd > even else "utf-16-be"
