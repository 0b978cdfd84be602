"""Relative dates: last month, this year, yesterday, on Tuesday, two years ago, and dates without a year."""

import functools
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction

from storm_pipeline.files import table_beside
from storm_pipeline.quantities.number_words import vocabulary
from storm_pipeline.quantities.values import Mention, Quantity, day_of

_WORDS = table_beside(__file__)
_UNIT = {word: unit for unit, words in _WORDS["units"].items() for word in words.split()}
_STEP, _DAY = (
    {word: int(step) for step, words in _WORDS[kind].items() for word in words.split()} for kind in ("steps", "days")
)
_WORD = re.compile(r"\d{1,3}|[^\W\d_]+")
_BEFORE = re.compile(r"[^\W\d_]+(?=\W*$)")
_MAX_BEFORE = 20  # characters before a date that are searched for "last"
_AGO = frozenset("ago earlier zuvor fa atrás назад temu".split())
_SINCE = frozenset("vor hace há a".split())
_MAX_COUNT = 400  # maximum number of days, weeks, months or years counted back


def relative_dates(text: str, language: str, published: Quantity) -> Iterator[Mention]:
    """Relative dates of a text, resolved by its publication date.

    Args:
        text: with ASCII digits. Supports English, German, French, Spanish, Italian, Portuguese, Polish and Russian.
        language: ISO 639-1 code, for number words ("two days ago").
        published: publication date, at least its year.
    """
    words = [(found[0].casefold(), *found.span()) for found in _WORD.finditer(text)]
    bare = ["", "", *(word for word, _, _ in words), ""]
    for i, (word, start, end) in enumerate(words):
        second, before, after = bare[i], bare[i + 1], bare[i + 3]
        readings: list[Quantity] = []
        if word in _DAY:
            readings = _days(published, _DAY[word])
        elif published.day and (weekday := weekdays(language).get(word)) is not None:
            since = (date(int(published.low), published.month, published.day).weekday() - weekday) % 7
            readings = [q for step in (-since, 7 - since, -7) for q in _days(published, step)]
        elif word in _UNIT and (after in _AGO or second in _SINCE):
            count = int(before) if before.isdecimal() else vocabulary(language).numerals.get(before, 1)
            readings = _moved(published, _UNIT[word], -min(count, _MAX_COUNT))
        elif word in _UNIT and (steps := [_STEP[near] for near in (before, after) if near in _STEP]):
            readings = _moved(published, _UNIT[word], steps[0])
        if readings:
            yield Mention(start, end, tuple(readings), "small")


@functools.cache
def weekdays(language: str) -> dict[str, int]:
    """The days of the week in full, in lower case, and their numbers from 0 for Monday."""
    from babel.core import Locale, UnknownLocaleError

    try:
        return {name.casefold(): n for n, name in Locale.parse(language).days["format"]["wide"].items()}
    except (UnknownLocaleError, ValueError):
        return {}


def with_year(mention: Mention, published: Quantity, text: str) -> Mention:
    """Complete a date without a year: most likely the last one before publication, else the next one.

    "Last August" in a text of August 2022 may also be that of 2021.
    """
    published_day = (published.month or 12, published.day or 31)
    before = _BEFORE.search(text, max(0, mention.start - _MAX_BEFORE), mention.start)
    is_last = before is not None and _STEP.get(before[0].casefold()) == -1
    dated: list[Quantity] = []
    for q in mention.readings:
        last = int(published.low) - ((q.month, q.day) > published_day)
        possible = (last, last + 1) if published.month and not is_last else (last, last + 1, last - 1)
        dated += [replace(q, low=Fraction(year), high=Fraction(year)) for year in possible]
    return replace(mention, readings=tuple(dated))


def _moved(published: Quantity, unit: str, step: int) -> list[Quantity]:
    year = int(published.low)
    if unit == "year":
        return [day_of(year + step)]
    if unit == "month":
        months = year * 12 + published.month - 1 + step
        return [day_of(months // 12, months % 12 + 1)] if published.month else []
    if unit == "week":
        return [q for days in range(-6, 7) for q in _days(published, 7 * step + days)]
    return _days(published, step)


def _days(published: Quantity, step: int) -> list[Quantity]:
    if not published.day:
        return [published]
    try:
        day = date(int(published.low), published.month, published.day) + timedelta(step)
    except (OverflowError, ValueError):
        return []
    return [day_of(day.year, day.month, day.day)]
