"""Numbers in words, and the words of each language: twenty-three, quatre-vingt-dix, zwei Millionen, mil millones."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from storm_pipeline.files import table_beside

TABLES = table_beside(__file__)
"""What words are in each list, which mostly are kept by language."""
_IN_ONE_WORD = ("tausend", "mille", "mila")
_SEPARATOR = re.compile(r"[ \u00a0\u202f]{0,2}[-‑]?[ \u00a0\u202f\n]?")
_MAX_WORDS = 32  # maximum number of words in a number


@dataclass(frozen=True)
class Vocabulary:
    """The number words of a language, case folded."""

    numerals: Mapping[str, int]  # values below 1000 that add up ("twenty", "three"; "dreiundzwanzig"; "quinientos")
    hundred: frozenset[str]  # words that multiply the number before them by a hundred
    magnitudes: Mapping[str, int]  # words that multiply by a thousand or more
    # multipliers that are not numbers on their own ("hundred people" is not, "mille" is 1000)
    needs_count: frozenset[str]
    joiners: frozenset[str]  # words between the parts of a number ("and", "y")
    articles: frozenset[str]  # words for one that are mostly articles, not numbers
    ordinals: Mapping[str, int]  # "third" and the like
    decades: Mapping[str, int]  # first years of "the nineties"
    spans: Mapping[str, int]  # words for a number of years ("decade": 10)
    fractions: Mapping[str, Fraction]  # fraction words ("quarter": 1/4)
    percent: frozenset[str]  # words for percent
    centuries: frozenset[str]  # words for century

    def value(self, word: str) -> int | None:
        """Value of a numeral, including thousands in one word ("zweitausend", "milleduecento")."""
        for thousand in _IN_ONE_WORD:
            count, found, rest = word.partition(thousand)
            if found and word not in self.magnitudes and {count, rest} - {""} <= self.numerals.keys():
                return (self.numerals[count] if count else 1) * 1000 + (self.numerals[rest] if rest else 0)
        return self.numerals.get(word)


@functools.lru_cache(maxsize=1 << 14)
def may_begin(token: str, language: str) -> bool:
    """Whether a number, an ordinal, a decade or a fraction may begin with a token; hardly any of a text is such."""
    known = vocabulary(language)
    tables = known.numerals, known.hundred, known.magnitudes, known.articles, known.ordinals, known.decades
    named = any(token in table for table in (*tables, known.fractions))
    return named or token[-1].isdecimal() or any(part in token for part in _IN_ONE_WORD)


@functools.cache
def vocabulary(language: str) -> Vocabulary:
    """The vocabulary of a language by its ISO 639-1 code; others have only what all languages share (mln, bn, %)."""
    return Vocabulary(
        numerals={word.casefold(): value for word, value in _numerals(language)},
        hundred=_words(TABLES["hundred"], language),
        magnitudes=_values(TABLES["everywhere"]) | _values(TABLES["magnitudes"].get(language, "")),
        needs_count=_words(TABLES["needs_count"], language),
        joiners=_words(TABLES["joiners"], language),
        articles=_words(TABLES["articles"], language),
        ordinals=dict(_listed(TABLES["ordinals"].get(language, ""), 1))
        | _values(TABLES["later_ordinals"].get(language, "")),
        decades=dict(_listed(TABLES["decades"].get(language, ""), 1920, 10)),
        spans=_values(TABLES["spans"]),
        fractions={word: Fraction(1, n) for word, n in _values(TABLES["fractions"].get(language, "")).items()},
        percent=frozenset(TABLES["percent"].split()),
        centuries=frozenset(TABLES["centuries"].split()),
    )


def _words(table: Mapping[str, str], language: str) -> frozenset[str]:
    return frozenset(table.get(language, "").split())


def _values(line: str) -> dict[str, int]:
    """Words of ``word=value`` and ``a|b=value``; values such as ``3e6`` are integers."""
    pairs = (entry.rsplit("=", 1) for entry in line.split())
    return {word.casefold(): int(float(value)) for words, value in pairs for word in words.split("|")}


def _listed(line: str, first: int, step: int = 1) -> Iterator[tuple[str, int]]:
    """Words in order of value; alternative spellings are separated by ``|``."""
    for i, words in enumerate(line.split()):
        yield from ((word.casefold(), first + i * step) for word in words.split("|"))


def _numerals(language: str) -> Iterator[tuple[str, int]]:
    yield from _listed(TABLES["units"].get(language, ""), 0)
    yield from _listed(TABLES["tens"].get(language, ""), 20, 10)
    yield from _listed(TABLES["hundreds"].get(language, ""), 100, 100)
    if language == "de":
        yield from _german()
    if language == "it":
        yield from _italian()
    if language == "es":
        yield from _listed(TABLES["spanish_twenties"], 21)


def _german() -> Iterator[tuple[str, int]]:
    """The compounds of 21 to 999: zweiundzwanzig, dreihundert, hundertfünf, zweihundertvierzig."""
    units = TABLES["units"]["de"].replace("eins", "ein").split()
    below = {unit: i for i, unit in enumerate(TABLES["units"]["de"].split()) if i} | {"ein": 1}
    for i, ten in enumerate(TABLES["tens"]["de"].split()):
        below[ten] = 20 + 10 * i
        below |= {f"{units[n]}und{ten}": 20 + 10 * i + n for n in range(1, 10)}
    yield from below.items()
    for n, count in enumerate(["", *units[1:]]):
        base = max(1, n) * 100
        yield f"{count}hundert", base
        for word, value in below.items():
            yield f"{count}hundert{word}", base + value
            yield f"{count}hundertund{word}", base + value


def _italian() -> Iterator[tuple[str, int]]:
    """The compounds of 21 to 999: ventuno, trentatré, duecento, centocinquanta."""
    units = TABLES["units"]["it"].split()
    below = {unit: i for i, unit in enumerate(units) if i}
    for i, ten in enumerate(TABLES["tens"]["it"].split()):
        below[ten] = 20 + 10 * i
        for n in range(1, 10):
            stem = ten[:-1] if n in {1, 8} else ten
            below |= {stem + units[n]: 20 + 10 * i + n}
        below[ten + "tré"] = 20 + 10 * i + 3
    yield from below.items()
    for n, count in enumerate(["", *units[2:10]], 1):
        yield f"{count}cento", n * 100
        yield from ((f"{count}cento{word}", n * 100 + value) for word, value in below.items())


class Token(NamedTuple):
    """A word or a number in digits, lower-cased, with its span."""

    text: str
    start: int
    end: int

    @property
    def is_number(self) -> bool:
        """Whether it ends in a digit, as words do not."""
        return self.text[-1].isdecimal()


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
