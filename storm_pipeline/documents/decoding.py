"""Bytes of unknown origin to text, without ever failing."""

import codecs

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 4096


def decoded(data: bytes) -> str:
    """The text that bytes stand for: by byte order mark, UTF-16 by its zeros, else UTF-8 or Windows Latin.

    Line ends become line feeds. Bytes that fit nothing become replacement characters.
    """
    text = _decoded(data)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decoded_lines(data: bytes) -> list[str]:
    """The lines of :func:`decoded`; without a mark each for itself, so that one odd line spoils no other."""
    if data.startswith(tuple(mark for mark, _ in _MARKS)) or _zeros_at(data) is not None:
        return decoded(data).split("\n")
    return [_decoded(line.rstrip(b"\r")) for line in data.split(b"\n")]


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
