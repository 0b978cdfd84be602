"""Calibrations of support judges against known answers, which reports print beside the scores that rest on them.

A judge that always says yes has a high F1 where most claims are supported, so AUC, balanced accuracy and the F1 of
always saying yes are given as well. Intervals are bootstrapped over questions, because claims of one question are
correlated.
"""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pydantic import TypeAdapter

from storm_bench.judges.base import Parameters, ScoringJudge


@dataclass(frozen=True)
class MetricInterval:
    """A value in [0, 1] and its 95 % bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """As in a table: ``0.64 (0.58–0.70)``."""
        return f"{self.value:.2f} ({self.low:.2f}–{self.high:.2f})"


@dataclass(frozen=True)
class CalibrationRow:
    """How well a judge's scores agree with the known answers of one task."""

    task: str  # its name
    pairs: int  # judged pairs
    positives: float  # share of supported pairs
    auc: MetricInterval  # probability that a supported pair scores above an unsupported one, ties counting half
    balanced_accuracy: MetricInterval  # mean of the true positive and true negative rates at the threshold
    f1: MetricInterval  # of the supported class, at the threshold
    always_yes: float  # F1 of always saying yes

    def cells(self) -> tuple[str, ...]:
        """Return the row of a table with :data:`COLUMNS`; pairs with thousands separators."""
        intervals = (self.auc, self.balanced_accuracy, self.f1)
        return (self.task, f"{self.pairs:,}", f"{self.positives:.0%}", *map(str, intervals), f"{self.always_yes:.2f}")


COLUMNS = ("task", "pairs", "supported", "AUC", "balanced accuracy", "F1", "F1 of always yes")
"""Heads of a table of :class:`CalibrationRow`."""


@dataclass(frozen=True)
class Calibration:
    """A judge's calibration, to be printed beside every score based on it."""

    judge: str
    parameters: Parameters
    rows: tuple[CalibrationRow, ...]

    @property
    def cells(self) -> list[tuple[str, ...]]:
        """The rows as texts, under :data:`COLUMNS`."""
        return [row.cells() for row in self.rows]


@cache
def known_calibrations() -> tuple[Calibration, ...]:
    """Return the shipped calibrations, which reports print without the data: ``known_calibrations.json``.

    It holds the rounded output of ``storm_benchmarks.judges``, a program of commit a4f5c3a0: claims of ExpertQA against
    the experts' labels, with swapped citations and with changed numbers; for the screen of statements, of the same
    with ``--statements`` at commit c8f15f73.
    """
    shipped = files("storm_bench").joinpath("known_calibrations.json").read_bytes()
    return TypeAdapter(tuple[Calibration, ...]).validate_json(shipped)


def known_calibration(judge: ScoringJudge) -> Calibration | None:
    """Return the shipped calibration of a judge with this name and these parameters, or None."""
    parameters = dict(judge.parameters)
    return next((c for c in known_calibrations() if c.judge == judge.name and c.parameters == parameters), None)
