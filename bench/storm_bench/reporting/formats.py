"""Formats of a report's numbers and names: plain text, which the template escapes."""

import math
from collections.abc import Iterable, Sequence

from storm_bench.metrics.base import Measure
from storm_bench.significance import MeanInterval

WITHOUT_JUDGE = (
    "no judge of citations is named, and the screen, which checks articles while they are written, does not grade "
    "them; name one with --judge lm:MODEL, or --judge-lm MODEL, which grades as well"
)
UNDEFINED, UNSCORED = "–", "·"
"""Symbols for undefined and for unscored values."""


def digits(values: Iterable[float]) -> int:
    """Return the decimal places of means and differences: 3 below 10, more if all values are below 0.01."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if largest >= 10:
        return 0 if largest >= 1000 else 1
    return 3 if largest >= 0.01 or largest == 0 else min(8, 2 - math.floor(math.log10(largest)))


def digits_of_values(values: Sequence[float]) -> int:
    """Return the decimal places of a column of single values: 0 if all are whole numbers."""
    return 0 if all(value.is_integer() for value in map(float, values) if math.isfinite(value)) else digits(values)


def number(value: float | None, places: int) -> str:
    """Format a number with thousands separators; one that is undefined as a dash."""
    return UNDEFINED if value is None or not math.isfinite(value) else f"{value:,.{places}f}"


def signed(value: float) -> str:
    """Format a difference with its sign."""
    return f"{value:+,.{digits([value])}f}"


def bounds(found: MeanInterval, places: int) -> str:
    """Format the ends of an interval; empty if there is none."""
    if found.low is None or found.high is None:
        return ""
    return f"[{number(found.low, places)}, {number(found.high, places)}]"


def p_value(value: float | None) -> str:
    """Format a p-value; a dash without a test."""
    if value is None or math.isnan(value):
        return UNDEFINED
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def column(measure: Measure) -> str:
    """Name a measure as a column header, with an arrow in the better direction."""
    return measure.name + {"higher": " ↑", "lower": " ↓"}.get(measure.better, "")


def plural(counted: Sequence[object] | int, noun: str) -> str:
    """Count things: ``1 topic``, ``2 topics``."""
    count = counted if isinstance(counted, int) else len(counted)
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listed(names: Sequence[str]) -> str:
    """Join names to a phrase: ``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
