"""What every metric is: names with ranges, parameters, the definition's origin, and a batch of cases to scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from storm_pipeline.evaluation.types import Case


@dataclass(frozen=True)
class Measure:
    """One number that a metric gives.

    Attributes:
        name: short and stable; a column of the tables, e.g. ``rouge_1``.
        low: least value possible.
        high: greatest value possible; infinite where there is no bound.
        better: ``higher``, ``lower``, or ``neither`` for what merely describes.
    """

    name: str
    low: float = 0.0
    high: float = 1.0
    better: str = "higher"


Score = Mapping[str, float | None]
"""Name of a measure → value; None where it is not defined for the case (no entity in the truth, no citation …)."""

Parameters = Mapping[str, str | int | float]
"""What the numbers of a metric depend on beside the cases."""


class Metric(Protocol):
    """Scores articles. Deterministic: the same cases and parameters give the same scores."""

    @property
    def name(self) -> str:
        """Short and stable; used in file names."""

    @property
    def measures(self) -> Sequence[Measure]:
        """The numbers that it gives, in the order of a table."""

    @property
    def parameters(self) -> Parameters:
        """What the numbers depend on beside the cases: models, versions, limits."""

    @property
    def reference(self) -> str:
        """Where the definition stands: paper and section."""

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score a case, in order.

        Raises:
            MetricError: what the metric needs (weights, data, a judge) cannot be used.
        """


@runtime_checkable
class JudgedMetric(Metric, Protocol):
    """A metric whose numbers rest on judges."""

    @property
    def rests_on(self) -> Sequence[tuple[str, Sequence[Measure]]]:
        """Names of parameters that say who judges, each with what rests on it, in the order of ``measures``."""
