"""Calibration of support judges against expert labels and deliberately swapped citations.

A judge that always says yes has a high F1 where most claims are supported, so AUC, balanced accuracy and the F1 of
always saying yes are reported as well. Intervals are bootstrapped over questions, because claims of one question are
correlated.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter

from storm_bench.judges.base import Pair, scores_of
from storm_bench.judging_tasks import CalibrationTask
from storm_pipeline.evidence.judges.base import Judge, Parameters

_CONFIDENCE = 95.0


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


def calibrate(judge: Judge, tasks: Iterable[CalibrationTask], *, resamples: int = 1000, seed: int = 0) -> Calibration:
    """Run a judge on tasks and measure it; tasks without both classes are left out.

    Args:
        judge: the judge to calibrate; scores all distinct pairs in one batch.
        tasks: pairs with known answers.
        resamples: number of bootstrap resamples.
        seed: seed of the bootstrap.
    """
    usable = [task for task in tasks if len({item.positive for item in task.items}) == 2]
    pairs = list(dict.fromkeys(item.pair for task in usable for item in task.items))
    known = dict(zip(pairs, scores_of(judge, pairs), strict=True))
    rows = tuple(_row(task, known, judge.threshold, resamples, seed) for task in usable)
    return Calibration(judge.name, judge.parameters, rows)


def _row(
    task: CalibrationTask, known: dict[Pair, float], threshold: float, resamples: int, seed: int
) -> CalibrationRow:
    from sklearn import metrics

    scores = np.array([known[item.pair] for item in task.items])
    positive = np.array([item.positive for item in task.items])
    verdicts = scores >= threshold
    groups = [item.group for item in task.items]

    def interval(measure: Callable[..., float], found: npt.NDArray[Any]) -> MetricInterval:
        def drawn(draw: npt.NDArray[np.intp]) -> float:
            return float(measure(positive[draw], found[draw])) if 0 < positive[draw].sum() < len(draw) else np.nan

        return over_groups(drawn, groups, resamples=resamples, seed=seed)

    share = float(positive.mean())
    return CalibrationRow(
        task.name,
        len(scores),
        share,
        auc=interval(metrics.roc_auc_score, scores),
        balanced_accuracy=interval(metrics.balanced_accuracy_score, verdicts),
        f1=interval(metrics.f1_score, verdicts),
        always_yes=2 * share / (1 + share),
    )


def over_groups(
    measure: Callable[[npt.NDArray[np.intp]], float], groups: Sequence[str], *, resamples: int = 1000, seed: int = 0
) -> MetricInterval:
    """Return a measure of the items at given indices, with its interval by bootstrap over their groups."""
    draws = _resampled(groups, resamples, seed)
    found = [value for draw in draws if not np.isnan(value := measure(draw))]
    ends = np.percentile(found, [(100 - _CONFIDENCE) / 2, (100 + _CONFIDENCE) / 2]) if found else (np.nan, np.nan)
    return MetricInterval(measure(np.arange(len(groups))), float(ends[0]), float(ends[1]))


def _resampled(groups: Sequence[str], resamples: int, seed: int) -> Iterable[npt.NDArray[np.intp]]:
    """Yield item indices of groups resampled with replacement, one array per resample."""
    members: dict[str, list[int]] = {}
    for i, group in enumerate(groups):
        members.setdefault(group, []).append(i)
    indices = [np.array(member, dtype=np.intp) for member in members.values()]
    rng = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.concatenate([indices[i] for i in rng.integers(0, len(indices), len(indices))])


@cache
def known_calibrations() -> tuple[Calibration, ...]:
    """Return the shipped calibrations, which reports print without the data: ``known_calibrations.json``.

    It holds the rounded output of ``python -m storm_benchmarks.judges --value`` and, for the screen of statements, of
    the same with ``--statements`` at commit c8f15f73, the last that had it.
    """
    shipped = files("storm_bench").joinpath("known_calibrations.json").read_bytes()
    return TypeAdapter(tuple[Calibration, ...]).validate_json(shipped)


def known_calibration(judge: Judge) -> Calibration | None:
    """Return the shipped calibration of a judge with this name and these parameters, or None.

    An int8 embedder counts as its float32 original: their vectors are nearly equal.
    """
    name, parameters = judge.name.removesuffix("+int8"), dict(judge.parameters)
    return next((c for c in known_calibrations() if c.judge == name and c.parameters == parameters), None)
