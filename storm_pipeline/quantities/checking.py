"""Quantities of a sentence that its sources do not state, compared by value; damaged sources are repaired first."""

import functools
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from itertools import product

from storm_pipeline.languages import detect, stem_set
from storm_pipeline.quantities.literals import plain_digits
from storm_pipeline.quantities.mentions import mentions
from storm_pipeline.quantities.months import blanked, month_names
from storm_pipeline.quantities.relative import relative_dates, with_year
from storm_pipeline.quantities.values import Mention, Quantity, day_of

_LETTER = "[A-Za-zÀ-ÖØ-öø-ɏА-яЁё]"
_AFTER_A_WORD = re.compile(rf"\d(?<={_LETTER}\d)(?=\d?\s?{_LETTER}|\d{{3}}\b)")
_BEFORE_A_WORD = re.compile(rf"\d(?={_LETTER}{{3,}})")
"""A digit glued to a word. Patterns that start with a character class are fast: few characters are tried."""
_MIN_CHARS = 60  # shorter texts may lack punctuation anyway
_CHARACTERS_A_MARK = 400  # a text with fewer punctuation marks than one per so many characters has lost them
_PUNCTUATION = re.compile(r"[.,;:!?](?=\s|$)|[%。、，؛।]")
_SPLIT = re.compile(rf"(?<!{_LETTER})({_LETTER}{{2,}})[-\u00ad] ({_LETTER}{{2,}})")
"""A word that was divided at the end of a line; tried once a word, so that long words take linear time."""
_CLOCK = re.compile(r"(?<![\d.,:])(1[0-2]|[1-9])([0-5]\d)(?=\s?[ap]\.?m\b)", re.I)  # 535 PM
_DURATION = re.compile(r"\d:\d\d(?=\d{1,2}[A-Z])")  # 2:384Girl's Girl, of a list of tracks
_SCORE = re.compile(r"(?<![\d/.,])(\d+(?:\.\d+)?)(?: ?/ ?| out of )(5|10|20|100)(?![\d/]|[.,]\d)")
_SPLIT_YEAR = re.compile(r"(?<=\d/(?:19|20)\d) (?=\d(?!\d))")  # 9/1/202 5
_MILLIONS = re.compile(
    r"\((?:in\s)?\W{0,3}\s?(?:millions?|mio\.?|mln)\)|\b(?:in|\$) millions\b(?! of)", re.I
)  # at the head of a table
_ORDINAL = re.compile(r"(?<=\d) (?=(?:st|nd|rd|th|er)\b)")
_ISO = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?!\d)")
_MAX_YEAR = 2199  # integers above are not years
_MIN_YEAR = 1000  # integers below, without an era, are not taken for years
_CONVERTED = re.compile(r"\([\d.,]+ [^\W\d]+\)")
_STEM, _EXACT = 4, 1000  # letters by which forms of one noun are matched; least whole number of a table in millions
_HYPHENS = ("-", "‑", "‐")
_YEAR = re.compile(r"(?:1\d{3}|20\d{2})(?!\d)")
_BARE_YEAR = re.compile(r"(?:19|20)\d\d")
"""What makes a bare number of four digits a year."""


def repaired(text: str, language: str) -> str:
    """The text with months beside a number capitalised, divided months joined, and a space between word and number.

    ``535 PM`` becomes ``5 35 PM``, ``12 september 2022`` ``12 September 2022``, ``Janu- ary 1`` ``January 1``, and
    ``august2022`` ``August 2022``. Lengths may change. ``language``: ISO 639-1 code; English month names are always
    known.
    """
    apart = _AFTER_A_WORD.sub(r" \g<0>", _DURATION.sub(r"\g<0> ", text))
    apart = _SPLIT_YEAR.sub("", apart)
    apart = _SCORE.sub(r"\1/\2 \1 \2", apart)
    apart = _ORDINAL.sub("", _BEFORE_A_WORD.sub(r"\g<0> ", apart))
    apart = _CLOCK.sub(r"\1 \2", apart) if language == "en" else apart  # 1145 am Hafen
    names, pattern = _months(language)
    apart = _SPLIT.sub(lambda found: whole if (whole := found[1] + found[2]).lower() in names else found[0], apart)
    if not any(name in apart for name in names):
        return apart
    return pattern.sub(lambda found: found[0].capitalize(), apart)


