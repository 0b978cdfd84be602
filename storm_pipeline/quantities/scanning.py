"""Scanning the tokens of a text for numbers, ordinals, percentages and fractions."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from storm_pipeline.quantities import literals
from storm_pipeline.quantities.number_words import TABLES, NumberWordParser, ParsedNumber, Token, may_begin, vocabulary
from storm_pipeline.quantities.values import (
    ONE,
    Mention,
    Quantity,
    Written,
    day_of,
    fraction_readings,
    number,
    rounded,
    years,
)

_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_TOKEN = re.compile(rf"[^\W\d_{_HAN}]+|{literals.NUMBER}|[{_HAN}]")
_VULGAR = {"½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5)}
_VULGAR |= {"⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8)}
_SUFFIX_SCALES = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_ENDINGS = frozenset("st nd rd th er e ème eme re º ª".split())
_PERCENT = re.compile(rf"\s?[-‑]?(?:%|(?:{TABLES['percent_phrases']})(?!\w))", re.I)
_AND_A_PART = re.compile(r"[ \u00a0](\d)/(\d)(?![\d/])")
_OVER = re.compile(r"/(\d{1,3})(?![\d/])")
_OF = frozenset("of the der des de du la los del di dei delle do da dos das".split())
_LARGE = 10**6  # a number from which a magnitude behind it is a slip: 3,872,952 million
_OF_A_GAME = (Fraction(1, 2), Fraction(1, 4))
_HYPHENS = ("-", "‑")
_MAX_GAP = 3
_SMALL = 12
_SCORED = 20
_MAX_NUMERATOR_DIGITS, _MAX_DENOMINATOR = 2, 10
"""Limits within which digits around a slash are certainly a fraction: 2/3, but not 9/11."""


class Scanner:
    """Finds the numbers in a text's tokens."""

    def __init__(self, plain: str, language: str) -> None:
        self._plain, self._language = plain, language
        self._tokens = [Token(m[0].casefold(), *m.span()) for m in _TOKEN.finditer(plain)]
        self._words = vocabulary(language or "en")
        self._reader = NumberWordParser(plain, self._tokens, self._words)

    def mentions(self) -> Iterator[Mention]:
        """The mentions in order, without overlaps."""
        upto, language = 0, self._language or "en"
        for i in [i for i, token in enumerate(self._tokens) if may_begin(token.text, language)]:
            if i < upto:
                continue
            read = self._digits(i) if self._tokens[i].is_number else self._in_words(i)
            if read is None:
                continue
            mention, taken = read
            upto = i + taken
            counted = self._word(upto)
            mention = _in_years(mention, self._words.spans.get(counted, 0))
            yield replace(mention, readings=rounded(mention, self._plain, self._before(i)), counted=counted)

    def _word(self, i: int) -> str:
        """The word at an index, if only a space or hyphen separates it from the token before; else ""."""
        return self._tokens[i].text if self._reader.linked(i) and not self._tokens[i].is_number else ""

    def _before(self, i: int) -> tuple[str, ...]:
        near: list[str] = []
        while i > 0 and len(near) < 2 and self._tokens[i].start - self._tokens[i - 1].end <= _MAX_GAP:
            i -= 1
            near.append(self._tokens[i].text)
        return tuple(near)

    def _digits(self, i: int) -> tuple[Mention, int] | None:
        token = self._tokens[i]
        read = list(literals.values(token.text, self._language))
        end, taken, scale = token.end, 1, Fraction(1)
        if not read:
            return None
        if (vulgar := _VULGAR.get(self._plain[end : end + 1])) is not None:
            read, end = [read[0] + Fraction(*vulgar)], end + 1
        elif read[0] == int(read[0]) and (over := _AND_A_PART.match(self._plain, end)) and int(over[2]):
            part = read[0] + Fraction(int(over[1]), int(over[2]))
            return Mention(token.start, over.end(), (number(part),)), 3
        elif len(token.text) <= _MAX_NUMERATOR_DIGITS and (over := _OVER.match(self._plain, end)) and int(over[1]):
            share, parts = fraction_readings(read[0] / int(over[1])), (number(read[0]), number(int(over[1])))
            is_share = read[0] < int(over[1]) <= _MAX_DENOMINATOR and token.text[0] != "0"
            read_as = (*(share if is_share else (*parts, *share)), *_days(token.text, over[1]))
            return Mention(token.start, over.end(), read_as), 2
        if i + 1 < len(self._tokens) and self._tokens[i + 1].start == end:
            ending = self._tokens[i + 1].text
            if ending in _ENDINGS:
                return self._span(i, 2, (number(read[0], "ordinal"),), "digits")
            if ending in _SUFFIX_SCALES:
                scale, taken, end = Fraction(_SUFFIX_SCALES[ending]), 2, self._tokens[i + 1].end
                read = [read[0] * scale, read[0]]
        if taken == 1 and end - token.end <= 1 and (parsed := self._scaled(i + 1, read[0])):
            scale, taken, end = parsed.scale, 1 + parsed.taken, self._tokens[i + parsed.taken].end
            read = [value * scale for value in read] + [value for value in read if value >= _LARGE]
        return self._with_percent(Mention(token.start, end, tuple(map(number, read)), scale=scale), taken, i)

    def _scaled(self, i: int, value: Fraction) -> ParsedNumber | None:
        """The magnitude word at an index ("Mio."), behind a number."""
        return self._reader.read(i, value or Fraction(1)) if self._reader.linked(i) else None

    def _with_percent(self, mention: Mention, taken: int, i: int) -> tuple[Mention, int]:
        sign = _PERCENT.match(self._plain, mention.end)
        word = self._word(i + taken)
        if sign or word in self._words.percent:
            readings = tuple(replace(q, kind="percent") for q in mention.readings)
            extra = sum(t.end <= sign.end() for t in self._tokens[i + taken : i + taken + 2]) if sign else 1
            end = sign.end() if sign else self._tokens[i + taken].end
            return replace(mention, end=end, readings=readings, written="digits"), taken + extra
        return mention, taken

    def _in_words(self, i: int) -> tuple[Mention, int] | None:
        if named := self._named(i):
            return named
        article = self._tokens[i].text in self._words.articles
        if article and (opened := self._after_article(i)):
            return opened
        parsed = self._reader.read(i)
        if parsed is None:
            return None
        if finished := self._fraction(i, parsed) or self._ordinal(i, parsed):
            return finished
        parsed = self._and_a_half(i, parsed)
        written = "small" if article and parsed.taken == 1 else _size(parsed.value)
        return self._with_percent(*self._span(i, parsed.taken, (number(parsed.value),), written, parsed.scale), i)

    def _named(self, i: int) -> tuple[Mention, int] | None:
        """Parse a single word: an ordinal, a decade or a fraction."""
        word, words = self._tokens[i].text, self._words
        if value := words.ordinals.get(word):
            return self._span(i, 1, (number(value, "ordinal"),), _size(value))
        if first := words.decades.get(word):
            return self._span(i, 1, (years(first, first + 9),), "small")
        return self._bare_fraction(i) if word in words.fractions else None

    def _span(
        self, i: int, taken: int, readings: tuple[Quantity, ...], written: Written = "words", scale: Fraction = ONE
    ) -> tuple[Mention, int]:
        """The mention that so many tokens state, and their number."""
        return Mention(self._tokens[i].start, self._tokens[i + taken - 1].end, readings, written, scale), taken

    def _after_article(self, i: int) -> tuple[Mention, int] | None:
        """A number or fraction that starts with an article: "a million", "a quarter of", "one third of"."""
        following = self._word(i + 1)
        if following in self._words.fractions and self._word(i + 2) in _OF:
            return self._span(i, 2, fraction_readings(self._words.fractions[following]))
        if span := self._words.spans.get(following):
            return self._span(i, 2, (number(span),), "small", Fraction(span))
        if following in self._words.hundred or following in self._words.magnitudes:
            parsed = self._reader.read(i + 1, Fraction(1), in_digits=False)
            if parsed and following in self._words.needs_count:
                return self._span(i, parsed.taken + 1, (number(parsed.value),), "words", parsed.scale)
        return None

    def _bare_fraction(self, i: int) -> tuple[Mention, int]:
        """A bare fraction, which is often not a figure ("half"), or one of a magnitude ("half a million")."""
        share = self._words.fractions[self._tokens[i].text]
        if self._word(i + 1) in self._words.articles and self._word(i + 2) in self._words.percent:
            return self._span(i, 3, (number(share, "percent"),))
        opened = self._after_article(i + 1) if self._word(i + 1) in self._words.articles else self._after_article(i)
        if opened:
            mention, taken = opened
            if mention.scale > 1:
                halved = number(mention.readings[0].low * share)
                end = i + taken if self._word(i + 1) in self._words.articles else i + taken - 1
                return replace(mention, start=self._tokens[i].start, readings=(halved,)), end - i + 1
        return self._span(i, 1, fraction_readings(share), "small")

    def _fraction(self, i: int, parsed: ParsedNumber) -> tuple[Mention, int] | None:
        """A small number and the plural of a fraction: "two thirds", but not "two quarters", which are of a game."""
        j = i + parsed.taken
        name = self._word(j)
        if name not in self._words.fractions or name in self._words.ordinals or not 0 < parsed.value < _SCORED:
            return None
        if parsed.value > 1 and "half" in self._words.fractions and not name.endswith("s"):
            return None
        share, may_be_of_a_game = parsed.value * self._words.fractions[name], self._words.fractions[name] in _OF_A_GAME
        if may_be_of_a_game and share.numerator != parsed.value:
            return None
        if may_be_of_a_game and self._word(j + 1) not in _OF and self._plain[self._tokens[j].start - 1] not in _HYPHENS:
            return self._span(i, parsed.taken + 1, (*fraction_readings(share), number(parsed.value)), "small")
        return self._span(i, parsed.taken + 1, fraction_readings(share))

    def _ordinal(self, i: int, parsed: ParsedNumber) -> tuple[Mention, int] | None:
        """A compound ordinal after tens or hundreds: "twenty-first"."""
        value = self._words.ordinals.get(self._word(i + parsed.taken), _SCORED)
        if value >= 10 or parsed.value < _SCORED or parsed.value % 10:
            return None
        return self._span(i, parsed.taken + 1, (number(parsed.value + value, "ordinal"),))

    def _and_a_half(self, i: int, parsed: ParsedNumber) -> ParsedNumber:
        """Extend a number by "and a half" and a magnitude after it."""
        j = i + parsed.taken
        if [self._word(j), self._word(j + 1), self._word(j + 2)] != ["and", "a", "half"]:
            return parsed
        value, taken = parsed.value + Fraction(1, 2), parsed.taken + 3
        more = self._scaled(i + taken, value)
        return ParsedNumber(more.value, taken + more.taken, more.scale) if more else ParsedNumber(value, taken)


def _days(first: str, second: str) -> tuple[Quantity, ...]:
    """The days of any year that two numbers may be, as in 9/11, the month first or last."""
    both = ((first, second), (second, first)) if first.isdecimal() and second.isdecimal() else ()  # no .5/10
    found = ((int(month), int(day)) for month, day in both)
    return tuple(day_of(0, month, day) for month, day in found if 0 < month <= 12 and 0 < day <= 31)


def _in_years(mention: Mention, span: int) -> Mention:
    """Add the reading in years to a number of decades or centuries."""
    first = mention.readings[0]
    if not span or first.kind != "number":
        return mention
    return replace(mention, readings=(*mention.readings, number(first.low * span)))


def _size(value: Fraction | int) -> Written:
    return "small" if value <= _SMALL else "words"
