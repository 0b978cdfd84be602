"""Which quantities of a sentence its sources do not state."""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from itertools import chain

from storm_pipeline.quantities.literals import plain_digits
from storm_pipeline.quantities.reading import mentions
from storm_pipeline.quantities.relative import relative_dates, with_year
from storm_pipeline.quantities.values import Mention, Quantity, day_of, spelt
from storm_pipeline.quantities.worn import is_worn, restored

_ISO = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?!\d)")
_LAST_YEAR = 2199
"""A whole number above it is no year."""
_FIRST_WHOLE_YEAR = 1000
"""A number below it, without an era, dates nothing to a decade or a century."""
_STEM = 4
"""Letters that two forms of one noun begin with alike."""


def quantities(text: str, language: str = "en") -> frozenset[Quantity]:
    """The numbers, ordinals, percentages and dates of a text by value.

    What can be read in several ways is given in each (``3/8/2022``; ``half``: 50 % and 1/2). Signs and units are left
    out; a range gives both its ends. Never raises; linear in the text's length.

    Args:
        text: any text; citation markers such as ``[1]`` are not numbers of it.
        language: ISO 639-1 code of its language, which decides about number words and decimal signs; "" where it is
            not known.
    """
    return frozenset(chain.from_iterable(spelt(mention, text) for mention in mentions(text, language)))


def missing(
    sentence: str,
    sources: Iterable[str],
    *,
    dates: Iterable[date | str] = (),
    language: str = "en",
    source_languages: Iterable[str] = (),
) -> tuple[str, ...]:
    """The quantities of a sentence that no source holds by value, as they are spelt, in order, each once.

    Numbers of twelve or less in words, ordinals to twelfth, a bare "half" and a month alone often count nothing: of
    these only a number is asked for, and only where a source counts the same thing otherwise ("three children" over
    "two children"). A year, a decade or a century is held by a date in it.

    Args:
        sentence: what was written.
        sources: what it has to stand in; also the topic, if that may be relied on.
        dates: when each source was published, in their order: a day, or ISO text that may be a year or a month only;
            "" where not known. "Last month" and "in February" are understood by it.
        language: ISO 639-1 code of the sentence.
        source_languages: those of the sources, in their order; the sentence's where none is given.
    """
    asked = _read(sentence, language)
    if not asked:
        return ()
    texts = list(sources)
    published = [*(_iso(day) for day in dates), *[""] * len(texts)]
    languages = [*source_languages, *[language] * len(texts)]
    held = [_stated(*told) for told in zip(texts, languages, published, strict=False)]
    lacking = (m for m in asked if _is_asked(m, held) and not any(_holds(s, q) for s in held for q in m.readings))
    return tuple(dict.fromkeys(sentence[m.start : m.end] for m in lacking))


@dataclass(frozen=True)
class _Stated:
    """What a source states: values, and the years that stand in it alone or in a date."""

    numbers: tuple[Fraction, ...]
    percentages: tuple[Fraction, ...]
    dates: frozenset[Quantity]
    years: frozenset[int]
    counted: frozenset[str]


@functools.lru_cache(maxsize=4096)
def first_day(text: str, language: str = "en") -> str:
    """The first full date of a text in ISO form, often the day a page appeared; "" if it has none."""
    for mention in sorted(mentions(restored(text, language), language), key=lambda own: own.start):
        date_read = mention.readings[0]
        if date_read.kind == "date" and date_read.day and date_read.low:
            return f"{int(date_read.low):04d}-{date_read.month:02d}-{date_read.day:02d}"
    return ""


@functools.lru_cache(maxsize=4096)
def _read(text: str, language: str) -> tuple[Mention, ...]:
    """The quantities of a text, which is compared with many others and read by several dates."""
    return tuple(mentions(text, language))


@functools.lru_cache(maxsize=4096)
def _stated(text: str, language: str, published: str) -> _Stated:
    worn = is_worn(text)
    text = restored(text, language)
    found = _read(text, language)
    resolved: list[Mention] = []
    if appeared := _date_of(published):
        yearless = [m for m in found if all(q.kind == "date" and not q.low for q in m.readings)]
        resolved += [with_year(m, appeared) for m in yearless]
        resolved += relative_dates(plain_digits(text), language or "en", appeared)
    readings = frozenset(q for mention in found for q in mention.readings)
    counts = [q for q in readings if q.kind in {"number", "ordinal"}]
    dated = frozenset(q for q in readings if q.kind == "date")
    likely = dated | {m.readings[0] for m in resolved}
    years = {int(year) for q in likely for year in (q.low, q.high) if year}
    whole = {int(q.low) for q in counts if q.low.denominator == 1 and 0 < q.low <= _LAST_YEAR}
    return _Stated(
        numbers=tuple({q.low for q in counts} | {Fraction(year) for year in years}),
        percentages=tuple({q.low for q in readings if q.kind == "percent" or (worn and q.kind == "number")}),
        dates=dated.union(*(m.readings for m in resolved)),
        years=frozenset(years | whole),
        counted=frozenset(m.counted[:_STEM] for m in found if _counts(m)),
    )


def _counts(mention: Mention) -> bool:
    """Whether it says how many there are of something that has a name."""
    return mention.readings[0].kind == "number" and len(mention.counted) >= _STEM and mention.counted.isalpha()


def _is_asked(mention: Mention, held: Sequence[_Stated]) -> bool:
    if mention.written != "small":
        return True
    more_than_one = mention.readings[0].low > 1
    return more_than_one and _counts(mention) and any(mention.counted[:_STEM] in source.counted for source in held)


def _holds(source: _Stated, asked: Quantity) -> bool:
    if asked.kind != "date":
        values = source.percentages if asked.kind == "percent" else source.numbers
        return any(asked.low - asked.slack[0] <= value <= asked.high + asked.slack[1] for value in values)
    if asked.month:
        return any(_is_same_day(asked, told, source.years) for told in source.dates)
    if asked.low == asked.high:
        return int(asked.low) in source.years
    spans = (told.low <= asked.low and asked.high <= told.high for told in source.dates if told.low != told.high)
    inside = (asked.low <= year <= asked.high for year in source.years if year < 0 or year >= _FIRST_WHOLE_YEAR)
    return any(spans) or any(inside)


def _is_same_day(asked: Quantity, told: Quantity, years: frozenset[int]) -> bool:
    """Whether a source's date has all that the one asked for has; its year may stand elsewhere in the source."""
    if told.month != asked.month or (asked.day and told.day != asked.day):
        return False
    return not asked.low or told.low == asked.low or (not told.low and int(asked.low) in years)


def _iso(day: date | str) -> str:
    return day if isinstance(day, str) else day.isoformat()[:10]


def _date_of(published: str) -> Quantity | None:
    """The date of ISO text; None for what is none."""
    found = _ISO.match(published.strip())
    if not found or int(found[1]) < _FIRST_WHOLE_YEAR:
        return None
    year, month, day = (int(part or 0) for part in found.groups())
    try:
        date(year, month or 1, day or 1)
    except ValueError:
        return None
    return day_of(year, month, day)