def is_degraded(text: str) -> bool:
    """Whether a text has almost no punctuation, so that percent signs and decimal points are missing too."""
    return len(text) >= _MIN_CHARS and len(_PUNCTUATION.findall(text)) < len(text) / _CHARACTERS_A_MARK


@functools.cache
def _months(language: str) -> tuple[frozenset[str], re.Pattern[str]]:
    """Months in lower case, and the pattern that finds them beside a number."""
    cased = {month.lower() for month in month_names(language)}
    names = "|".join(sorted(map(re.escape, cased), key=len, reverse=True))
    pattern = re.compile(rf"(?<=\d )(?:{names})\b|(?<=\d\. )(?:{names})\b|\b(?:{names})(?=\.? \d)")
    return frozenset(cased), pattern


def quantities(text: str, language: str = "en") -> frozenset[Quantity]:
    """The numbers, ordinals, percentages and dates of a text by value.

    Ambiguous quantities are returned in every reading (``3/8/2022``; ``half``: 50 % and 1/2). Signs and units are
    ignored; a range gives both its ends. Never raises; linear in the text's length.

    Args:
        text: any text; citation markers such as ``[1]`` are ignored.
        language: ISO 639-1 code, which determines number words and the decimal sign; "" if unknown.
    """
    return frozenset(replace(q, text=text[own.start : own.end]) for own in _read(text, language) for q in own.readings)


def missing(
    sentence: str,
    sources: Iterable[str],
    *,
    dates: Iterable[date | str] = (),
    language: str = "en",
    source_languages: Iterable[str] = (),
    dated_by: Iterable[str] = (),
) -> tuple[str, ...]:
    """The quantities of a sentence that no source states, compared by value: as spelt, in order, without duplicates.

    Number words up to twelve, ordinals up to twelfth, a bare "half" and a month alone are often not figures: of these
    only a number is checked, and only if a source counts the same noun ("three children" against "two children"), but
    none that is a part of a word ("four-year"). A year, decade or century is supported by any date in it.

    Args:
        sources: texts that may support it, and the topic if it counts as support.
        dates: publication date of each source, in the same order: a date, or an ISO date, month or year; "" if unknown.
            "Last month" and "in February" are resolved by it.
        source_languages: ISO 639-1 codes of the sources, in the same order; default: the sentence's.
        dated_by: other texts of the same pages, whose dates support the sentence too, but no other quantities.
    """
    claimed = _read(sentence, language)
    if not claimed:
        return ()
    texts = list(sources)
    published = [*map(str, dates), *[""] * len(texts)]
    languages = [*source_languages, *[language] * len(texts)]
    stated = [_stated(*source) for source in zip(texts, languages, published, strict=False)]
    checked = [m for m in claimed if _is_checked(m, sentence, stated)]
    stated += [_dates_alone(_stated(text, detect(text), "")) for text in (dated_by if checked else ())]
    beside = {"century" if one.high - one.low == 99 else one.kind for m in claimed for one in m.readings}
    checked = [replace(m, readings=(*m.readings, *_elided(m, beside))) for m in checked]
    unsupported = (m for m in checked if not any(_supports(s, q) for s in stated for q in m.readings))
    return tuple(dict.fromkeys(sentence[m.start : m.end] for m in unsupported))


def _elided(mention: Mention, beside: Container[str]) -> Iterator[Quantity]:
    """What a mention may be beside others whose sign or noun it goes without: "95 per cent, and 90", "18th century"."""
    for one in mention.readings:
        if one.kind == "number" and not _counts(mention) and "percent" in beside:
            yield replace(one, kind="percent")
        if one.kind == "ordinal" and "century" in beside:
            yield replace(one, kind="date", low=one.low * 100 - 100, high=one.low * 100 - 1)


@dataclass(frozen=True)
class _Stated:
    """The values that a source states, and its years, alone or in dates."""

    numbers: tuple[Fraction, ...]
    percentages: tuple[Fraction, ...]
    dates: frozenset[Quantity]
    years: frozenset[int]
    counted: frozenset[str]


@functools.lru_cache(maxsize=4096)
def full_dates(text: str, language: str = "en") -> tuple[str, ...]:
    """The dates of a text that have day, month and year, in ISO format; in order, without duplicates."""
    read = (mention.readings[0] for mention in _read(repaired(text, language), language))
    days = (one for one in read if one.kind == "date" and one.day and one.low)
    return tuple(dict.fromkeys(f"{int(one.low):04d}-{one.month:02d}-{one.day:02d}" for one in days))


