"""Numbers in words: twenty-three, two hundred and five, quatre-vingt-dix, zwei Millionen, mil millones."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from storm_pipeline.quantities.vocabulary import Vocabulary

_SEPARATOR = re.compile(r"[ \u00a0\u202f]{0,2}[-‑]?[ \u00a0\u202f\n]?")
_MAX_WORDS = 32  # maximum number of words in a number


class Token(NamedTuple):
    """A word or a number in digits, lower-cased, with its span."""

    text: str
    start: int
    end: int

    @property
    def is_number(self) -> bool:
        """Whether it starts with a digit."""
        return self.text[0].isdecimal()


@dataclass(frozen=True)
class ParsedNumber:
    """A parsed number: its value, the number of tokens consumed, and the factor of its magnitude word."""

    value: Fraction
    taken: int
    scale: Fraction = Fraction(1)


class NumberWordParser:
    """Parses numbers written in words, in one language."""

    def __init__(self, text: str, tokens: Sequence[Token], words: Vocabulary) -> None:
        self._text, self._tokens, self._words = text, tokens, words
        self._french = "quatre" in words.numerals

    def linked(self, i: int) -> bool:
        """Whether this token exists and only a space or hyphen separates it from the one before."""
        if not 0 < i < len(self._tokens):
            return False
        before, own = self._tokens[i - 1].end, self._tokens[i].start
        return own - before <= 3 and bool(_SEPARATOR.fullmatch(self._text, before, own))

    def read(self, i: int, given: Fraction | None = None, *, in_digits: bool = True) -> ParsedNumber | None:
        """Parse the number that starts at a token, or continues a number in digits; None if there is none.

        Args:
            i: index of the first token.
            given: value of the number before it ("2.5" or "a" before "million").
            in_digits: whether that is in digits, which only multipliers may follow.
        """
        only_multiplied = given is not None and in_digits
        total, current, last, j = Fraction(0), given, 0, i
        while j < len(self._tokens) and j - i < _MAX_WORDS and (j == i or self.linked(j)):
            word = self._tokens[j].text
            if (magnitude := self._words.magnitudes.get(word)) and self._counts(word, current, total):
                if current is None and total and last < magnitude:
                    total *= magnitude
                else:
                    total += (Fraction(1) if current is None else current) * magnitude
                current, last = None, magnitude
            elif word in self._words.hundred and self._may_hundred(word, current):
                current = (Fraction(1) if current is None else current) * 100
            elif (value := self._words.value(word)) is not None and not only_multiplied:
                if (extended := self._extended(current, value)) is None:
                    break
                current = extended
            elif only_multiplied or not self._joins(j, current, total):
                break
            j += 1
        if j == i:
            return None
        whole = total + (current or 0)
        return ParsedNumber(whole, j - i, whole / given if given and in_digits else Fraction(last or 1))

    def _counts(self, word: str, current: Fraction | None, total: Fraction) -> bool:
        return current is not None or bool(total) or word not in self._words.needs_count

    def _may_hundred(self, word: str, current: Fraction | None) -> bool:
        return word not in self._words.needs_count if current is None else 0 < current < 100

    def _extended(self, current: Fraction | None, value: int) -> Fraction | None:
        """The number so far extended by a numeral; None if they do not form a number."""
        if current is None:
            return Fraction(value)
        tens = current % 100
        if self._french and tens == 4 and value == 20:
            return current + 76
        limit = 20 if self._french and tens in {60, 80} else 10 if tens >= 20 and not tens % 10 else 0
        fits = value < (100 if current >= 100 and not tens else limit)
        return current + value if value and fits else None

    def _joins(self, j: int, current: Fraction | None, total: Fraction) -> bool:
        """Whether a word such as "and" joins two parts of one number."""
        if self._tokens[j].text not in self._words.joiners or not self.linked(j + 1):
            return False
        following = self._words.numerals.get(self._tokens[j + 1].text)
        if following is None or (current is None and not total):
            return False
        if "hundred" in self._words.hundred and current is not None and current % 100:
            return False
        return current is None or self._extended(current, following) is not None
