"""One pass over a text's words and digits: its numbers, ordinals, percentages and parts."""

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Literal

from storm_pipeline.quantities import literals, tables
from storm_pipeline.quantities.rounding import rounded
from storm_pipeline.quantities.values import Mention, as_part, number, years
from storm_pipeline.quantities.vocabulary import vocabulary
from storm_pipeline.quantities.wording import Token, Worded, WordReader

_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_TOKEN = re.compile(rf"{literals.NUMBER}|[{_HAN}]|[^\W\d_{_HAN}]+")
_VULGAR = {"½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5)}
_VULGAR |= {"⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8)}
_GLUED = {"k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_ENDINGS = frozenset("st nd rd th er e ème eme re º ª".split())
_PERCENT = re.compile(rf"\s?[-‑]?(?:%|(?:{tables.PERCENT_PHRASES})(?!\w))", re.I)
_AND_A_PART = re.compile(r"[ \u00a0](\d)/(\d)(?![\d/])")
_OVER = re.compile(r"/(\d{1,3})(?![\d/])")
_OF = frozenset("of the der des de du la los del di dei delle do da dos das".split())
_NEAR = 3
_SMALL = 12
_SCORED = 20
_LONGEST_NUMERATOR, _LARGEST_PART = 2, 10
"""Digits before a stroke at most, and what is behind it at most where both are surely a part: 2/3, but not 9/11."""


class Scanner:
    """Reads the numbers that stand in a text's tokens."""

    def __init__(self, plain: str, language: str) -> None:
        self._plain, self._language = plain, language
        self._tokens = [Token(m[0].casefold(), *m.span()) for m in _TOKEN.finditer(plain)]
        self._words = vocabulary(language or "en")
        self._reader = WordReader(plain, self._tokens, self._words)

    def mentions(self) -> Iterator[Mention]:
        """The mentions in order; none overlap."""
        i = 0
        while i < len(self._tokens):
            read = self._digits(i) if self._tokens[i].is_number else self._worded(i)
            if read is None:
                i += 1
                continue
            mention, taken = read
            counted = self._word(i + taken)
            mention = _in_years(mention, self._words.spans.get(counted, 0))
            yield replace(mention, readings=rounded(mention, self._plain, self._before(i)), counted=counted)
            i += taken

    def _word(self, i: int) -> str:
        """The word at an index behind a space; "" for none."""
        return self._tokens[i].text if self._reader.linked(i) and not self._tokens[i].is_number else ""

    def _before(self, i: int) -> tuple[str, ...]:
        """The words before a token, two at most, with hardly anything between."""
        near: list[str] = []
        while i > 0 and len(near) < 2 and self._tokens[i].start - self._tokens[i - 1].end <= _NEAR:
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
        elif len(token.text) <= _LONGEST_NUMERATOR and (over := _OVER.match(self._plain, end)) and int(over[1]):
            share, parts = as_part(read[0] / int(over[1])), (number(read[0]), number(int(over[1])))
            is_share = read[0] < int(over[1]) <= _LARGEST_PART
            return Mention(token.start, over.end(), share if is_share else (*parts, *share)), 2
        if self._glued(i + 1, end):
            ending = self._tokens[i + 1].text
            if ending in _ENDINGS:
                return Mention(token.start, self._tokens[i + 1].end, (number(read[0], "ordinal"),)), 2
            if ending in _GLUED:
                scale, taken, end = Fraction(_GLUED[ending]), 2, self._tokens[i + 1].end
                read = [read[0] * scale, read[0]]
        if taken == 1 and end - token.end <= 1 and (worded := self._scaled(i + 1, read[0])):
            scale, taken, end = worded.scale, 1 + worded.taken, self._tokens[i + worded.taken].end
            read = [value * scale for value in read]
        return self._with_percent(Mention(token.start, end, tuple(map(number, read)), scale=scale), i, taken)

    def _glued(self, i: int, end: int) -> bool:
        return i < len(self._tokens) and self._tokens[i].start == end

    def _scaled(self, i: int, value: Fraction) -> Worded | None:
        """What multiplies a number in digits; a full stop may end its short form ("Mio.")."""
        return self._reader.read(i, value or Fraction(1)) if self._reader.linked(i) else None

    def _with_percent(self, mention: Mention, i: int, taken: int) -> tuple[Mention, int]:
        sign = _PERCENT.match(self._plain, mention.end)
        word = self._word(i + taken)
        if sign or word in self._words.percent:
            readings = tuple(replace(q, kind="percent") for q in mention.readings)
            extra = sum(t.end <= sign.end() for t in self._tokens[i + taken : i + taken + 2]) if sign else 1
            end = sign.end() if sign else self._tokens[i + taken].end
            return replace(mention, end=end, readings=readings, written="digits"), taken + extra
        return mention, taken

    def _worded(self, i: int) -> tuple[Mention, int] | None:
        if named := self._named(i):
            return named
        article = self._tokens[i].text in self._words.articles
        if article and (opened := self._opened(i)):
            return opened
        worded = self._reader.read(i)
        if worded is None:
            return None
        if finished := self._part(i, worded) or self._ordinal(i, worded):
            return finished
        worded = self._and_a_half(i, worded)
        small = article and worded.taken == 1
        mention = self._mention(i, worded, "small" if small else _size(worded.value))
        return self._with_percent(mention, i, worded.taken)

    def _named(self, i: int) -> tuple[Mention, int] | None:
        """What one word says: an ordinal, a decade, a part."""
        token, words = self._tokens[i], self._words
        if value := words.ordinals.get(token.text):
            return Mention(token.start, token.end, (number(value, "ordinal"),), _size(value)), 1
        if first := words.decades.get(token.text):
            return Mention(token.start, token.end, (years(first, first + 9),), "small"), 1
        return self._part_alone(i) if token.text in words.fractions else None

    def _mention(self, i: int, worded: Worded, written: Literal["words", "small"] = "words") -> Mention:
        end = self._tokens[i + worded.taken - 1].end
        return Mention(self._tokens[i].start, end, (number(worded.value),), written, worded.scale)

    def _text(self, i: int) -> str:
        """The word at an index that a space or hyphen parts from the one before; "" for none."""
        return self._tokens[i].text if self._reader.linked(i) else ""

    def _opened(self, i: int) -> tuple[Mention, int] | None:
        """A number or part that opens with an article: "a million", "a quarter of", "one third of"."""
        following = self._text(i + 1)
        if following in self._words.fractions and self._text(i + 2) in _OF:
            return self._whole_part(i, 2, Fraction(self._words.fractions[following]), "words")
        if span := self._words.spans.get(following):
            return Mention(self._tokens[i].start, self._tokens[i + 1].end, (number(span),), "small", Fraction(span)), 2
        if following in self._words.hundred or following in self._words.magnitudes:
            worded = self._reader.read(i + 1, Fraction(1), in_digits=False)
            if worded and following in self._words.needs_count:
                return self._mention(i, replace(worded, taken=worded.taken + 1)), worded.taken + 1
        return None

    def _part_alone(self, i: int) -> tuple[Mention, int]:
        """A part alone, which often counts nothing ("half"), or one of a multiplier ("half a million")."""
        share = self._words.fractions[self._tokens[i].text]
        if self._text(i + 1) in self._words.articles and self._text(i + 2) in self._words.percent:
            end = self._tokens[i + 2].end
            return Mention(self._tokens[i].start, end, (number(share, "percent"),), "words"), 3
        opened = self._opened(i + 1) if self._text(i + 1) in self._words.articles else self._opened(i)
        if opened:
            mention, taken = opened
            if mention.scale > 1:
                halved = number(mention.readings[0].low * share)
                end = i + taken if self._text(i + 1) in self._words.articles else i + taken - 1
                return replace(mention, start=self._tokens[i].start, readings=(halved,)), end - i + 1
        return self._whole_part(i, 1, share, "small")

    def _part(self, i: int, worded: Worded) -> tuple[Mention, int] | None:
        """The name of a part in the plural behind a small number: "two thirds"."""
        name = self._text(i + worded.taken)
        if name not in self._words.fractions or name in self._words.ordinals or not 0 < worded.value < _SCORED:
            return None
        if worded.value > 1 and "half" in self._words.fractions and not name.endswith("s"):
            return None
        return self._whole_part(i, worded.taken + 1, worded.value * self._words.fractions[name], "words")

    def _whole_part(
        self, i: int, taken: int, share: Fraction, written: Literal["words", "small"]
    ) -> tuple[Mention, int]:
        end = self._tokens[i + taken - 1].end
        return Mention(self._tokens[i].start, end, as_part(share), written), taken

    def _ordinal(self, i: int, worded: Worded) -> tuple[Mention, int] | None:
        """An ordinal behind tens or hundreds: "twenty-first"."""
        value = self._words.ordinals.get(self._text(i + worded.taken), _SCORED)
        if value >= 10 or worded.value < _SCORED or worded.value % 10:
            return None
        end, taken = self._tokens[i + worded.taken].end, worded.taken + 1
        return Mention(self._tokens[i].start, end, (number(worded.value + value, "ordinal"),), "words"), taken

    def _and_a_half(self, i: int, worded: Worded) -> Worded:
        """A number with what "and a half" adds, and what multiplies both."""
        j = i + worded.taken
        if [self._text(j), self._text(j + 1), self._text(j + 2)] != ["and", "a", "half"]:
            return worded
        value, taken = worded.value + Fraction(1, 2), worded.taken + 3
        more = self._reader.read(i + taken, value) if self._reader.linked(i + taken) else None
        return Worded(more.value, taken + more.taken, more.scale) if more else Worded(value, taken)


def _in_years(mention: Mention, span: int) -> Mention:
    """A number of decades or centuries, as so many years too."""
    first = mention.readings[0]
    if not span or first.kind != "number":
        return mention
    return replace(mention, readings=(*mention.readings, number(first.low * span)))


def _size(value: Fraction | int) -> Literal["words", "small"]:
    return "small" if value <= _SMALL else "words"
