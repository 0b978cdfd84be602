"""Tolerances of rounded quantities: about 360, nearly 400, more than 100, 400+."""

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from storm_pipeline.quantities import number_tables
from storm_pipeline.quantities.literals import unit_of
from storm_pipeline.quantities.values import ZERO, Mention, Quantity

_SIDES = {word.rstrip("~+"): word[len(word.rstrip("~+")) :] for word in number_tables.APPROXIMATE.split()}
_SIGN = re.compile(r"[~≈]\s?[$€£¥]?$")


def rounded(mention: Mention, plain: str, before: Sequence[str]) -> tuple[Quantity, ...]:
    """The readings of a mention, with the tolerance that a word such as "about" implies.

    A rounded value matches values that round to it at its last significant digit: "about 360" matches 355 to 365,
    "nearly 400" 300 to 400, "more than 100" 100 to 200.

    Args:
        mention: with exact readings.
        plain: the text that contains it.
        before: the one or two words before it.
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
