"""How far a support judge can be trusted: against people's labels, and on citations that were swapped on purpose.

A judge that always says yes has a high F1 wherever most claims are supported, so AUC and balanced accuracy are told
beside it, and what always saying yes would score. Intervals come from a bootstrap over questions, because claims of one
question stand or fall together.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storm_pipeline.evaluation.judges.base import Pair, Parameters, SupportJudge
from storm_pipeline.evaluation.judging_tasks import Task

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
_CONFIDENCE = 95.0


@dataclass(frozen=True)
class Interval:
    """A value in [0, 1] and its 95 % bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """As in a table: ``0.64 (0.58–0.70)``."""
        return f"{self.value:.2f} ({self.low:.2f}–{self.high:.2f})"


@dataclass(frozen=True)
class CalibrationRow:
    """A judge on one task.

    Attributes:
        task: name of the task.
        pairs: how many were judged.
        positives: share of them that are supported.
        auc: chance that a supported pair scores higher than one that is not, ties counting half; always yes: 0.5.
        balanced_accuracy: mean of the shares judged right among both kinds, at the threshold; always yes: 0.5.
        f1: of the supported kind, at the threshold.
        always_yes: F1 of always saying yes.
    """

    task: str
    pairs: int
    positives: float
    auc: Interval
    balanced_accuracy: Interval
    f1: Interval
    always_yes: float


@dataclass(frozen=True)
class Calibration:
    """What a judge is worth, to be printed beside every score that rests on it."""

    judge: str
    parameters: Parameters
    rows: tuple[CalibrationRow, ...]

    def to_markdown(self) -> str:
        """A table, a row a task, under a line that names judge and parameters."""
        told = ", ".join(
            f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
            for name, value in self.parameters.items()
        )
        head = "| task | pairs | supported | AUC | balanced accuracy | F1 | F1 of always yes |"
        rows = [
            f"| {row.task} | {row.pairs} | {row.positives:.0%} | {row.auc} | {row.balanced_accuracy} | {row.f1} "
            f"| {row.always_yes:.2f} |"
            for row in self.rows
        ]
        title = f"Judge `{self.judge}`" + (f" ({told})" if told else "")
        return "\n".join(
            [f"{title}. Always yes has AUC and balanced accuracy 0.50.", "", head, "|---" * 7 + "|", *rows]
        )


def calibrate(judge: SupportJudge, given: Iterable[Task], *, resamples: int = 1000, seed: int = 0) -> Calibration:
    """Judge every task and measure; tasks that lack one of the two kinds are left out.

    Args:
        judge: what is measured; asked for all pairs in one batch, distinct ones once.
        given: pairs with known answers.
        resamples: of the bootstrap.
        seed: of the bootstrap.
    """
    fit = [task for task in given if len({item.positive for item in task.items}) == 2]
    pairs = list(dict.fromkeys(item.pair for task in fit for item in task.items))
    known = dict(zip(pairs, judge.scores(pairs), strict=True))
    rows = tuple(_row(task, known, judge.threshold, resamples, seed) for task in fit)
    return Calibration(judge.name, judge.parameters, rows)


def auc(scores: Floats, positive: Bools) -> float:
    """Area under the ROC curve: the chance that a positive scores higher than a negative, ties counting half.

    NaN where one of the two kinds is absent.
    """
    pos, neg = int(positive.sum()), int((~positive).sum())
    if not pos or not neg:
        return float("nan")
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    mean_rank = (np.cumsum(count) - (count - 1) / 2)[place]
    return float((mean_rank[positive].sum() - pos * (pos + 1) / 2) / (pos * neg))


def balanced_accuracy(verdicts: Bools, positive: Bools) -> float:
    """Mean of the share of positives judged so and of negatives judged so; NaN where one kind is absent."""
    if positive.all() or not positive.any():
        return float("nan")
    return float((verdicts[positive].mean() + (~verdicts[~positive]).mean()) / 2)


def f1(verdicts: Bools, positive: Bools) -> float:
    """Harmonic mean of precision and recall of the positive verdict; 0 where nothing is judged positive rightly."""
    right = int((verdicts & positive).sum())
    return 2 * right / int(verdicts.sum() + positive.sum()) if right else 0.0


def _row(task: Task, known: dict[Pair, float], threshold: float, resamples: int, seed: int) -> CalibrationRow:
    scores = np.array([known[item.pair] for item in task.items])
    positive = np.array([item.positive for item in task.items])
    verdicts = scores >= threshold
    draws = list(_draws([item.group for item in task.items], resamples, seed))

    def interval(measure: Callable[[npt.NDArray[np.intp]], float]) -> Interval:
        found = [value for draw in draws if not np.isnan(value := measure(draw))]
        ends = np.percentile(found, [(100 - _CONFIDENCE) / 2, (100 + _CONFIDENCE) / 2]) if found else (np.nan, np.nan)
        return Interval(measure(np.arange(len(scores))), float(ends[0]), float(ends[1]))

    share = float(positive.mean())
    return CalibrationRow(
        task.name,
        len(scores),
        share,
        auc=interval(lambda draw: auc(scores[draw], positive[draw])),
        balanced_accuracy=interval(lambda draw: balanced_accuracy(verdicts[draw], positive[draw])),
        f1=interval(lambda draw: f1(verdicts[draw], positive[draw])),
        always_yes=2 * share / (1 + share),
    )


def _draws(groups: Sequence[str], resamples: int, seed: int) -> Iterable[npt.NDArray[np.intp]]:
    """Places of the items of as many groups as there are, drawn with replacement."""
    members: dict[str, list[int]] = {}
    for i, group in enumerate(groups):
        members.setdefault(group, []).append(i)
    places = [np.array(own, dtype=np.intp) for own in members.values()]
    drawn = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.concatenate([places[i] for i in drawn.integers(0, len(places), len(places))])
