"""Finding every number and date of a text, elided parts included ("2 to 3 million"). Linear in the text's length."""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from storm_pipeline.quantities import literals
from storm_pipeline.quantities.months import blanked, dates
from storm_pipeline.quantities.periods import periods
from storm_pipeline.quantities.scanning import Scanner
from storm_pipeline.quantities.values import Mention, fraction_readings, number, rounded
from storm_pipeline.text.markers import without_markers

_CONNECTOR = re.compile(r"\s?(?:,|-|–|—|&|to|and|or|bis|und|oder|à|et|ou|a|y|o|e|и|до|i|至|到)\s?")
_SHORT_YEAR = re.compile(r"[-–—/]")
_NAME = re.compile(r"(?<!\w)(?:[A-Za-z]+\d+[A-Z][A-Za-z\d]*|COVID-19)")  # H5N1, COVID-19: no quantities within
_MAX_GAP = 6  # maximum characters between two numbers of a range or list
_MIN_SCALE = 1000


def complete_elided(found: Sequence[Mention], plain: str) -> Iterator[Mention]:
    """Mentions completed by the scale, percent sign or century of the next one; in reverse order.

    ``found``: mentions of numbers, in order.
    """
    following: Mention | None = None
    for mention in reversed(found):
        completed = mention
        if following and following.start - mention.end <= _MAX_GAP:
            gap = plain[mention.end : following.start]
            if _CONNECTOR.fullmatch(gap):
                completed = _with_scale(mention, following)
            if _SHORT_YEAR.fullmatch(gap) and (last := _short_year(mention, following)):
                yield replace(following, start=mention.start, readings=(number(last), *following.readings))
                following = None
        if following:
            yield following
        following = completed
    if following:
        yield following


def _with_scale(mention: Mention, following: Mention) -> Mention:
    """Add readings with the scale or percent sign of the next mention."""
    own, kind = mention.readings[0], following.readings[0].kind
    if own.kind != "number" or mention.scale != 1:
        return mention
    more = (
        (replace(own, low=own.low * following.scale, high=own.high * following.scale),)
        if own.low < _MIN_SCALE <= following.scale
        else ()
    )
    if kind == "percent":
        more = (*more, replace(own, kind="percent"))
    scale = following.scale if following.scale >= _MIN_SCALE else Fraction(1)
    return replace(mention, readings=(*mention.readings, *more), scale=scale) if more else mention


def _short_year(mention: Mention, following: Mention) -> int:
    """1918 in "1914–18"; 0 if it is not such a range."""
    first, last = mention.readings[0], following.readings[0]
    if mention.end - mention.start != 4 or following.end - following.start != 2:
        return 0
    if first.kind != "number" or last.kind != "number" or last.low.denominator != 1 or last.low > 99:
        return 0
    year = int(first.low) // 100 * 100 + int(last.low)
    if last.low == (first.low + 1) % 100:
        year = int(first.low) + 1
    return year if year > first.low >= 1000 else 0


def mentions(text: str, language: str) -> list[Mention]:
    """The quantities of a text in order, each with its possible readings. Citation markers are ignored.

    ``language``: ISO 639-1 code, or "" if unknown.
    """
    plain = literals.plain_digits(_NAME.sub(_zeroed, without_markers(text, "\0")))
    found: list[Mention] = []
    time_finders = functools.partial(periods, language=language), functools.partial(dates, language=language)
    for find in (*time_finders, *((_cjk_shares, _cjk_numbers) if literals.CJK_NUMERAL.search(plain) else ())):
        plain = _extract(find, plain, found)
    scanned = sorted(complete_elided(list(Scanner(plain, language).mentions()), plain), key=lambda m: m.start)
    return sorted([*found, *scanned], key=lambda m: m.start)


def _zeroed(found: re.Match[str]) -> str:
    return "\0" * len(found[0])


def _extract(find: Callable[[str], Iterable[Mention]], plain: str, found: list[Mention]) -> str:
    """Append the mentions to ``found``, and return the text with them blanked."""
    new = sorted(find(plain), key=lambda m: (m.start, -m.end))
    found += new
    return blanked(plain, ((mention.start, mention.end) for mention in new))


def _cjk_shares(plain: str) -> Iterator[Mention]:
    for found in literals.CJK_SHARE.finditer(plain):
        yield Mention(*found.span(), fraction_readings(literals.cjk_share(found)), "words")


def _cjk_numbers(plain: str) -> Iterator[Mention]:
    for found in literals.CJK_NUMBER.finditer(plain):
        mention = Mention(*found.span(), (number(literals.cjk_value(found[0])),), "words")
        before = plain[max(0, mention.start - 2) : mention.start]
        yield replace(mention, readings=rounded(mention, plain, (*before, before)))
