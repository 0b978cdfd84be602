"""The training's own error, below the package's base class."""

from storm_pipeline import StormError


class TrainingError(StormError):
    """A stage cannot go on: its data, its configuration or a checkpoint cannot be used, or the loss is not a number."""
