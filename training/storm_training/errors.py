"""The training's own error, below the package's base class."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storm_pipeline import StormError


class TrainingError(StormError):
    """A stage cannot go on: its data, its configuration or a checkpoint cannot be used, or the loss is not a number."""


@contextmanager
def undamaged(path: Path) -> Iterator[None]:
    """Raise TrainingError if the block finds that a file has not what an earlier start wrote to it."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TrainingError(f"{path} is damaged ({error}): remove it to start anew") from error
