"""Quantities of a sentence that its sources do not state, compared by value."""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import chain

from storm_pipeline.languages import detect
from storm_pipeline.quantities.degraded import is_degraded, repaired
from storm_pipeline.quantities.literals import plain_digits
from storm_pipeline.quantities.mentions import mentions
from storm_pipeline.quantities.relative import relative_dates, with_year, years_from_stated
from storm_pipeline.quantities.values import Mention, Quantity, day_of, spelt

_ISO = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?!\d)")
_MAX_YEAR = 2199  # integers above are not years
_MIN_YEAR = 1000  # integers below, without an era, are not taken for years
_STEM = 4  # length of the prefix by which forms of one noun are matched

_HYPHENS = ("-", "‑", "‐")
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_BEFORE_A_YEAR = re.compile(r"(?:\b(?:in|since|until|during|from|between|after|before|circa|c\.) |\()$", re.I)
"""What makes a bare number of four digits a year."""


def quantities(text: str, language: str = "en") -> frozenset[Quantity]:
    """The numbers, ordinals, percentages and dates of a text by value.

    Ambiguous quantities are returned in every reading (``3/8/2022``; ``half``: 50 % and 1/2). Signs and units are
    ignored; a range gives both its ends. Never raises; linear in the text's length.

    Args:
        text: any text; citation markers such as ``[1]`` are ignored.
        language: ISO 639-1 code, which determines number words and the decimal sign; "" if unknown.
    """
    return frozenset(chain.from_iterable(spelt(mention, text) for mention in mentions(text, language)))


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
        sentence: the sentence to check.
        sources: texts that may support it, and the topic if it counts as support.
        dates: publication date of each source, in the same order: a date, or an ISO date, month or year; "" if
            unknown. "Last month" and "in February" are resolved by it.
        language: ISO 639-1 code of the sentence.
        source_languages: ISO 639-1 codes of the sources, in the same order; default: the sentence's.
        dated_by: other texts of the same pages, whose dates support the sentence too, but no other quantities.
    """
    claimed = _read(sentence, language)
    if not claimed:
        return ()
    texts = list(sources)
    published = [*(_iso(day) for day in dates), *[""] * len(texts)]
    languages = [*source_languages, *[language] * len(texts)]
    stated = [_stated(*source) for source in zip(texts, languages, published, strict=False)]
    checked = [m for m in claimed if _is_checked(m, sentence, stated)]
    stated += [_dates_alone(_stated(text, detect(text), "")) for text in (dated_by if checked else ())]
    unsupported = (m for m in checked if not any(_supports(s, q) for s in stated for q in m.readings))
    return tuple(dict.fromkeys(sentence[m.start : m.end] for m in unsupported))


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
    kept = text
    for mention in _read(text, language):
        kept = kept[: mention.start] + " " * (mention.end - mention.start) + kept[mention.end :]
    return kept


def first_year(text: str, language: str = "en") -> int | None:
    """The first year in a text: in a date, after a word such as "in", or of a decade or century; negative for BC."""
    for mention in _read(text, language):
        one = mention.readings[0]
        bare = one.kind == "number" and _YEAR.fullmatch(text[mention.start : mention.end])
        if (one.kind == "date" and one.low) or (bare and _BEFORE_A_YEAR.search(text[: mention.start])):
            return int(one.low)
    return None


@functools.lru_cache(maxsize=4096)
def _read(text: str, language: str) -> tuple[Mention, ...]:
    """The quantities of a text, which is compared with many others and read by several dates."""
    return tuple(mentions(text, language))


@functools.lru_cache(maxsize=4096)
def _stated(text: str, language: str, published: str) -> _Stated:
    degraded = is_degraded(text)
    text = repaired(text, language)
    found = _read(text, language)
    resolved = list(years_from_stated(plain_digits(text), language or "en", found))
    if publication := _date_of(published):
        yearless = [m for m in found if all(q.kind == "date" and not q.low for q in m.readings)]
        resolved += [with_year(m, publication, text) for m in yearless]
        resolved += relative_dates(plain_digits(text), language or "en", publication)
    readings = frozenset(q for mention in found for q in mention.readings)
    counts = [q for q in readings if q.kind in {"number", "ordinal"}]
    dated = frozenset(q for q in readings if q.kind == "date")
    likely = dated | {m.readings[0] for m in resolved}
    years = {int(year) for q in likely for year in (q.low, q.high) if year}
    whole = {int(q.low) for q in counts if q.low.denominator == 1 and 0 < q.low <= _MAX_YEAR}
    return _Stated(
        numbers=tuple({q.low for q in counts} | {Fraction(year) for year in years}),
        percentages=tuple({q.low for q in readings if q.kind == "percent" or (degraded and q.kind == "number")}),
        dates=dated.union(*(m.readings for m in resolved)),
        years=frozenset(years | whole),
        counted=frozenset(m.counted[:_STEM] for m in found if _counts(m)),
    )


def _dates_alone(stated: _Stated) -> _Stated:
    """What a source states of dates and years alone."""
    years = frozenset(year for year in stated.years if _MIN_YEAR <= year <= _MAX_YEAR)
    return _Stated(tuple(map(Fraction, years)), (), stated.dates, years, frozenset())


def _counts(mention: Mention) -> bool:
    """Whether it is a number followed by the noun that it counts."""
    return mention.readings[0].kind == "number" and len(mention.counted) >= _STEM and mention.counted.isalpha()


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
        return any(claimed.low - claimed.slack[0] <= value <= claimed.high + claimed.slack[1] for value in values)
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


def _iso(day: date | str) -> str:
    return day if isinstance(day, str) else day.isoformat()[:10]


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
