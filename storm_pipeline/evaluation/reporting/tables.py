"""The numbers of the report's tables: means with intervals, and paired comparisons with the baseline."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from storm_pipeline.evaluation.metrics.base import Measure
from storm_pipeline.evaluation.reporting.groups import Group, grouped
from storm_pipeline.evaluation.reporting.results import ExperimentResults, topic_means
from storm_pipeline.evaluation.significance import Comparison, Interval, compare, holm, interval

LEVEL = 0.05
"""A difference is significant where the corrected p is below it."""


@dataclass(frozen=True)
class Mean:
    """A method's mean of a measure over topics.

    Attributes:
        interval: mean with 95 % bootstrap interval and number of topics; None where no topic has a value.
        best: no method of the table has a better mean, and there are others to compare with.
        articles: that there are of the method, failures left out.
        undefined: those of them for which the measure is not defined (None, or a value that is not finite).
        unscored: those of them that the measure was not asked for.
        topics: those that have a value.
    """

    interval: Interval | None
    best: bool
    articles: int
    undefined: int
    unscored: int
    topics: frozenset[str]


@dataclass(frozen=True)
class Paired:
    """A method against the baseline in one measure, over the topics that both have a value for.

    Attributes:
        method: the one that is not the baseline.
        measure: what is compared.
        comparison: difference (method minus baseline), number of topics and the two tests.
        interval: of the difference.
        corrected_t: p of the t-test, corrected by Holm's method over the table; None where there is no test.
        corrected_permutation: likewise of the permutation test.
    """

    method: str
    measure: Measure
    comparison: Comparison
    interval: Interval
    corrected_t: float | None
    corrected_permutation: float | None

    @property
    def significant(self) -> bool:
        """Whether the corrected permutation test says that the difference is more than chance."""
        return self.corrected_permutation is not None and self.corrected_permutation < LEVEL

    @property
    def better(self) -> bool:
        """Whether the method's mean is on the measure's better side of the baseline's."""
        difference = self.comparison.difference
        return difference < 0 if self.measure.better == "lower" else difference > 0


@dataclass(frozen=True)
class Table:
    """One table of the report.

    Attributes:
        group: its plan.
        measures: its columns: those of the group for which an article has a value.
        methods: its rows.
        means: a row a method, a cell a measure.
        paired: the comparisons with the baseline; none for what merely describes.
    """

    group: Group
    measures: tuple[Measure, ...]
    methods: tuple[str, ...]
    means: tuple[tuple[Mean, ...], ...]
    paired: tuple[Paired, ...]


def tables(results: ExperimentResults) -> tuple[Table, ...]:
    """The tables that have at least one value, in the order of the papers'."""
    found = []
    for group, measures in grouped(results.measures):
        own = tuple(m for m in measures if any(topic_means(results, name, m.name) for name in results.methods))
        if own:
            columns = [_column(results, measure) for measure in own]
            rows = tuple(zip(*columns, strict=True))
            found.append(Table(group, own, results.methods, rows, _paired(results, own)))
    return tuple(found)


def differences(results: ExperimentResults, method: str, measure: str) -> dict[str, float]:
    """Topic → the method's value minus the baseline's, for the topics that both have one for."""
    own, other = (topic_means(results, name, measure) for name in (method, results.baseline))
    return {topic: own[topic] - other[topic] for topic in results.topics if topic in own and topic in other}


def _column(results: ExperimentResults, measure: Measure) -> list[Mean]:
    """A measure's means, one a method."""
    values = [topic_means(results, method, measure.name) for method in results.methods]
    known = [interval(list(own.values())) if own else None for own in values]
    means = [found.mean for found in known if found is not None]
    best = {"higher": max, "lower": min}.get(measure.better)
    target = best(means) if best and len(means) > 1 else math.nan
    return [
        _mean(results, method, measure.name, found, own.keys(), best=found is not None and found.mean == target)
        for method, found, own in zip(results.methods, known, values, strict=True)
    ]


def _mean(
    results: ExperimentResults, method: str, measure: str, found: Interval | None, topics: Iterable[str], *, best: bool
) -> Mean:
    articles = [result for result in results.results if result.method == method and not result.failure]
    given = [result.values[measure] for result in articles if measure in result.values]
    undefined = sum(value is None or not math.isfinite(value) for value in given)
    return Mean(found, best, len(articles), undefined, len(articles) - len(given), frozenset(topics))


def _paired(results: ExperimentResults, measures: Sequence[Measure]) -> tuple[Paired, ...]:
    """Every other method against the baseline, corrected over all comparisons of the table.

    A measure with one and the same value everywhere is left out: it could only make the correction harsher.
    """
    rows: list[tuple[str, Measure, Comparison, Interval]] = []
    for method in results.methods:
        for measure in measures:
            apart = differences(results, method, measure.name)
            if method != results.baseline and apart and _comparable(results, measure):
                own, other = (topic_means(results, name, measure.name) for name in (method, results.baseline))
                rows.append((method, measure, compare(own, other), interval(list(apart.values()))))
    by_t = holm([comparison.t_test for _, _, comparison, _ in rows])
    by_flips = holm([comparison.permutation for _, _, comparison, _ in rows])
    return tuple(Paired(*row, t, flips) for row, t, flips in zip(rows, by_t, by_flips, strict=True))


def _comparable(results: ExperimentResults, measure: Measure) -> bool:
    values = {v for own in results.methods for v in topic_means(results, own, measure.name).values()}
    return measure.better != "neither" and len(values) > 1
