"""Numbers and dates in text, compared by value, to check a sentence's figures against its sources."""

from storm_pipeline.quantities.checking import (
    differing,
    differing_dates,
    full_dates,
    missing,
    quantities,
    without_quantities,
)
from storm_pipeline.quantities.values import Quantity

__all__ = [
    "Quantity",
    "differing",
    "differing_dates",
    "full_dates",
    "missing",
    "quantities",
    "without_quantities",
]
