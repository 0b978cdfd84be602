"""The numbers of the report's tables: means with intervals, and paired comparisons with the baseline."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from storm_bench.errors import ExperimentError
from storm_bench.metrics.base import Measure
from storm_bench.reporting.groups import Group, grouped
from storm_bench.reporting.results_file import WORDS_ASKED, ExperimentResults, Result, topic_means
from storm_bench.significance import Comparison, MeanInterval, compare, holm, interval, smallest_p

LEVEL = 0.05
"""Significance level for corrected p-values."""
_MOST = 200_000  # methods × measures × (topics + 50), which is what tests and intervals take time for: a minute
_AS_MANY = 1.02  # largest ratio of the words that methods were asked for at which these count as equal


@dataclass(frozen=True)
class Mean:
    """A method's mean of a measure over the topics on which all methods wrote (:func:`shared_topics`)."""

    interval: MeanInterval | None  # mean with 95 % interval and number of topics; None if no topic has a value
    best: bool  # whether no method has a better mean and at least two methods have one
    articles: int  # number of written articles
    undefined: int  # number of them for which the measure is undefined (None or not finite)
    unscored: int  # number of them that were not scored
    topics: frozenset[str]  # topics with a value


@dataclass(frozen=True)
class Paired:
    """A method compared with the baseline in one measure, over the topics for which both have a value."""

    method: str  # the compared method
    measure: Measure  # the compared measure
    comparison: Comparison  # difference (method minus baseline), number of topics, and both tests
    interval: MeanInterval  # interval of the difference
    corrected_t: float | None  # p of the t-test, Holm-corrected over the table; None without a test
    corrected_permutation: float | None  # likewise of the permutation test

    @property
    def significant(self) -> bool:
        """Whether the corrected permutation test is significant."""
        return self.corrected_permutation is not None and self.corrected_permutation < LEVEL

    @property
    def better(self) -> bool:
        """Whether the method's mean is better than the baseline's."""
        difference = self.comparison.difference
        return difference < 0 if self.measure.better == "lower" else difference > 0


@dataclass(frozen=True)
class Table:
    """One table of the report."""

    group: Group  # its layout
    measures: tuple[Measure, ...]  # its columns: the group's measures with at least one value
    methods: tuple[str, ...]  # its rows
    failed: tuple[int, ...]  # number of articles of each method that could not be written
    means: tuple[tuple[Mean, ...], ...]  # one row per method, one cell per measure
    paired: tuple[Paired, ...]  # comparisons with the baseline; none for descriptive measures
    unjudged: frozenset[str] = frozenset()  # measures that nobody judged, which have no values

    @property
    def directed(self) -> list[Measure]:
        """The judged measures of which more or less is better."""
        return [m for m in self.measures if m.name not in self.unjudged and m.better != "neither"]

    @property
    def tested(self) -> list[Paired]:
        """The comparisons that could be tested."""
        return [paired for paired in self.paired if paired.corrected_permutation is not None]

    @property
    def limit(self) -> "Limit":
        """The smallest p that the permutation tests of the table can give."""
        counts = [paired.comparison.topics for paired in self.tested]
        floor = min(p for count in counts if (p := smallest_p(count)) is not None)
        power = 2 / 2 ** max(counts)
        shown = f"2/2^{max(counts)} = {floor:.3g}" if floor == power else f"{floor:.1g}"
        return Limit(max(counts), shown, min(1.0, floor * len(counts)))

    @property
    def gaps(self) -> list[tuple[str, str, list[str]]]:
        """Measure, ``defined`` or ``scored``, and what each method lacks of its articles, such as ``rr 1 of 3``."""
        found = []
        for measure, own in zip(self.measures, zip(*self.means, strict=True), strict=True):
            lacking = {"defined": [mean.undefined for mean in own], "scored": [mean.unscored for mean in own]}
            for what, counts in lacking.items() if measure.name not in self.unjudged else ():
                rows = zip(self.methods, counts, own, strict=True)
                if told := [f"{method} {count} of {mean.articles}" for method, count, mean in rows if count]:
                    found.append((measure.name, what, told))
        return found

    @property
    def mixed(self) -> list[str]:
        """The measures whose means are over different topics, so that methods cannot be ranked by them."""
        known = [{mean.topics for mean in own if mean.topics} for own in zip(*self.means, strict=True)]
        return [measure.name for measure, own in zip(self.measures, known, strict=True) if len(own) > 1]


class Limit(NamedTuple):
    """The smallest p of a table's permutation tests: by topics of the largest, as shown, and after correction."""

    topics: int
    shown: str
    corrected: float


def tables(results: ExperimentResults) -> tuple[Table, ...]:
    """Return the tables with at least one value, in report order. Raises ExperimentError: there are too many."""
    many, kinds, topics = map(len, (results.methods, results.measures, results.topics))
    if many * kinds * (topics + 50) > _MOST:
        what = f"{many:,} methods, {kinds:,} measures and {topics:,} topics"
        raise ExperimentError(f"{what} are too many to compare in a report: make smaller experiments")
    found = []
    lost = Counter(result.method for result in results.results if result.failure)
    failed = tuple(lost[method] for method in results.methods)
    shared = shared_topics(results)
    written = any(results.written.values())
    for group, measures in grouped(results.measures):
        own = tuple(
            measure
            for measure in measures
            if (measure.name in results.unjudged and written)
            or any(topic_means(results, name, measure.name) for name in results.methods)
        )
        if own:
            shown = (*own, *(measure for measure in results.measures if measure.name in group.beside))
            columns = [_column(results, measure, shared) for measure in shown]
            rows = tuple(zip(*columns, strict=True))
            found.append(Table(group, shown, results.methods, failed, rows, _paired(results, own), results.unjudged))
    return tuple(found)


