"""Decoding bytes of unknown encoding; never fails."""

import codecs
import functools
import re
from collections.abc import Sequence
from contextlib import suppress

_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark is its prefix
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
HEAD = 4096  # bytes of a file for detecting its format
_SAMPLE = 20_000  # characters that show whether a text is readable
_MAX_ERROR_SHARE = 0.01
_MANY = 10  # non-ASCII characters per error from which a text is UTF-8
_DECLARED = re.compile(
    rb"""<\?xml[^>]{0,200}?\sencoding\s*=\s*["']\s*([\w.:-]{1,40})"""
    rb"""|<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""",
    re.I,
)
_CODE_PAGE = re.compile(r"(?:x-)?(?:windows|cp|ibm|ms)[-_]?(\d{3,5})")
_BREAKS = re.compile(rb"[\r\n<>]+")
# Encodings of the WHATWG standard, by Python's names; others only if declared.
_DETECTABLE = [
    *("gb18030", "cp932", "cp949", "big5hkscs", "euc_jp"),
    *(f"cp{number}" for number in (866, 874, *range(1250, 1259))),
    *(f"iso8859_{number}" for number in (2, 5, 6, 7, 15)),
    *("koi8_r", "koi8_u"),
]
_MAX_MESS = 1.05  # charset-normalizer's mess ratio: prose has 0 to 0.3, formulas up to 1, a wrong alphabet 1 to 8
_MAX_BAD_SHARE = 0.1  # share of characters in sequences that ftfy considers damaged


def decode(data: bytes, charsets: Sequence[str] = ()) -> str:
    """Decode bytes; line ends become line feeds, undecodable bytes replacement characters.

    ``charsets``: declared character sets, most credible first, by labels of the WHATWG's standard or Python's names;
    unknown ones are skipped.
    """
    return data.decode(_encoding_of(data, charsets), "replace").replace("\r\n", "\n").replace("\r", "\n")


def decode_lines(data: bytes) -> list[str]:
    """Decode the lines of a file: valid UTF-8 lines as UTF-8, the others in their common likeliest encoding."""
    if _marked_encoding(data):
        return decode(data).split("\n")
    lines = [line.rstrip(b"\r") for line in data.split(b"\n")]
    others = _encoding_of(b"\n".join(line for line in lines if not _is_utf8(line)))
    return [line.decode("utf-8" if _is_utf8(line) else others, "replace") for line in lines]


def declared_charsets(data: bytes) -> list[str]:
    """Return the character sets declared in the head of a page, by XML declaration and meta tags."""
    return [(xml or meta).decode("ascii", "replace") for xml, meta in _DECLARED.findall(data[:HEAD])]


def mend(text: str) -> str:
    """Repair, line by line, UTF-8 that was decoded as Windows-1252 or similar, if the beginning shows such damage."""
    from ftfy import fix_encoding
    from ftfy.badness import is_bad

    if text.isascii() or not is_bad(text[:_SAMPLE]):
        return text
    return "\n".join(fix_encoding(line) if is_bad(line) else line for line in text.split("\n"))


def is_mojibake(text: str) -> bool:
    """Return whether the beginning of a text is unreadable from decoding by a wrong character set."""
    from charset_normalizer.md import mess_ratio
    from ftfy.badness import badness

    sample = text[:_SAMPLE]
    return badness(sample) > _MAX_BAD_SHARE * len(sample) or mess_ratio(sample, 2 * _MAX_MESS) > _MAX_MESS


def _encoding_of(data: bytes, charsets: Sequence[str] = ()) -> str:
    """Return the name of Python's codec for the bytes.

    By byte order mark, UTF-16 by its zero bytes; else UTF-8, which has no false positives, also with some broken bytes;
    else the declared one, unless it gives errors or mojibake; else the likeliest one.
    """
    if encoding := _marked_encoding(data):
        return encoding
    declared = [name for label in charsets if (name := _codec(label))]
    escaped = (name for name in declared if name.startswith("iso2022") and b"\x1b$" in data)
    if encoding := next(escaped, "utf-8" if _is_utf8(data) else ""):
        return encoding
    text = data.decode("utf-8", "replace")
    errors = text.count("\ufffd")
    if len(text) - len(text.encode("ascii", "ignore")) - errors >= _MANY * errors:
        return "utf-8"
    sample = b"\n".join(part for part in _BREAKS.split(data) if not part.isascii())
    fitting = (name for name in declared if _has_few_errors(data, name) and not _gives_mojibake(sample, name))
    return next(fitting, "") or _detect(sample)


@functools.cache
def _codec(label: str) -> str:
    """Return the codec for a label of the WHATWG's standard, else of Python; empty if it is not a character set."""
    import webencodings
    from charset_normalizer.constant import IANA_SUPPORTED
    from charset_normalizer.utils import iana_name

    known = webencodings.lookup(label)
    if known and known.name not in {"replacement", "x-user-defined"}:
        return str(known.codec_info.name)
    page = _CODE_PAGE.fullmatch(label.strip().lower())
    name = iana_name(f"cp{page[1]}" if page else label.strip(), strict=False)
    # Not all of Python's codecs are character sets (rot13), and some take quadratic time (punycode).
    return name if name in IANA_SUPPORTED and name != "utf_7" else ""


def _gives_mojibake(sample: bytes, name: str) -> bool:
    return is_mojibake(sample.decode(name, "replace"))


def _has_few_errors(data: bytes, name: str) -> bool:
    with suppress(RuntimeError):  # raised by Python's ISO-2022 decoders on some damaged texts
        text = data.decode(name, "replace")
        return text.count("\ufffd") <= _MAX_ERROR_SHARE * len(text)
    return False


def _is_utf8(data: bytes) -> bool:
    with suppress(UnicodeDecodeError):
        data.decode("utf-8")
        return True
    return False


def _detect(sample: bytes) -> str:
    """Return the likeliest encoding; Windows-1252 if no other is likelier, or no language is recognised."""
    from charset_normalizer import from_bytes

    results = from_bytes(sample, cp_isolation=_DETECTABLE)
    matches = [(match, "cp1252" in match.could_be_from_charset) for match in results]
    best, is_western = min(matches, key=lambda p: (p[0].chaos, -p[0].coherence, not p[1]), default=(None, True))
    if best is None or is_western or (not best.coherence and not _gives_mojibake(sample, "cp1252")):
        return "cp1252"
    return str(best.encoding)


def _marked_encoding(data: bytes) -> str:
    """Return the encoding by a byte order mark or, for UTF-16, the positions of zero bytes; empty if unknown."""
    if marked := next((encoding for mark, encoding in _BOMS.items() if data.startswith(mark)), ""):
        return marked
    sample = data[:HEAD]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 4 < len(sample) or min(even, odd) * 8 > max(even, odd):
        return ""
    return "utf-16-le" if odd > even else "utf-16-be"
