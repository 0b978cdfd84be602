"""Comparison of numbers in digits and dates by value. Signs, magnitudes, months and eras come from babel."""

import functools
import re
from bisect import bisect_left
from calendar import monthrange
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from decimal import Decimal
from itertools import chain, repeat
from math import prod
from typing import Any, NamedTuple

from storm_pipeline.text.markers import without_markers

_DAY_BEFORE = re.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|er|º|\.)?(?:\s\w{2}\s|[\s-]|)$")  # 3rd of August, 3 de agosto
_DAY_BEHIND = re.compile(r"\.?\s{0,2}(?:the\s)?(\d{1,2})(?:st|nd|rd|th)?(?!\d)")
_YEAR = re.compile(r"\.?(?:\s?[-–—]\s?\d{1,2}(?!\d))?,?[\s-]{0,2}(?:(?:of|del?|do|di)\s)?(\d{4})(?!\d)")
_IN_DIGITS = re.compile(r"(?<!\d)(?:(\d{4})[-/.年](\d\d?)[-/.月](\d\d?)日?|(\d\d?)([-/.])(\d\d?)\5(\d{4}))(?!\d)")
_IN_NAME = re.compile(r"[A-Za-z]$|[A-Z]-$")  # before digits: H5N1, COVID-19
_ROMAN = ["", *"I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI".split()]
_NTH = re.compile(rf"(?<![A-Za-z\d])(\d\d?|{'|'.join(sorted(_ROMAN[1:], reverse=True))})(?![A-Z\d])[a-zß-ÿа-я]{{0,3}}")
_Mention = tuple[int, int, "_Quantity"]  # start, end


class _Quantity(NamedTuple):
    """A number; a decade or century, from its first year; or a date, whose year and day may be 0. BC is negative."""

    low: Decimal
    years: int = 1
    month: int = 0
    day: int = 0


