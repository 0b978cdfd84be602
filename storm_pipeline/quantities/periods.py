"""Years with an era (BC, AD), decades and centuries."""

import functools
import re
from collections.abc import Iterator, Mapping

from storm_pipeline.files import table_beside
from storm_pipeline.quantities.number_words import vocabulary
from storm_pipeline.quantities.values import Mention, Quantity, day_of, years
from storm_pipeline.text.words import caseless

_BEFORE, _AFTER = ("|".join(marks) for marks in table_beside(__file__).values())
_DIGITS = r"\d{1,2}[.,]\d{3}|\d{1,4}"
_ERA = rf"(?:\s?(?:(?P<before>{_BEFORE})|(?:{_AFTER}))(?![^\W\d_]))"
_YEAR_OF_ERA = re.compile(
    rf"(?<![\d.,])(?:(?P<first>{_DIGITS})\s?(?:[-–—]|to|bis)\s?)?(?<![\d.,])(?P<year>{_DIGITS}){_ERA}"
    r"|(?<![^\W\d_])(?:AD|CE|A\.\s?D\.)\s?(?P<after>\d{1,4})(?!\d)"
    r"|(?:公元前|前|紀元前)(?P<cjk>\d{1,4})年"
)
_DIGITS_AND_ERA = re.compile(rf"\d\s?(?:{_BEFORE}|{_AFTER})")
_ERA_AND_DIGITS = re.compile(r"(?:AD|CE|A\.\s?D\.)\s?\d")
"""What a year with an era contains, in forms that are found fast: most texts have none."""
_DECADE = re.compile(r"(?<![\d.,])(?:(\d{3})0|['’]?([1-9])0)(?:['’]?s|er)(?![^\W\d_])")
_DIGITS_OF_DECADE = re.compile(r"0(?:['’]?s|er)")
_CJK_CENTURY = ("世紀", "世纪", "세기")
_MAX_GAP = 6  # maximum characters between two decades of one century: "1860s and 70s"
_ROMAN = {"I": 1, "V": 5, "X": 10}
_ENDING = r"(?:st|nd|rd|th|ère|ème|eme|er|re|e|è|º|ª|\.)?"
_TO = r"\s?(?:[-–—]|and|or|to|und|bis|et|au|y|al|e|ao|i|и)\s?(?:the\s|le\s|el\s|il\s|o\s)?"


def periods(text: str, language: str) -> Iterator[Mention]:
    """Years with an era (negative for BC), decades and centuries; the 19th century is 1800 to 1899.

    ``language``: ISO 639-1 code, for "nineteenth" and the like.
    """
    ordinals, plain = vocabulary(language).ordinals, caseless(text)
    has_century = any(name in plain for name in (*vocabulary(language).centuries, *_CJK_CENTURY))
    for found in _centuries(language).finditer(text) if has_century else ():
        for name in ("first", "number", "behind", "cjk"):
            if found[name] and 0 < (n := _ordinal(found[name], ordinals)) <= 30:
                yield Mention(*found.span(), _century(n, before=bool(found["before"] or found["era"])))
    has_era = _DIGITS_AND_ERA.search(text) or _ERA_AND_DIGITS.search(text) or "前" in text
    for found in _YEAR_OF_ERA.finditer(text) if has_era else ():
        year = _year(found["year"] or found["after"] or found["cjk"])
        before = bool(found["before"] or found["cjk"])
        if year:
            yield Mention(*found.span(), (day_of(-year if before else year),))
        if found["first"] and (first := _year(found["first"])):
            yield Mention(*found.span(), (day_of(-first if before else first),))
    century = position = 0
    for found in _DECADE.finditer(text) if _DIGITS_OF_DECADE.search(text) else ():
        if not century or found.start() - position > _MAX_GAP:
            century = 1900
        first = int(found[1]) * 10 if found[1] else century + int(found[2]) * 10
        century, position = first // 100 * 100, found.end()
        whole = (years(first, first + 99),) if first % 100 == 0 else ()
        yield Mention(*found.span(), (years(first, first + 9), *whole))


@functools.cache
def _centuries(language: str) -> re.Pattern[str]:
    known = vocabulary(language)
    names = "|".join(sorted(known.centuries, key=len, reverse=True))
    ordinal = "|".join(
        [
            rf"\d{{1,2}}{_ENDING}",
            rf"[IVX]{{1,5}}{_ENDING}",
            f"(?i:{'|'.join(sorted(known.ordinals, key=len, reverse=True))})",
        ]
    )
    return re.compile(
        rf"(?<![\w.,])(?:(?P<first>{ordinal}){_TO})?(?<!\w)(?P<number>{ordinal})[\s-](?i:{names}){_ERA}?(?!\w)"
        rf"|(?<!\w)(?i:{names})\s(?P<behind>[IVX]{{1,5}}|\d{{1,2}})(?!\w){_ERA.replace('before', 'era')}?"
        r"|(?<!\d)(?P<cjk>\d{1,2})\s?(?:世紀|世纪|세기)"
    )


def _century(number: int, *, before: bool) -> tuple[Quantity, ...]:
    return (years(-100 * number, -100 * number + 99) if before else years(100 * number - 100, 100 * number - 1),)


def _year(digits: str) -> int:
    return int(digits.replace(",", "").replace(".", ""))


def _ordinal(text: str, ordinals: Mapping[str, int]) -> int:
    """The value of an ordinal in digits, words or Roman numerals; 0 if it is not one."""
    if text.casefold() in ordinals:
        return ordinals[text.casefold()]
    if text[0].isdigit():
        return int(re.match(r"\d+", text)[0])  # type: ignore[index]
    digits = [_ROMAN[c] for c in text if c in _ROMAN]
    return sum(-a if a < b else a for a, b in zip(digits, [*digits[1:], 0], strict=True))
