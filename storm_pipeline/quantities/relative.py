"""Relative dates: last month, this year, yesterday, on Tuesday, two years ago; the following year, two years later."""

import re
from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction

from storm_pipeline.quantities.number_words import vocabulary
from storm_pipeline.quantities.values import Mention, Quantity, day_of, on

_UNITS = {
    "day": "day days tag tage tagen jour jours día días giorno giorni dia dias день дня дней dzień dni",
    "week": "week weeks woche wochen semaine semaines semana semanas settimana settimane неделя недели неделю неделе "
    "недель tydzień tygodnie tygodni",
    "month": "month months monat monate monaten monats mois mes meses mese mesi mês месяц месяца месяце месяцев "
    "miesiąc miesiące miesięcy miesiącu",
    "year": "year years jahr jahre jahren jahres an ans année années año años anno anni ano anos год года году лет "
    "rok roku lata lat",
}
_UNIT = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_YEAR_WORDS = frozenset(_UNITS["year"].split())
_WHEN = {
    -1: "last previous past letzte letzten letzter letztes letztem vergangene vergangenen vergangenes vorige vorigen "
    "dernier dernière pasado pasada último última scorso scorsa passado passada прошлый прошлом прошлого прошлой "
    "zeszły zeszłym zeszłego ubiegły ubiegłym ubiegłego",
    0: "this current diese diesen dieser dieses diesem cette ce este esta questo questa quest этот этом этого этой "
    "tym tego ten",
    1: "next coming nächste nächsten nächster nächstes nächstem kommenden prochain prochaine próximo próxima prossimo "
    "prossima следующий следующем следующего przyszły przyszłym",
}
_STEP = {word: step for step, words in _WHEN.items() for word in words.split()}
_DAYS = {
    -1: "yesterday gestern hier ayer ieri ontem вчера wczoraj",
    0: "today tonight heute aujourd hoy oggi hoje сегодня dzisiaj dziś",
    1: "tomorrow morgen demain mañana domani amanhã завтра jutro",
}
_DAY = {word: step for step, words in _DAYS.items() for word in words.split()}
_WEEKDAYS = {
    name: i
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunes martes miércoles jueves viernes sábado domingo",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    )
    for i, name in enumerate(names.split())
}
_IN_FRONT = re.compile("|".join(name for name in _WEEKDAYS if len(name) > 5))
"""A weekday with another word glued to it: ``Mittwochabend``, or a text that lost its spaces."""
_WORD = re.compile(r"\d{1,3}|[^\W\d_]+")
_BEFORE = re.compile(r"[^\W\d_]+(?=\W*$)")
_MAX_BEFORE = 20  # characters before a date that are searched for "last"
_AGO = frozenset("ago earlier zuvor fa atrás назад temu".split())
_SINCE = frozenset("vor hace há a".split())
_FOLLOWING = frozenset("following folgende folgenden folgendes suivant suivante siguiente seguente seguinte".split())
_PRECEDING = frozenset(
    "preceding previous vorangegangenen vorhergehenden précédent précédente anterior precedente".split()
)
_LATER = frozenset("later später danach darauf plus después dopo depois спустя później".split())
_EARLIER = frozenset("earlier before früher zuvor davor avant antes prima раньше wcześniej".split())
_YEARS = range(1000, 2200)  # whole numbers that may be years
_REACH = 300  # maximum characters between a year and what counts from it
_MAX_COUNT = 400  # maximum number of days, weeks, months or years counted back


@dataclass(frozen=True)
class _Word:
    """A word of a text, in lower case, with its place, its neighbours and the number in front of it (1 if none is)."""

    text: str
    start: int
    end: int
    second_before: str
    before: str
    after: str
    count: int


def relative_dates(text: str, language: str, published: Quantity) -> Iterator[Mention]:
    """Relative dates of a text, resolved by its publication date.

    Args:
        text: with ASCII digits. Supports English, German, French, Spanish, Italian, Portuguese, Polish and Russian;
            weekdays in the first five only.
        language: ISO 639-1 code, for number words ("two days ago").
        published: publication date, at least its year.
    """
    for word in _words(text, language, (_UNIT, _DAY, _WEEKDAYS)):
        ago = min(word.count, _MAX_COUNT) if word.after in _AGO or word.second_before in _SINCE else 0
        if readings := _resolved(word.text, (word.before, word.after), ago, published):
            yield Mention(word.start, word.end, tuple(readings), "small")


def years_from_stated(text: str, language: str, stated: Sequence[Mention]) -> Iterator[Mention]:
    """Years that a text counts from the year stated before: the following year, two years later.

    Args:
        text: with ASCII digits; languages as in :func:`relative_dates`.
        stated: the dates and numbers of the text.
    """
    read = [(m.start, m.readings[0]) for m in stated if m.readings]
    whole = [(start, int(q.low)) for start, q in read if q.kind in {"date", "number"} and q.low == q.high == int(q.low)]
    known = [(start, year) for start, year in whole if year in _YEARS]
    if not known:
        return
    for word in _words(text, language, (_YEAR_WORDS,)):
        place = bisect_left(known, (word.start, 0)) - 1
        step = _years_on(word)
        if step and place >= 0 and word.start - _REACH <= known[place][0]:
            yield Mention(word.start, word.end, (day_of(known[place][1] + step),), "small")


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


def _words(text: str, language: str, wanted: Sequence[Container[str]]) -> Iterator[_Word]:
    """The wanted words of a text, in order."""
    numerals = vocabulary(language).numerals
    words = [(_without_glued(found[0].casefold()), *found.span()) for found in _WORD.finditer(text)]
    for i, (word, start, end) in enumerate(words):
        if any(word in names for names in wanted):
            second, before = (["", ""] + [w for w, _, _ in words[max(0, i - 2) : i]])[-2:]
            after = words[i + 1][0] if i + 1 < len(words) else ""
            count = int(before) if before.isdecimal() else numerals.get(before, 1)
            yield _Word(word, start, end, second, before, after, count)


def _years_on(word: _Word) -> int:
    """By how many years a text goes on or back; 0 for not at all."""
    if (word.second_before, word.before) == ("the", "next"):
        return 1
    count = min(word.count, _MAX_COUNT)
    if word.after in _LATER or word.after in _EARLIER:
        return count if word.after in _LATER else -count
    near = {word.before, word.after}
    return bool(near & _FOLLOWING) - bool(near & _PRECEDING)


def _without_glued(word: str) -> str:
    found = _IN_FRONT.match(word)
    return found[0] if found else word


def _resolved(word: str, around: tuple[str, str], ago: int, published: Quantity) -> list[Quantity]:
    if word in _DAY:
        return _days(published, _DAY[word])
    if word in _WEEKDAYS:
        return _weekday(published, _WEEKDAYS[word])
    steps = [-ago] if ago else [_STEP[near] for near in around if near in _STEP]
    return _moved(published, _UNIT[word], steps[0]) if steps else []


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
        return [on(date(int(published.low), published.month, published.day) + timedelta(step))]
    except (OverflowError, ValueError):
        return []


def _weekday(published: Quantity, weekday: int) -> list[Quantity]:
    """The days of that name within a week of the publication date."""
    if not published.day:
        return []
    behind = (date(int(published.low), published.month, published.day).weekday() - weekday) % 7
    return [*_days(published, -behind), *_days(published, 7 - behind)]
