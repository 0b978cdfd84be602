"""How far a support judge can be trusted: against people's labels, and on citations that were swapped on purpose.

A judge that always says yes has a high F1 wherever most claims are supported, so AUC and balanced accuracy are told
beside it, and what always saying yes would score. Intervals come from a bootstrap over questions, because claims of one
question stand or fall together.
"""

import hashlib
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storm_pipeline.evaluation.datasets.expertqa import LabelledClaim
from storm_pipeline.evaluation.judges.base import Pair, Parameters, SupportJudge

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
_CONFIDENCE = 95.0
_NUMBER = re.compile(r"(?<![\w.,])\d+(?![\w]|[.,]\d)")


@dataclass(frozen=True)
class Item:
    """A pair whose answer is known; ``group`` is the question that it belongs to."""

    pair: Pair
    positive: bool
    group: str


@dataclass(frozen=True)
class Task:
    """Pairs with known answers under one name."""

    name: str
    items: tuple[Item, ...]


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


def halves(claims: Sequence[LabelledClaim]) -> tuple[tuple[LabelledClaim, ...], tuple[LabelledClaim, ...]]:
    """The claims to learn from and those to measure with; all claims of a question are in one half."""
    learn = tuple(claim for claim in claims if _hash(claim.question) % 2 == 0)
    return learn, tuple(claim for claim in claims if _hash(claim.question) % 2)


def sampled(claims: Sequence[LabelledClaim], limit: int) -> tuple[LabelledClaim, ...]:
    """At most ``limit`` of the claims, the same ones each time, in their order."""
    chosen = set(sorted(range(len(claims)), key=lambda i: _hash(f"{claims[i].question}\n{claims[i].claim}"))[:limit])
    return tuple(claim for i, claim in enumerate(claims) if i in chosen)


def tasks(claims: Sequence[LabelledClaim], *, seed: int = 0) -> tuple[Task, ...]:
    """The four tasks.

    - experts: Complete against Partial and Incomplete;
    - another question: a Complete claim with its own passages against the same claim with those of another question;
    - another source: the same, with a page that another claim of the same question cites (which may support it too);
    - changed number: the same claim with one of its numbers changed, own passages both times.

    Args:
        claims: of several questions.
        seed: of the choice of passages and numbers.
    """
    drawn = random.Random(seed)  # noqa: S311 - a choice to be repeated
    complete = [claim for claim in claims if claim.supported]
    own = {claim: Item(Pair(claim.evidence, claim.claim), positive=True, group=claim.question) for claim in complete}

    def against(name: str, other: Callable[[LabelledClaim], Pair | None]) -> Task:
        items = [(own[claim], pair, claim.question) for claim in complete if (pair := other(claim)) is not None]
        return Task(name, tuple(i for true, pair, q in items for i in (true, Item(pair, positive=False, group=q))))

    def another_question(claim: LabelledClaim) -> Pair | None:
        others = [other for other in claims if other.question != claim.question]
        return Pair(drawn.choice(others).evidence, claim.claim) if others else None

    def another_source(claim: LabelledClaim) -> Pair | None:
        mine = {passage.url for passage in claim.passages}
        same = (other for other in claims if other.question == claim.question)
        pages = {p.url: p.text for other in same for p in other.passages if p.url not in mine}
        return Pair(drawn.choice(list(pages.values())), claim.claim) if pages else None

    def changed_number(claim: LabelledClaim) -> Pair | None:
        places = list(_NUMBER.finditer(claim.claim))
        if not places:
            return None
        at = drawn.choice(places)
        number = str(int(at[0]) + drawn.choice((-3, -2, -1, 1, 2, 3)) if int(at[0]) > 3 else int(at[0]) + 2)
        return Pair(claim.evidence, claim.claim[: at.start()] + number + claim.claim[at.end() :])

    experts = tuple(Item(Pair(c.evidence, c.claim), positive=c.supported, group=c.question) for c in claims)
    return (
        Task("experts", experts),
        against("another question", another_question),
        against("another source", another_source),
        against("changed number", changed_number),
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


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
