"""Files that others may have written, or changed since an earlier start."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from storm_pipeline.api import NotReadError, read_bounded, reading, size_of
from storm_training.errors import TrainingError

T = TypeVar("T")
_LARGEST = 2**29  # bytes of a file


def isolated(path: Path, read: Callable[[str], Iterator[T]], what: str) -> list[T]:
    """Return what a module's function yields of a file, in a process of its own. Raises TrainingError: it cannot."""
    try:
        return reading.read(read, str(path.absolute()), size=size_of(path))
    except NotReadError as error:
        raise TrainingError(f"{path} does not hold {what}: it {error}") from error


def rows_of(path: str) -> Iterator[Any]:
    """Yield the values of a file of JSON lines."""
    return map(json.loads, filter(str.strip, text_of(Path(path)).split("\n")))


def text_of(path: Path) -> str:
    """Return the text of a file. Raises TrainingError: it cannot be read, is not a file, too large, or not UTF-8."""
    try:
        return read_bounded(path, _LARGEST).decode("utf-8")
    except (OSError, ValueError) as error:
        raise TrainingError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


@contextmanager
def undamaged(path: Path) -> Iterator[None]:
    """Raise TrainingError if the block finds that a file has not what an earlier start wrote to it."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise TrainingError(f"{path} is damaged ({error}): remove it to start anew") from error
