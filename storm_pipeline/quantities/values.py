"""The value types for numbers and dates in text, and the tolerances of rounded ones (about 360, 400+)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from storm_pipeline.quantities.literals import unit_of
from storm_pipeline.quantities.number_words import TABLES

Kind = Literal["number", "ordinal", "percent", "date"]
Written = Literal["digits", "words", "small"]
"""How a quantity is spelt; ``small``: in words that are often not figures (up to twelve or twelfth, a month alone)."""
ZERO, ONE = Fraction(0), Fraction(1)
_SIDES = {word.rstrip("~+"): word[len(word.rstrip("~+")) :] for word in TABLES["approximate"].split()}
_SIGN = re.compile(r"[~≈]\s?[$€£¥]?$")


@dataclass(frozen=True)
class Quantity:
    """A number, ordinal, percentage or date by its value; two spellings of one value are equal.

    ``low`` and ``high`` are equal except for decades and centuries. 25 % has the value 25. A date has its year in
    ``low`` and ``high``: the first and last year of a decade or a century, negative for BC, 0 if not given; and its
    month (1–12) and day (1–31), 0 if not given.
    """

    kind: Kind
    low: Fraction
    high: Fraction
    month: int = 0
    day: int = 0
    # tolerance below and above the value, for matching a source's value: (0, 0) for an exact quantity
    slack: tuple[Fraction, Fraction] = (ZERO, ZERO)
    text: str = field(default="", compare=False)  # as spelt; ignored in comparisons

    @property
    def exact(self) -> bool:
        """Whether the quantity has no tolerance."""
        return not any(self.slack)

    @property
    def least(self) -> Fraction:
        """The least value that matches it."""
        return self.low - self.slack[0]

    @property
    def most(self) -> Fraction:
        """The greatest value that matches it."""
        return self.high + self.slack[1]


@dataclass(frozen=True)
class Mention:
    """A span of text that states a quantity, with its possible readings."""

    start: int
    end: int
    readings: tuple[Quantity, ...]  # the alternatives, most likely first; at least one
    written: Written = "digits"
    scale: Fraction = ONE  # the factor of a magnitude word ("million")
    counted: str = ""  # the word after it in lower case, if there is one


def number(value: Fraction | int, kind: Kind = "number") -> Quantity:
    """An exact number, ordinal or percentage."""
    return Quantity(kind, Fraction(value), Fraction(value))


def fraction_readings(share: Fraction) -> tuple[Quantity, ...]:
    """The readings of a fraction: as percentage, exact and rounded, and as number."""
    hundredths = share * 100
    percentages = dict.fromkeys([hundredths, Fraction(round(hundredths)), Fraction(round(hundredths * 10), 10)])
    return (*(number(value, "percent") for value in percentages), number(share))


def day_of(year: int, month: int = 0, day: int = 0) -> Quantity:
    """A date; 0 for parts not given."""
    return Quantity("date", Fraction(year), Fraction(year), month, day)


def years(first: int, last: int) -> Quantity:
    """A decade or a century."""
    return Quantity("date", Fraction(first), Fraction(last))


def rounded(mention: Mention, plain: str, before: Sequence[str]) -> tuple[Quantity, ...]:
    """The readings of a mention, with the tolerance that a word such as "about" implies.

    A rounded value matches values that round to it at its last significant digit: "about 360" matches 355 to 365,
    "nearly 400" 300 to 400, "more than 100" 100 to 200. ``before``: the one or two words before it.
    """
    known = _SIDES.keys() if plain[mention.start].isdigit() else _SIDES.keys() - {"c", "ca"}
    sides = {_SIDES[word] for word in before if word in known}
    if plain[mention.end : mention.end + 1] == "+":
        sides.add("+")
    if _SIGN.search(plain[max(0, mention.start - 3) : mention.start]):
        sides.add("")
    return tuple(_with_tolerance(q, sides) for q in mention.readings) if sides else mention.readings


def _with_tolerance(quantity: Quantity, sides: set[str]) -> Quantity:
    unit = unit_of(quantity.low)
    below = max(ZERO, *({"~": unit, "+": ZERO, "": unit / 2}[side] for side in sides))
    above = max(ZERO, *({"~": ZERO, "+": unit, "": unit / 2}[side] for side in sides))
    return replace(quantity, slack=(Fraction(below), Fraction(above)))
