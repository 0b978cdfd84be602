"""The bench's own errors, below the package's base class."""

from storm_pipeline import StormError


class MetricError(StormError):
    """A metric lacks what it needs: weights, data, or a judge that can be asked."""


class ExperimentError(StormError):
    """An experiment's results cannot be read, written or evaluated: absent, damaged, of a newer version, or too few."""