def without_quantities(text: str, language: str = "en") -> str:
    """A text with its numbers and dates blanked."""
    return blanked(text, ((mention.start, mention.end) for mention in _read(text, language)), " ")


def differing(one: str, other: str, language: str = "en") -> tuple[str, str] | None:
    """Two numbers that count the same and differ, each as its text spells it with what it counts; else None.

    None too where one text has the number of the other as well, where their dates or years tell that they speak of
    different times, or where most of their other figures are not in both. Rounded numbers differ where they
    cannot mean the same.
    """
    first, second = _read(one, language), _read(other, language)
    days = zip(_days(one, first), _days(other, second), strict=True)
    if any(some and others and some.isdisjoint(others) for some, others in days):
        return None
    for mine, theirs in product(filter(_counts_exactly, first), filter(_counts_exactly, second)):
        alike = mine.counted[:_STEM] == theirs.counted[:_STEM] and mine.readings[0].kind == theirs.readings[0].kind
        if not (alike and stem_set(mine.counted, language)) or _has(second, mine) or _has(first, theirs):
            continue
        if _figures_agree((one, mine), (other, theirs), language):
            return _spelt(one, mine), _spelt(other, theirs)
    return None


def _figures_agree(one: tuple[str, Mention], other: tuple[str, Mention], language: str) -> bool:
    """Whether more than half of the figures of two texts beside a mention are in both, or one has none."""
    mine, theirs = _figures(*one, language), _figures(*other, language)
    return not mine or not theirs or 2 * len(mine & theirs) > min(len(mine), len(theirs))


def _figures(text: str, but: Mention, language: str) -> set[Fraction]:
    """The other unambiguous numbers of a text, without 1, years and conversions in brackets."""
    converted = [found.span() for found in _CONVERTED.finditer(text)]
    others = (own for own in _read(text, language) if own != but and len(own.readings) == 1)
    told = (own for own in others if not any(start < own.start < end for start, end in converted))
    bare = (own.readings[0] for own in told if not _YEAR.match(text, own.start, own.end))
    return {own.low for own in bare if own.kind != "date"} - {Fraction(1)}


def differing_dates(one: str, other: str, language: str = "en") -> tuple[str, str] | None:
    """The only dates of two texts, or their only years, as each spells them, where they differ; else None.

    None too where one of them is a part of the other, a year against a day in it, or a decade or century, or where most
    of their other figures are not in both.
    """
    first, second = _dates(one, language), _dates(other, language)
    if len(first) != 1 or len(second) != 1 or not _figures_agree((one, first[0]), (other, second[0]), language):
        return None
    mine, theirs = first[0].readings[0], second[0].readings[0]
    alike = bool(mine.month) == bool(theirs.month) and bool(mine.day) == bool(theirs.day)
    is_span = mine.low != mine.high or theirs.low != theirs.high
    if not alike or is_span or (mine.low, mine.month, mine.day) == (theirs.low, theirs.month, theirs.day):
        return None
    return one[first[0].start : first[0].end], other[second[0].start : second[0].end]


def _dates(text: str, language: str) -> list[Mention]:
    found = _read(text, language)
    return [own for own in found if own.readings[0].kind == "date" or _YEAR.match(text, own.start, own.end)]


@functools.lru_cache(maxsize=4096)
def _read(text: str, language: str) -> tuple[Mention, ...]:
    """The quantities of a text, which is compared with many others and read by several dates."""
    return tuple(mentions(text, language))


@functools.lru_cache(maxsize=4096)
def _stated(text: str, language: str, published: str) -> _Stated:
    degraded = is_degraded(text)
    text = repaired(text, language)
    found = _read(text, language)
    resolved: list[Mention] = []
    if publication := _date_of(published):
        yearless = [m for m in found if all(q.kind == "date" and not q.low for q in m.readings)]
        resolved += [with_year(m, publication, text) for m in yearless]
        resolved += relative_dates(plain_digits(text), language or "en", publication)
    readings = frozenset(q for mention in found for q in mention.readings)
    counts = [q for q in readings if q.kind in {"number", "ordinal"}]
    dated = frozenset(q for q in readings if q.kind == "date")
    likely = dated | {m.readings[0] for m in resolved}
    exact = [q.low for q in counts if q.low.denominator > 1 or q.low >= _EXACT] if _MILLIONS.search(text) else []
    years = {int(year) for q in likely for year in (q.low, q.high) if year}
    whole = {int(q.low) for q in counts if q.low.denominator == 1 and 0 < q.low <= _MAX_YEAR}
    return _Stated(
        numbers=tuple({q.low for q in counts} | {Fraction(year) for year in years} | {low * 10**6 for low in exact}),
        percentages=tuple({q.low for q in readings if q.kind == "percent" or (degraded and q.kind == "number")}),
        dates=dated.union(*(m.readings for m in resolved)),
        years=frozenset(years | whole),
        counted=frozenset(m.counted[:_STEM] for m in found if _counts(m)),
    )


