"""The interface of metrics: measures with ranges, parameters, reference, and scoring of a batch of cases."""

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from storm_bench.types import Case
from storm_pipeline import MissingExtraError

_lock = threading.Lock()


@dataclass(frozen=True)
class Measure:
    """One number computed by a metric."""

    name: str  # short and stable; a column of the tables, e.g. ``rouge_1``
    low: float = 0.0  # smallest possible value
    high: float = 1.0  # largest possible value; infinite if unbounded
    better: str = "higher"  # ``higher``, ``lower``, or ``neither`` for descriptive measures


Score = Mapping[str, float | None]
"""Measure → value; None where it is undefined for the case (no entity in the human article, no citation …)."""

Parameters = Mapping[str, str | int | float]
"""Parameters that a metric's values depend on besides the cases."""


@dataclass(frozen=True)
class CaseMetric:
    """A metric as a declaration, with a function that scores one case."""

    name: str  # short and stable; used in file names
    measures: tuple[Measure, ...]  # the numbers it computes, in table order
    reference: str  # paper and section of the definition
    of: Callable[[Case], Score]  # the score of a case
    parameters: Parameters = field(default_factory=dict)  # what the values depend on besides the case
    # (parameter that names a judge, measures that depend on it) pairs, in the order of ``measures``
    rests_on: tuple[tuple[str, tuple[Measure, ...]], ...] = ()

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """Return one score per case, in order."""
        return [self.of(case) for case in cases]


@dataclass(frozen=True)
class BatchMetric:
    """A metric whose judges are asked about all cases at once; attributes as of :class:`CaseMetric`."""

    name: str
    measures: tuple[Measure, ...]
    reference: str
    score: Callable[[Sequence[Case]], list[Score]]
    parameters: Parameters
    rests_on: tuple[tuple[str, tuple[Measure, ...]], ...]


Metric = CaseMetric | BatchMetric
"""Scores articles, one score per case, in order: ``metric.score(cases)``; deterministic for equal cases and parameters.

Scoring raises MetricError: weights, data or a judge that the metric needs cannot be used.
"""


def import_optional(module: str) -> Any:
    """Import a module of an optional library, with import-time warnings suppressed.

    Raises MissingExtraError: it is not installed.
    """
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"this metric needs {module.partition('.')[0]} (no module {error.name!r}): "
                "pip install 'storm-bench[eval]'"
            ) from error
