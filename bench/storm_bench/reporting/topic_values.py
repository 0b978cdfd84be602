"""The part of the report that has every article's values, by topic."""

import math
from collections.abc import Collection, Sequence

from storm_bench.metrics.base import Measure
from storm_bench.reporting.blocks import Grid, ReportSection, Text
from storm_bench.reporting.results_file import NO_JUDGE, ExperimentResults, Result
from storm_bench.reporting.tables import Table, unequal_topics
from storm_bench.reporting.wording import UNDEFINED, UNSCORED, column, digits_of_values, number


def topic_parts(results: ExperimentResults, found: Sequence[Table]) -> list[ReportSection]:
    """Every article's values, one section per table."""
    if not found:
        return []
    said = f"{UNDEFINED} means undefined, {UNSCORED} means not scored. Failed articles are listed below."
    marked = (
        " * marks topics on which methods were asked for unequal numbers of words." if unequal_topics(results) else ""
    )
    legend = Text(said + marked)
    below = tuple(
        ReportSection(f"{t.group.key}-topics", t.group.title, (topic_grid(results, t.measures),), folded=True)
        for t in found
    )
    return [ReportSection("topics", "Values by topic", (legend,), below)]


def topic_grid(results: ExperimentResults, measures: Sequence[Measure]) -> Grid:
    """One row per article, ordered by topic; with a seed column if there are several seeds."""
    seeds = len({result.seed for result in results.results}) > 1
    topics, methods = ({name: i for i, name in enumerate(own)} for own in (results.topics, results.methods))
    written = sorted(
        (result for result in results.results if not result.failure),
        key=lambda own: (topics[own.topic], methods[own.method], own.seed),
    )
    places = {
        m.name: digits_of_values([v for own in written if (v := own.values.get(m.name)) is not None]) for m in measures
    }
    unequal = unequal_topics(results)
    rows = (
        (
            f"{own.topic} *" if own.topic in unequal else own.topic,
            own.method,
            *([str(own.seed)] if seeds else []),
            *(_value(own, m.name, places[m.name], results.unjudged) for m in measures),
        )
        for own in written
    )
    heads = ("topic", "method", *(["seed"] if seeds else []))
    return Grid.of((*heads, *map(column, measures)), rows, names=2)


def _value(result: Result, measure: str, places: int, unjudged: Collection[str]) -> str:
    if measure not in result.values:
        return NO_JUDGE if measure in unjudged else UNSCORED
    value = result.values[measure]
    return UNDEFINED if value is None or not math.isfinite(value) else number(value, places)
