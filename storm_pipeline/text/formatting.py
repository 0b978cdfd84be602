"""Human-readable formatting of values."""

import re
import unicodedata
from collections.abc import Iterable

_JOINERS = {0x200C: None, 0x200D: None}
ISO_DATE = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?)?")  # a day, a month or a year
_MONTHS = "January February March April May June July August September October November December".split()


def printable(text: str) -> str:
    """Return a text on one line: runs of whitespace and control characters become one space."""
    return " ".join("".join(c if is_printable(c) else " " for c in text).split())


def printable_lines(text: str) -> str:
    """Replace each control character except line ends and tabs by a blank."""
    return "".join(c if c in "\n\t" or is_printable(c) else " " for c in text)


def is_printable(text: str) -> bool:
    """Return whether a text has no control characters.

    The joiners of Persian, Hindi and emoji are allowed, and characters that are newer than Python's tables.
    """
    return text.isprintable() or all(map(_is_printable, text.translate(_JOINERS)))  # most texts at once


def _is_printable(char: str) -> bool:
    return char.isprintable() or (unicodedata.category(char) == "Cn" and ord(char) & 0xFFFE != 0xFFFE)


def shorten(text: str, most: int) -> str:
    """Shorten a text to at most ``most`` characters, the last of which is then an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def with_noun(number: int, noun: str) -> str:
    """Return a number with a noun: ``1 source``, ``2,000 sources``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def day(iso: str) -> str:
    """Return an ISO date in words: ``2 May 2019``, ``May 2019``, ``2019``; any other text unchanged."""
    match = ISO_DATE.fullmatch(iso)
    if not match or not match[2]:
        return iso
    month = f"{_MONTHS[int(match[2]) - 1]} {match[1]}"
    return f"{int(match[3])} {month}" if match[3] else month


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return ``did you mean 'search'?`` for a misspelt name that is close to a known one, else ``otherwise``."""
    import difflib

    by_form = {candidate.replace("-", "_"): candidate for candidate in known}
    close = difflib.get_close_matches(name.replace("-", "_"), by_form, 1)
    return f"did you mean {by_form[close[0]]!r}?" if close else otherwise


def first_line(error: object) -> str:
    """Return the first line of an error's message, at most 300 characters."""
    return next(iter(str(error).strip().splitlines()), "no reason given")[:300]


def clock(seconds: float) -> str:
    """Return seconds as ``m:ss`` or ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def amount(number: int) -> str:
    """Return a number of tokens as text: ``950``, ``12.3k``, ``4.56M``."""
    if number < 1000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 999_950 else f"{number / 1e6:.2f}M"


def dollars(cost: float | None) -> str:
    """Return US dollars as text: ``$1.25``, ``$0.0031``, ``under $0.0001``; ``unknown`` for None, never empty."""
    if cost is None:
        return "unknown"
    if cost == 0 or cost >= 0.01:
        return f"${cost:,.2f}"
    return f"${cost:.4f}" if cost >= 0.0001 else "under $0.0001"


def age(seconds: float) -> str:
    """Return how long ago something was, in its largest unit: ``48 s``, ``12 min``, ``5 h``, ``3 d``."""
    whole = max(0, int(seconds))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if whole >= size:
            return f"{whole // size:,} {unit}"
    return f"{whole} s"
