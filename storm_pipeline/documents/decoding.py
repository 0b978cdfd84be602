"""Bytes of unknown origin to text, without ever failing."""

import codecs
import re
from collections.abc import Sequence

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 4096
_MOST_DAMAGE = 0.01
# Only these: some of Python's codecs are no character sets (rot13), or take quadratic time (punycode).
_CHARSET = re.compile(
    r"utf-?8|iso-?8859-\d{1,2}|latin-?\d|(?:windows-|cp)(?:125\d|874|932|949|950)|koi8-[ru]|gb2312|gbk|gb18030|big5(?:-?hkscs)?"
    r"|euc-(?:jp|kr)|shift[_-]jis|iso-2022-(?:jp|kr)|tis-620|macintosh|utf-?16(?:-?[lb]e)?",
    re.I,
)
# What pages that state the one are usually written in.
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949", "tis-620": "cp874"}
_SEVEN_BIT = "iso-2022-"


def decoded(data: bytes, charsets: Sequence[str] = ()) -> str:
    """The text that bytes stand for: by byte order mark, UTF-16 by its zeros, else UTF-8 or Windows Latin.

    Line ends become line feeds. Bytes that fit nothing become replacement characters.

    Args:
        data: any bytes.
        charsets: character sets that somebody stated, the most credible first. They are tried before Windows
            Latin, but after UTF-8, which other texts are never mistaken for; unknown ones are passed over.
    """
    text = _stated(data, charsets) or _decoded(data)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decoded_lines(data: bytes) -> list[str]:
    """The lines of :func:`decoded`; without a mark each for itself, so that one odd line spoils no other."""
    if data.startswith(tuple(mark for mark, _ in _MARKS)) or _zeros_at(data) is not None:
        return decoded(data).split("\n")
    return [_decoded(line.rstrip(b"\r")) for line in data.split(b"\n")]


def _stated(data: bytes, charsets: Sequence[str]) -> str | None:
    """The text in the first stated character set that hardly any byte contradicts."""
    names = [name.lower() for name in charsets if _CHARSET.fullmatch(name)]
    seven_bit = [name for name in names if name.startswith(_SEVEN_BIT)]
    if not seven_bit and (not names or data.startswith(tuple(mark for mark, _ in _MARKS)) or _is_utf8(data)):
        return None
    for name in seven_bit or names:
        text = data.decode(_WIDER.get(name, name), "replace")
        if text.count("\ufffd") <= _MOST_DAMAGE * len(text):
            return text
    return None


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _decoded(data: bytes) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if (odd := _zeros_at(data)) is not None:
        return data.decode("utf-16-le" if odd else "utf-16-be", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _zeros_at(data: bytes) -> bool | None:
    """Whether a text in UTF-16 has its zero bytes at odd places (little endian); None if it is none."""
    sample = data[:_SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 4 < len(sample) or min(even, odd) * 8 > max(even, odd):
        return None
    return odd > even
