"""Dates in many languages: 3 August 2022, August 3, 3. August, 3 août, 2022-08-03, 2022年8月3日, August 2022."""

import functools
import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Iterator, Mapping

from storm_pipeline.quantities.values import Mention, Quantity, day_of

_ISO = re.compile(
    r"(?<![\d./-])(?P<year>\d{4})(?P<sign>[-/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})(?![\d]|[-/.]\d)"
)
_DAY_FIRST = re.compile(
    r"(?<![\d./-])(?P<day>\d{1,2})(?P<sign>[./-])\s?(?P<month>\d{1,2})(?P=sign)\s?(?P<year>\d{4}|\d{2})(?![\d]|[-/.]\d)"
)
_CJK = re.compile(
    r"(?:(?<!\d)(?P<year>\d{4})\s?[年년]\s?)?(?<!\d)(?P<month>\d{1,2})\s?[月월](?:\s?(?P<day>\d{1,2})\s?[日号號일])?"
)
_IN_DIGITS = re.compile(r"\d[-/.]\s?\d")  # a part of every date in digits
_YEAR = r"(?P<year>\d{4})(?!\d)"
_OF = r"(?:(?:of|de|del|do|di|von|des)\s)?"
_ENDING = r"(?:st|nd|rd|th|er|\.?º|\.)?"
_ENGLISH = r"(?:st|nd|rd|th)?"
_IN_FRONT = r"(?:\s{1,2}|(?<=\.))(?:the\s(?=\d{1,2}[nrst]))?"  # between a month and its day
_DAY_BEHIND = r"(?!\.?\s{0,2}(?:the\s)?\d{1,2}(?:[nrst][dht]\b|,?\s{1,2}(?:of\s)?\d{4}(?!\d)))"  # not in "5. Jan. 10th"
_TO = r"\s?(?:[-–—]|to|and|bis|und|au|al|et|y|e)\s?"
_MORE_NAMES = {"en": {"Sept": 9}, "de": {"Jän": 1, "Feber": 2, "Mrz": 3}}  # month names that no locale has
_MayMatch = Callable[[str], object]  # whether a text may have such dates; much faster than the search for them
_LOWER_CASE = frozenset("fr es it pt pl ru uk cs sk nl sv da nb fi ro bg hr sr tr".split())


def dates(text: str, language: str) -> Iterator[Mention]:
    """The dates of a text that name a month or are all digits. They do not overlap, except that a range of days is two.

    ``language``: ISO 639-1 code; month names of this language and English are known.
    """
    names = month_names(language)
    for may_match, patterns in _patterns(language):
        for pattern in patterns if may_match(text) else ():
            taken: list[tuple[int, int]] = []
            for found in pattern.finditer(text):
                stated = [tuple(filter(_is_possible, own)) for own in _readings(found, names, language)]
                if not stated or not all(stated):
                    continue
                for readings in stated:
                    small = all(not q.low and not q.day for q in readings)
                    yield Mention(*found.span(), readings, "small" if small else "digits")
                taken.append(found.span())
            text = blanked(text, taken)


def blanked(text: str, spans: Iterable[tuple[int, int]], blank: str = "\0") -> str:
    """Replace spans, sorted by their starts, by a character; NUL is part of no quantity. The length is kept."""
    kept, done = [], 0
    for start, end in spans:
        if end > done:
            kept += [text[done:start], blank * (end - max(start, done))]
            done = end
    return "".join([*kept, text[done:]])


@functools.cache
def month_names(language: str) -> dict[str, int]:
    """Full and abbreviated month names (without full stop), in all capitalisations used: name → 1–12.

    Names of a region, such as setiembre in Peru and Jänner in Austria, count too.
    """
    names = _of_regions(language) | _of_locale("en") | _of_locale(language)
    for code in {"en", language} & set(_MORE_NAMES):
        names |= _MORE_NAMES[code]
    small = {name.lower(): n for name, n in _of_locale(language).items()} if language in _LOWER_CASE else {}
    capital = {name[:1].upper() + name[1:]: n for name, n in names.items()}
    return names | small | capital | {name.upper(): n for name, n in names.items()}


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
    from babel.localedata import locale_identifiers

    codes = (code for code in locale_identifiers() if code.startswith(f"{language}_") and code.count("_") == 1)
    return {name: n for code in codes for name, n in _of_locale(code, "wide").items()} if language != "en" else {}


@functools.cache
def _patterns(language: str) -> tuple[tuple[_MayMatch, tuple[re.Pattern[str], ...]], ...]:
    """What finds dates, in groups by what a text with such dates has."""
    names = month_names(language)
    long = {name.casefold() for code in ("en", language) for name in _of_locale(code, "wide")}
    month = rf"(?<![^\W\d_])(?P<month>{_either(names)})(?![^\W\d_])\.?"
    whole = _either(name for name in names if name.casefold() in long)
    shortest = [name for name in names if not any(other != name and other in name for other in names)]
    named = (
        rf"(?<![\d.,])(?:(?P<other>\d{{1,2}}){_ENDING}{_TO})?(?<!\d)(?P<day>\d{{1,2}}){_ENDING}(?:\s{{0,2}}|-){_OF}"
        rf"{month}{_DAY_BEHIND}(?:(?:,?\s{{1,2}}|-){_OF}{_YEAR})?",
        rf"{month}{_IN_FRONT}(?P<day>\d{{1,2}}){_ENGLISH}(?!\d)(?:{_TO}(?P<other>\d{{1,2}}){_ENGLISH}(?!\d))?"
        rf"(?:,?\s{{1,2}}{_OF}{_YEAR})?",
        rf"{month},?\s{{1,2}}{_OF}{_YEAR}",
        rf"{_YEAR}\s{{1,2}}{month}",
        rf"(?<![^\W\d_])(?P<month>{whole})(?![^\W\d_])",
    )
    return (
        (_IN_DIGITS.search, (_ISO, _DAY_FIRST)),
        (lambda text: "月" in text or "월" in text, (_CJK,)),
        (lambda text: any(name in text for name in shortest), tuple(map(re.compile, named))),
    )


def _either(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


def _readings(found: re.Match[str], names: Mapping[str, int], language: str) -> list[list[Quantity]]:
    """The dates of a match, each in its readings: two in English for 3/8/2022, which may be in March or in August."""
    part = found.groupdict()
    year, month = int(part.get("year") or 0), names.get(part["month"]) or int(part["month"])
    days = [int(day) for day in (part.get("day"), part.get("other")) if day]
    if found.re is not _DAY_FIRST:
        return [[day_of(year, month, day)] for day in days or [0]]
    if len(found["year"]) == 2:
        return []
    either = language in {"", "en"} and found["sign"] != "."
    return [[day_of(year, month, days[0]), *([day_of(year, days[0], month)] if either else [])]]


def _is_possible(quantity: Quantity) -> bool:
    if not 1 <= quantity.month <= 12 or quantity.low > 9999:
        return False
    return quantity.day <= monthrange(int(quantity.low) or 2000, quantity.month)[1]