def missing(
    sentence: str, sources: Iterable[str], *, language: str = "en", source_languages: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return the distinct numbers in digits and dates of a sentence that no source states, as spelt, in order.

    Values must be equal. A year in a decade or century supports it. Number words, digits within names, months alone
    and citation markers are ignored. Takes linear time; never raises.

    Args:
        sources: texts that may support it.
        language: ISO 639-1 code, by which "1.234" is read; ``source_languages`` in the same order as the sources.
    """
    texts = zip(sources, chain(source_languages, repeat(language)), strict=False)
    stated = Stated(texts if _claims(sentence, language) else ())
    return stated.missing(sentence, language, stated.positions)


@functools.cache
def month_names(language: str) -> dict[str, int]:
    """Return full and short names of months in a language and English, as texts capitalise them: name → 1–12."""
    forms = (form for code in ("en", "en_GB", language) for form in _locale(code).months.values())
    tables = [form[width] for form in forms for width in ("wide", "abbreviated") if width in form]
    names = {name.strip(" ."): n for table in tables for n, name in table.items()}
    return names | {cased: n for name, n in names.items() for cased in (name[:1].upper() + name[1:], name.upper())}


@functools.lru_cache(maxsize=4096)
def _claims(text: str, language: str) -> tuple[_Mention, ...]:
    mentions, taken = list[_Mention](), set[int]()
    for start, end, value in _mentions(text, language):
        is_part, is_name = not taken.isdisjoint(range(start, end)), _IN_NAME.search(text, max(0, start - 2), start)
        taken.update(range(start, end))
        if (
            not is_part
            and not is_name
            and value != _Quantity(Decimal(1))
            and (value.low or value.day or not value.month)
        ):
            mentions.append((start, end, value))
    return tuple(sorted(mentions))


@functools.lru_cache(maxsize=4096)
def _find(text: str, language: str) -> frozenset[_Quantity]:
    return frozenset(quantity for _, _, quantity in _mentions(text, language))


class Stated:
    """The quantities that texts, each with its ISO 639-1 code, state, and the positions of the texts."""

    def __init__(self, texts: Iterable[tuple[str, str]]) -> None:
        sets = [_find(*text) for text in texts]
        self.positions = frozenset(range(len(sets)))
        self._holders = defaultdict[Any, set[int]](set)
        for position, q in ((position, q) for position, stated in enumerate(sets) for q in stated):
            dated = ((low, q.month, day) for low in (q.low, None) for day in (q.day, 0))  # low 0: without a year
            for key in dated if q.month else (q,):
                self._holders[key].add(position)
        self._plain = sorted({q for stated in sets for q in stated if not q.month})
        self._stating = functools.cache(self._positions_of)

    def missing(self, sentence: str, language: str, among: Set[int]) -> tuple[str, ...]:
        """Return the quantities of a sentence that no text at the positions ``among`` states, as :func:`missing`."""
        return tuple(dict.fromkeys(sentence[start:end] for start, end, _ in self._lacking(sentence, language, among)))

    def completing(self, sentence: str, language: str, among: Set[int]) -> frozenset[int]:
        """Return the positions of the texts that state all that is missing in those at the positions ``among``."""
        return self.positions.intersection(*(self._stating(q) for *_, q in self._lacking(sentence, language, among)))

    def _lacking(self, sentence: str, language: str, among: Set[int]) -> list[_Mention]:
        return [mention for mention in _claims(sentence, language) if self._stating(mention[2]).isdisjoint(among)]

    def _positions_of(self, claimed: _Quantity) -> set[int]:
        """Return which texts state the value, a year of the period, or the date, possibly with a separate year."""
        low, years, month, day = claimed
        if month:
            in_parts = self._holders.get(_Quantity(low), set()) & self._holders.get((0, month, day), set())
            return in_parts.union(self._holders.get((low or None, month, day), ()))
        if years == 1:
            return self._holders.get(claimed, set())
        first, end = (bisect_left(self._plain, _Quantity(year)) for year in (low, low + years))
        within = (q for q in self._plain[first:end] if q.low + q.years <= low + years)
        return set[int]().union(*(self._holders[q] for q in within))


def _mentions(text: str, language: str) -> Iterator[_Mention]:
    """Return an iterator over a text's dates, periods and numbers, including numbers within dates and periods."""
    plain = without_markers(text, "\0").translate(str.maketrans("，．／٫٬", ",./.,"))
    return chain(_dates(plain, language), _periods(plain, language), _numbers(plain, language))


def _dates(text: str, language: str) -> Iterator[_Mention]:
    days = list[tuple[tuple[int, int], str, str, str]]()  # span, year, month, day
    for match in _IN_DIGITS.finditer(text):
        year, first, second = match.group(1, 2, 3) if match[1] else match.group(7, 6, 4)
        days.append((match.span(), year, first, second))
        if match[5] in ("/", "-") and language in ("", "en"):  # 3/8/2022
            days.append((match.span(), year, second, first))
    for month in re.finditer(r"[^\W\d_]+", text):
        if number := month_names(language).get(month[0]):
            before = _DAY_BEFORE.search(text, max(0, month.start() - 9), month.start())
            behind = _DAY_BEHIND.match(text, month.end())
            dated = _YEAR.match(text, (behind or month).end())
            span = (before or month).start(), (dated or behind or month).end()
            for day in [match[1] for match in (before, behind) if match] or ["0"]:
                days.append((span, dated[1] if dated else "0", str(number), day))
    for extent, year, n, of_month in days:
        if 1 <= int(n) <= 12 and int(of_month) <= monthrange(int(year) or 2000, int(n))[1]:
            yield *extent, _Quantity(Decimal(year), 1, int(n), int(of_month))


def _periods(text: str, language: str) -> Iterator[_Mention]:
    for match in re.finditer(r"(?<!\d)(\d\d)?(\d0)(?:(?:['’]?s|er)(?![^\W\d_])|年代)", text):  # 1990s
        yield *match.span(), _Quantity(Decimal((match[1] or "19") + match[2]), 10)
    for match in re.finditer(r"(?<!\d)(\d\d)(\d\d)[-–/](\d\d)(?![-/\d])", text):  # 1914–18
        yield *match.span(3), _Quantity(Decimal(match[1] + match[3]))
    for match in _patterns(language)[1].finditer(text):
        for ordinal in _NTH.finditer(text, *match.span()):
            n = _ROMAN.index(ordinal[1]) if ordinal[1] in _ROMAN else int(ordinal[1])
            yield *ordinal.span(), _Quantity(Decimal(-100 * n if match["era"] else 100 * n - 100), 100)


def _numbers(text: str, language: str) -> Iterator[_Mention]:
    number, _, scales, decimal = _patterns(language)
    for match in number.finditer(text):
        total, sign = Decimal(0), -1 if match["era"] or text.endswith(("紀元前", "公元前"), 0, match.start()) else 1
        for digits, names in re.findall(r"([\d.,'’\s]*\d)(\D*)", match["own"]):  # two or more: 1億2000万
            whole, _, part = digits.partition(decimal)
            value = Decimal(f"{''.join(filter(str.isdecimal, whole))}.{part or 0}")
            total += value * prod(scales.get(name, 1) for name in names.casefold().replace("-", " ").split())
        yield *match.span(), _Quantity(sign * total)
        if names.casefold() == "m":  # 5m, of metres
            yield *match.span(), _Quantity(value)


@functools.cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str], dict[str, int], str]:
    """Return regexes of numbers and centuries in texts of a language, its magnitudes, and its decimal sign."""
    from babel.units import format_unit

    both = _locale("en"), _locale(language)
    widths = (width for locale in both for width in locale.compact_decimal_formats.values())
    forms = (form for width in widths for table in width.values() for form in table.items())
    named = ((size, re.fullmatch(r"(0+)\s?'?([^\W\d]+)'?\.?'?", form.pattern)) for size, form in forms)  # 0 Mio'.'
    scales = {"bn": 10**9} | {m[2].casefold(): int(size) // 10 ** (len(m[1]) - 1) for size, m in named if m}
    scale = "|".join(name if re.fullmatch("[a-z]", name) else rf"[\s-]?{re.escape(name)}" for name in scales)
    eras = ["BCE", "B.C", "B.C.E", *(names[0] for lo in both for names in lo.eras.values() if len(names[0]) > 1)]
    era = "|".join(sorted((r"[.\s-]{0,3}".join(re.findall(r"\w+", name)) for name in eras), reverse=True))
    centuries = {format_unit(n, "duration-century", "long", locale=locale)[2:] for locale in both for n in (1, 2, 5)}
    century = rf"(?i:{'|'.join(sorted({*centuries, '世紀', '世纪', '세기'}, reverse=True))})[a-zß-ÿа-я]{{0,2}}"
    decimal = "," if both[1].number_symbols["latn"]["decimal"] == "," else "."
    group = f"['’\u2009\u202f\xa0{'. ' if decimal == ',' else ','}]"
    whole = rf"(?<!\d)(?:\d{{1,3}}(?:{group}\d{{2,3}}){{0,9}}{group}\d{{3}}(?!\d)|\d{{1,40}})"
    scaled = rf"{whole}(?:[{decimal}]\d{{1,40}})?(?i:(?:{scale})(?![A-Za-zÀ-ɏА-я]|\.\w)){{0,3}}"
    number = rf"(?P<own>{scaled}(?:(?<=[\u4e00-\u9fff]){scaled})*)"
    nth, behind = _NTH.pattern, rf"(?:\s?(?P<era>{era})(?!\w))?"
    also = rf"(?:{nth}[.º]?(?:\s?[-–—]\s?|\s\w{{1,3}}\s(?:the\s)?))?"
    ordinal = rf"(?:{also}{nth}[.º]?[\s-]?{century}|{century}\s{nth})"
    return re.compile(number + behind), re.compile(ordinal + behind), scales, decimal


def _locale(language: str) -> Any:
    from babel import Locale, localedata

    return Locale.parse(language if localedata.exists(language) else "en")