def with_failures(results: ExperimentResults) -> ExperimentResults:
    """Return the results where a failed article has the worst value of each measure.

    Measures without a worst value are left out. A topic on which no article has a value of a measure is left out of it.
    """
    judged = (measure for measure in results.measures if measure.name not in results.unjudged)
    worst = {own.name: low for own in judged if math.isfinite(low := _worst(own))}
    known = {name: {t for m in results.methods for t in topic_means(results, m, name)} for name in worst}

    def counted(result: Result) -> Result:
        values = {name: value for name, value in worst.items() if result.topic in known[name]}
        return replace(result, values=values, failure="") if result.failure else result

    measures = tuple(measure for measure in results.measures if measure.name in worst)
    return replace(results, results=tuple(map(counted, results.results)), measures=measures)


def on_all_topics(results: ExperimentResults, table: Table) -> Table | None:
    """Return a table's means over all topics by :func:`with_failures`; None without failures or measures."""
    every = with_failures(results)
    measures = tuple(measure for measure in table.measures if measure in every.measures)
    if not any(table.failed) or not measures:
        return None
    columns = [_column(every, measure, frozenset(results.topics)) for measure in measures]
    return replace(table, measures=measures, means=tuple(zip(*columns, strict=True)), paired=())


def _worst(measure: Measure) -> float:
    return {"higher": measure.low, "lower": measure.high}.get(measure.better, math.nan)


def unequal_topics(results: ExperimentResults) -> dict[str, dict[str, float]]:
    """Return the topics on which methods were asked for unequal numbers of words → method → these words."""
    asked: dict[str, dict[str, float]] = {}
    for method in results.methods:
        for topic, words in topic_means(results, method, WORDS_ASKED.name).items():
            asked.setdefault(topic, {})[method] = words
    return {topic: own for topic, own in asked.items() if max(own.values()) > _AS_MANY * min(own.values())}


def differences(results: ExperimentResults, method: str, measure: str) -> dict[str, float]:
    """Return topic → the method's value minus the baseline's, for the topics for which both have one."""
    own, other = (topic_means(results, name, measure) for name in (method, results.baseline))
    return {topic: own[topic] - other[topic] for topic in results.topics if topic in own and topic in other}


def shared_topics(results: ExperimentResults) -> frozenset[str]:
    """Return the topics on which every method that wrote anything wrote an article; all topics if they share none."""
    wrote = [{result.topic for result in own} for own in results.written.values() if own]
    return frozenset(set.intersection(*wrote) if wrote else ()) or frozenset(results.topics)


def _column(results: ExperimentResults, measure: Measure, shared: frozenset[str]) -> list[Mean]:
    """Return a measure's means, one per method."""
    written = [topic_means(results, method, measure.name) for method in results.methods]
    values = [{topic: own[topic] for topic in own if topic in shared} for own in written]
    known = [interval(list(value.values()), measure.low, measure.high) if value else None for value in values]
    means = [found.mean for found in known if found is not None]
    best = {"higher": max, "lower": min}.get(measure.better)
    target = best(means) if best and len(means) > 1 else math.nan
    column = []
    for articles, found, value in zip(results.written.values(), known, values, strict=True):
        given = [result.values[measure.name] for result in articles if measure.name in result.values]
        undefined = sum(value is None or not math.isfinite(value) for value in given)
        counts = (len(articles), undefined, len(articles) - len(given))
        column.append(Mean(found, found is not None and found.mean == target, *counts, frozenset(value)))
    return column


def _paired(results: ExperimentResults, measures: Sequence[Measure]) -> tuple[Paired, ...]:
    """Return all other methods compared with the baseline, corrected over all comparisons of the table.

    A measure with the same value everywhere is left out: it would only make the correction stricter.
    """
    rows: list[tuple[str, Measure, Comparison, MeanInterval]] = []
    comparable = [measure for measure in measures if _comparable(results, measure)]
    for method in results.methods:
        for measure in comparable:
            pairs = differences(results, method, measure.name)
            if method != results.baseline and pairs:
                own, other = (topic_means(results, name, measure.name) for name in (method, results.baseline))
                most = measure.high - measure.low
                rows.append((method, measure, compare(own, other), interval(list(pairs.values()), -most, most)))
    by_t = holm([comparison.t_test for _, _, comparison, _ in rows])
    by_flips = holm([comparison.permutation for _, _, comparison, _ in rows])
    return tuple(Paired(*row, t, flips) for row, t, flips in zip(rows, by_t, by_flips, strict=True))


def _comparable(results: ExperimentResults, measure: Measure) -> bool:
    values = {v for method in results.methods for v in topic_means(results, method, measure.name).values()}
    return measure.better != "neither" and len(values) > 1
