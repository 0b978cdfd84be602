"""The number words of each language."""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from storm_pipeline.quantities import number_tables


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


_IN_ONE_WORD = ("tausend", "mille", "mila")


@functools.lru_cache(maxsize=1 << 14)
def may_begin(token: str, language: str) -> bool:
    """Whether a number, an ordinal, a decade or a fraction may begin with a token; hardly any of a text is such."""
    known = vocabulary(language)
    tables = known.numerals, known.hundred, known.magnitudes, known.articles, known.ordinals, known.decades
    named = any(token in table for table in (*tables, known.fractions))
    return named or token[0].isdecimal() or any(part in token for part in _IN_ONE_WORD)


@functools.cache
def vocabulary(language: str) -> Vocabulary:
    """The vocabulary of a language by its ISO 639-1 code; others have only what all languages share (mln, bn, %)."""
    return Vocabulary(
        numerals={word.casefold(): value for word, value in _numerals(language)},
        hundred=_words(number_tables.HUNDRED, language),
        magnitudes=_values(number_tables.EVERYWHERE) | _values(number_tables.MAGNITUDES.get(language, "")),
        needs_count=_words(number_tables.NEEDS_COUNT, language),
        joiners=_words(number_tables.JOINERS, language),
        articles=_words(number_tables.ARTICLES, language),
        ordinals=dict(_listed(number_tables.ORDINALS.get(language, ""), 1))
        | _values(number_tables.LATER_ORDINALS.get(language, "")),
        decades=dict(_listed(number_tables.DECADES.get(language, ""), 1920, 10)),
        spans=_values(number_tables.SPANS),
        fractions={word: Fraction(1, n) for word, n in _values(number_tables.FRACTIONS.get(language, "")).items()},
        percent=frozenset(number_tables.PERCENT.split()),
        centuries=frozenset(number_tables.CENTURIES.split()),
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
    yield from _listed(number_tables.UNITS.get(language, ""), 0)
    yield from _listed(number_tables.TENS.get(language, ""), 20, 10)
    yield from _listed(number_tables.HUNDREDS.get(language, ""), 100, 100)
    if language == "de":
        yield from _german()
    if language == "it":
        yield from _italian()
    if language == "es":
        yield from _listed(number_tables.SPANISH_TWENTIES, 21)


def _german() -> Iterator[tuple[str, int]]:
    """The compounds of 21 to 999: zweiundzwanzig, dreihundert, hundertfünf, zweihundertvierzig."""
    units = number_tables.UNITS["de"].replace("eins", "ein").split()
    below = {unit: i for i, unit in enumerate(number_tables.UNITS["de"].split()) if i} | {"ein": 1}
    for i, ten in enumerate(number_tables.TENS["de"].split()):
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
    units = number_tables.UNITS["it"].split()
    below = {unit: i for i, unit in enumerate(units) if i}
    for i, ten in enumerate(number_tables.TENS["it"].split()):
        below[ten] = 20 + 10 * i
        for n in range(1, 10):
            stem = ten[:-1] if n in {1, 8} else ten
            below |= {stem + units[n]: 20 + 10 * i + n}
        below[ten + "tré"] = 20 + 10 * i + 3
    yield from below.items()
    for n, count in enumerate(["", *units[2:10]], 1):
        yield f"{count}cento", n * 100
        yield from ((f"{count}cento{word}", n * 100 + value) for word, value in below.items())
