"""Numbers in digits: locale-dependent separators (1.234), digits of other scripts, Han scales (1.5万)."""

import functools
import re
import unicodedata
from fractions import Fraction

_MAX_CHARS = 40  # longer digit strings are identifiers, not numbers
_SPACES = "\u00a0\u2007\u2009\u202f"
NUMBER = (
    rf"(?<![\d.,])\d{{1,3}}(?:[{_SPACES}'’]\d{{3}})+(?!\d)(?:[.,]\d+)?"
    r"|(?<![\d.,])\d{1,3}(?: \d{3})+(?![\d.,]*\d)(?:,\d+)?"
    r"|(?:(?<![\w.,])\.)?\d+(?:[.,\u066b]\d+)*"
)
"""A number in digits: grouped by spaces or apostrophes, or with any points and commas; .5 too."""
_GROUPED = re.compile(r"\d{1,3}(?:\D\d{3})+")
_INDIAN = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}")
_TO_ASCII = {ord(a): b for a, b in zip("．％－＋：／～٪٬", ".%-+:/~%\u00a0", strict=True)}
_GROUPING_COMMA = re.compile(r"(?<=\d)，(?=\d{3}(?!\d))")
_CJK_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8, "兆": 10**12}
_CJK_DIGITS = {char: i for i, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_DIGITS_AND_SCALE = r"\d{1,3}(?:,\d{3}){1,4}|\d{1,12}(?:\.\d{1,12})?"
_SCALES = "".join(_CJK_SCALES)
_NUMERALS = "".join([*_CJK_DIGITS, *_CJK_SCALES])
CJK_NUMERAL = re.compile(f"[{_NUMERALS}]")
"""A character of every match of the patterns below."""
CJK_NUMBER = re.compile(
    rf"(?<![\d.,{_NUMERALS}])(?:(?:{_DIGITS_AND_SCALE})[{_SCALES}]{{1,2}}){{1,5}}\d{{0,4}}(?![\d.,]*\d)"
    rf"|(?<![{_NUMERALS}])[{_NUMERALS}]{{2,16}}(?![{_NUMERALS}])"
)
"""Digits with Han scales (``1.5万``, ``1億2000万``), or two or more Han numerals (``三百``)."""
CJK_SHARE = re.compile(rf"(?:(百)|([{_NUMERALS}]{{1,3}}))分之(\d{{1,12}}(?:\.\d{{1,6}})?|[{_NUMERALS}]{{1,8}})")
"""A percentage (``百分之五``) or a part (``三分之二``)."""
_CJK_PART = re.compile(rf"({_DIGITS_AND_SCALE}|[{''.join(_CJK_DIGITS)}])|([{_SCALES}])")


def plain_digits(text: str) -> str:
    """Convert digits of any script to 0–9 and full-width punctuation to ASCII; the length is kept."""
    if text.isascii():
        return text
    text = _GROUPING_COMMA.sub(",", text.translate(_TO_ASCII))
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() and not c.isascii() else c for c in text)


def values(literal: str, language: str) -> tuple[Fraction, ...]:
    """The possible values of a number in digits, likeliest first; empty if it is not a number (``1.2.3``, 50 digits).

    ``language``: ISO 639-1 code, whose decimal sign decides how to read ``1.234``; "" if unknown.
    """
    if len(literal) > _MAX_CHARS:
        return ()
    body = re.sub(rf"[{_SPACES} '’]", "", literal)
    signs = "".join(c for c in body if c in ".,\u066b")
    if not signs:
        parts = literal.split(" ") if decimal_sign(language) == "." and literal.count(" ") == 1 else ()
        return (Fraction(int(body)), *map(Fraction, parts))
    if signs == "\u066b" or (body != literal and len(signs) == 1):
        return (_decimal(body, signs),)
    if len(signs) == 1:
        return _with_one_sign(body, signs, language)
    if len(set(signs)) == 1:
        return (_whole(body),) if _is_grouped(body) else ()
    whole = body.rpartition(signs[-1])[0]
    return (_decimal(body, signs[-1]),) if signs.count(signs[-1]) == 1 and _is_grouped(whole) else ()


def _with_one_sign(body: str, sign: str, language: str) -> tuple[Fraction, ...]:
    """1,234 and 1.5: a sign before three digits separates groups if the language's decimal sign is the other one."""
    fraction, whole = _decimal(body, sign), _whole(body)
    if not _is_grouped(body) or body.startswith("0"):
        return (fraction,)
    if not language or (language == "es" and sign == ","):
        return whole, fraction
    return (fraction,) if decimal_sign(language) == sign else (whole,)


def cjk_value(literal: str) -> Fraction:
    """The value of a match of :data:`CJK_NUMBER`."""
    total, section, current = Fraction(0), Fraction(0), Fraction(0)
    found = [(digits, scale) for digits, scale in _CJK_PART.findall(literal)]
    if not any(scale for _, scale in found):
        return Fraction(int("".join(str(_CJK_DIGITS[digits]) for digits, _ in found)))
    for digits, scale in found:
        if digits:
            current = Fraction(_CJK_DIGITS[digits] if digits in _CJK_DIGITS else Fraction(digits.replace(",", "")))
        elif _CJK_SCALES[scale] < 10**4:
            section += (current or 1) * _CJK_SCALES[scale]
            current = Fraction(0)
        else:
            total += (section + current or 1) * _CJK_SCALES[scale]
            section = current = Fraction(0)
    return total + section + current


def cjk_share(found: re.Match[str]) -> Fraction:
    """The fraction that a match of :data:`CJK_SHARE` states."""
    share = Fraction(found[3]) if found[3][0].isdecimal() else cjk_value(found[3])
    return share / (100 if found[1] else cjk_value(found[2]) or 1)


def unit_of(value: Fraction) -> Fraction:
    """Place value of the last significant digit: 10 for 360, 1/10 for 6.1; 1 for 0."""
    if not value:
        return Fraction(1)
    unit = Fraction(1)
    while value % unit and unit > Fraction(1, 10**12):
        unit /= 10
    while value % (unit * 10) == 0:
        unit *= 10
    return unit


@functools.cache
def decimal_sign(language: str) -> str:
    """The decimal sign of a language, a comma or a point; a point if unknown."""
    from babel.core import Locale, UnknownLocaleError
    from babel.numbers import get_decimal_symbol

    try:
        return "," if get_decimal_symbol(Locale.parse(language)) == "," else "."
    except (UnknownLocaleError, ValueError):
        return "."


def _is_grouped(body: str) -> bool:
    return bool(_GROUPED.fullmatch(body) or _INDIAN.fullmatch(body)) or body.isdigit()


def _whole(body: str) -> Fraction:
    return Fraction(int(re.sub(r"\D", "", body) or 0))


def _decimal(body: str, sign: str) -> Fraction:
    whole, _, decimals = body.rpartition(sign)
    return Fraction(f"{_whole(whole)}.{decimals}")
