"""Numbers and dates of a text, compared by value: whether what a sentence counts and dates stands in its sources."""

from storm_pipeline.quantities.checking import first_day, missing, quantities
from storm_pipeline.quantities.values import Kind, Quantity

__all__ = ["Kind", "Quantity", "first_day", "missing", "quantities"]
