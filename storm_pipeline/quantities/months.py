"""Dates in many languages: 3 August 2022, August 3, 3. August, 3 août, 2022-08-03, 2022年8月3日, August 2022."""

import functools
import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from storm_pipeline.quantities.values import Mention, Quantity, day_of

_ISO = re.compile(r"(?<![\d./-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\d]|[-/.]\d)")
_DAY_FIRST = re.compile(r"(?<![\d./-])(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4}|\d{2})(?![\d]|[-/.]\d)")
_CJK = re.compile(r"(?:(?<!\d)(\d{4})\s?[年년]\s?)?(?<!\d)(\d{1,2})\s?[月월](?:\s?(\d{1,2})\s?[日号號일])?")
_IN_DIGITS = re.compile(r"\d[-/.]\s?\d")  # a part of every date in digits
_YEAR = r"(\d{4})(?!\d)"
_OF = r"(?:(?:of|de|del|do|di|von|des)\s)?"
_ENDING = r"(?:st|nd|rd|th|er|\.?º|\.)?"
_ENGLISH = r"(?:st|nd|rd|th)?"
_TO = r"\s?(?:[-–—]|to|and|bis|und|au|al|et|y|e)\s?"
_MORE_NAMES = {"en": {"Sept": 9}, "de": {"Jän": 1, "Feber": 2, "Mrz": 3}}  # month names that no locale has
_MayMatch = Callable[[str], object]  # whether a text may have such dates; much faster than the search for them
_Read = Callable[[re.Match[str]], list[list[Quantity]]]  # match → its dates, each with its readings
_LOWER_CASE = frozenset("fr es it pt pl ru uk cs sk nl sv da nb fi ro bg hr sr tr".split())


def dates(text: str, language: str) -> Iterator[Mention]:
    """The dates of a text that name a month or are all digits. They do not overlap, except that a range of days is two.

    ``language``: ISO 639-1 code; month names of this language and English are known.
    """
    for may_match, patterns in _patterns(language):
        for pattern, read in patterns if may_match(text) else ():
            taken: list[tuple[int, int]] = []
            for found in pattern.finditer(text):
                stated = [tuple(filter(_is_possible, readings)) for readings in read(found)]
                if not stated or not all(stated):
                    continue
                for readings in stated:
                    small = all(not q.low and not q.day for q in readings)
                    yield Mention(*found.span(), readings, "small" if small else "digits")
                taken.append(found.span())
            text = blanked(text, taken)


def blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Replace sorted spans by NUL characters, which are not part of any quantity; the length is kept."""
    if not spans:
        return text
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    kept = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    return "".join(chain.from_iterable(zip(kept, [*("\0" * (e - s) for s, e in spans), ""], strict=True)))


def month_names(language: str) -> dict[str, int]:
    """Full and abbreviated month names (without full stop), in all capitalisations used: name → 1–12.

    Names of a region, such as setiembre in Peru and Jänner in Austria, count too.
    """
    names = _of_regions(language) | _of_locale("en") | _of_locale(language)
    for code in {"en", language} & set(_MORE_NAMES):
        names |= _MORE_NAMES[code]
    small = {name.lower(): n for name, n in _of_locale(language).items()} if language in _LOWER_CASE else {}
    capital = {name[:1].upper() + name[1:]: n for name, n in names.items()}
    return names | small | capital | {name.upper(): n for name, n in names.items() if len(name) > 3}


@functools.cache
def _of_locale(language: str, *widths: str) -> dict[str, int]:
    from babel.core import Locale, UnknownLocaleError

    try:
        months = Locale.parse(language).months
    except (UnknownLocaleError, ValueError):
        return {}
    chosen = widths or ("wide", "abbreviated")
    tables = [months[form][width] for form in ("format", "stand-alone") for width in chosen]
    forms = {name.strip(" ."): n for names in tables for n, name in names.items()}
    return {name: n for name, n in forms.items() if name and not any(c.isdigit() for c in name)}


@functools.cache
def _of_regions(language: str) -> dict[str, int]:
    """Full names in the regions of a language."""
    from babel.localedata import locale_identifiers

    codes = (code for code in locale_identifiers() if code.startswith(f"{language}_") and code.count("_") == 1)
    return {name: n for code in codes for name, n in _of_locale(code, "wide").items()} if language != "en" else {}


@functools.cache
def _patterns(language: str) -> tuple[tuple[_MayMatch, tuple[tuple[re.Pattern[str], _Read], ...]], ...]:
    names = month_names(language)
    long = {name.casefold() for code in ("en", language) for name in _of_locale(code, "wide")}
    month = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    month = rf"(?<![^\W\d_])({month})(?![^\W\d_])\.?"

    whole = "|".join(sorted((re.escape(name) for name in names if name.casefold() in long), key=len, reverse=True))

    def day_month(found: re.Match[str]) -> list[list[Quantity]]:
        first, last, name, year = found.groups()
        return [[day_of(int(year or 0), names[name], int(day))] for day in (last, first) if day]

    def month_day(found: re.Match[str]) -> list[list[Quantity]]:
        name, first, last, year = found.groups()
        return [[day_of(int(year or 0), names[name], int(day))] for day in (first, last) if day]

    shortest = [name for name in names if not any(other != name and other in name for other in names)]
    in_digits = (
        (_ISO, lambda m: [[day_of(int(m[1]), int(m[3]), int(m[4]))]]),
        (_DAY_FIRST, functools.partial(_in_digits, english=language in {"", "en"})),
    )
    cjk = ((_CJK, lambda m: [[day_of(int(m[1] or 0), int(m[2]), int(m[3] or 0))]]),)
    named = (
        (
            re.compile(
                rf"(?<![\d.,])(?:(\d{{1,2}}){_ENDING}{_TO})?(?<!\d)(\d{{1,2}}){_ENDING}\s{{0,2}}{_OF}{month}"
                rf"(?:,?\s{{1,2}}{_OF}{_YEAR})?"
            ),
            day_month,
        ),
        (
            re.compile(
                rf"{month}\s{{1,2}}(\d{{1,2}}){_ENGLISH}(?!\d)(?:{_TO}(\d{{1,2}}){_ENGLISH}(?!\d))?(?:,?\s{{1,2}}{_YEAR})?"
            ),
            month_day,
        ),
        (re.compile(rf"{month},?\s{{1,2}}{_OF}{_YEAR}"), lambda m: [[day_of(int(m[2]), names[m[1]])]]),
        (re.compile(rf"{_YEAR}\s{{1,2}}{month}"), lambda m: [[day_of(int(m[1]), names[m[2]])]]),
        (re.compile(rf"(?<![^\W\d_])({whole})(?![^\W\d_])"), lambda m: [[day_of(0, names[m[1]])]]),
    )
    return (
        (_IN_DIGITS.search, in_digits),
        (lambda text: "月" in text or "월" in text, cjk),
        (lambda text: any(name in text for name in shortest), named),
    )


def _in_digits(found: re.Match[str], *, english: bool) -> list[list[Quantity]]:
    """3.8.2022 is in August; in English, 3/8/2022 may also be in March."""
    first, sign, second, year = int(found[1]), found[2], int(found[3]), int(found[4])
    if len(found[4]) == 2:
        return []
    read = [day_of(year, second, first)]
    return [[*read, day_of(year, first, second)] if english and sign != "." else read]


def _is_possible(quantity: Quantity) -> bool:
    if not 1 <= quantity.month <= 12 or quantity.low > 9999:
        return False
    return quantity.day <= monthrange(int(quantity.low) or 2000, quantity.month)[1]
