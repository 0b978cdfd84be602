"""The bench's own errors, below the package's base class."""

from typing import TYPE_CHECKING

from storm_pipeline import StormError

if TYPE_CHECKING:
    from pydantic import ValidationError


class MetricError(StormError):
    """A metric lacks what it needs: weights, data, or a judge that can be asked."""


class ExperimentError(StormError):
    """An experiment's results cannot be read, written or evaluated: absent, damaged, of a newer version, or too few."""


class RatingError(StormError):
    """A round of ratings cannot be used, is closed, or got an answer that does not fit its question."""


def first_problem(error: "ValidationError", whole: str) -> tuple[str, str]:
    """Return where a value is invalid first, such as ``pages.3.url``, and why; ``whole`` names the value itself."""
    first = error.errors()[0]
    return ".".join(map(str, first["loc"])) or whole, first["msg"].removeprefix("Value error, ")