def _dates_alone(stated: _Stated) -> _Stated:
    """What a source states of dates and years alone."""
    years = frozenset(year for year in stated.years if _MIN_YEAR <= year <= _MAX_YEAR)
    return _Stated(tuple(map(Fraction, years)), (), stated.dates, years, frozenset())


def _counts(mention: Mention, kinds: Container[str] = ("number",)) -> bool:
    """Whether it is a number followed by the noun that it counts."""
    return mention.readings[0].kind in kinds and len(mention.counted) >= _STEM and mention.counted.isalpha()


def _is_checked(mention: Mention, sentence: str, stated: Sequence[_Stated]) -> bool:
    if mention.written != "small":
        return True
    if sentence[mention.end : mention.end + 1] in _HYPHENS:
        return False
    more_than_one = mention.readings[0].low > 1
    return more_than_one and _counts(mention) and any(mention.counted[:_STEM] in source.counted for source in stated)


def _supports(source: _Stated, claimed: Quantity) -> bool:
    if claimed.kind != "date":
        values = source.percentages if claimed.kind == "percent" else source.numbers
        return any(claimed.least <= value <= claimed.most for value in values)
    if claimed.month:
        return any(_is_same_day(claimed, stated, source.years) for stated in source.dates)
    if claimed.low == claimed.high:
        return int(claimed.low) in source.years
    spans = (
        stated.low <= claimed.low and claimed.high <= stated.high
        for stated in source.dates
        if stated.low != stated.high
    )
    inside = (claimed.low <= year <= claimed.high for year in source.years if year < 0 or year >= _MIN_YEAR)
    return any(spans) or any(inside)


def _is_same_day(claimed: Quantity, stated: Quantity, years: frozenset[int]) -> bool:
    """Whether a source's date matches the claimed one; the year may be stated elsewhere in the source."""
    if stated.month != claimed.month or (claimed.day and stated.day != claimed.day):
        return False
    return not claimed.low or stated.low == claimed.low or (not stated.low and int(claimed.low) in years)


def _date_of(published: str) -> Quantity | None:
    """Parse an ISO date, month or year; None if it is malformed."""
    found = _ISO.match(published.strip())
    if not found or int(found[1]) < _MIN_YEAR:
        return None
    year, month, day = (int(part or 0) for part in found.groups())
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return None
    return day_of(year, month, day)


def _counts_exactly(mention: Mention) -> bool:
    return _counts(mention, ("number", "ordinal")) and len(mention.readings) == 1


def _has(mentioned: Sequence[Mention], wanted: Mention) -> bool:
    """Whether a text states a number, rounded or not."""
    own = wanted.readings[0]
    numbers = [one for mention in mentioned for one in mention.readings if one.kind == own.kind]
    if own.slack[0] < own.slack[1] and any(one.slack[0] < one.slack[1] for one in numbers):
        return True  # "more than 100" is no other number than "more than 200"
    return any(one.least <= own.most and own.least <= one.most for one in numbers)


def _days(text: str, mentioned: Sequence[Mention]) -> tuple[set[Fraction], set[Fraction], set[Fraction]]:
    """The years, months and days that a text names."""
    dates = [one for mention in mentioned for one in mention.readings if one.kind == "date"]
    bare = {own.readings[0].low for own in mentioned if _BARE_YEAR.fullmatch(text[own.start : own.end])}
    return (
        {one.low for one in dates if _MIN_YEAR <= one.low <= _MAX_YEAR} | bare,
        {Fraction(one.month) for one in dates if one.month},
        {Fraction(one.day) for one in dates if one.day},
    )


def _spelt(text: str, mention: Mention) -> str:
    return f"{text[mention.start : mention.end]} {mention.counted}"
