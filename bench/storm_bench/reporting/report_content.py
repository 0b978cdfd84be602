"""Builds the report's content from an experiment's results."""

from collections import Counter
from collections.abc import Sequence

from storm_bench.calibration import COLUMNS
from storm_bench.metrics.base import Measure
from storm_bench.reporting.blocks import Block, Cell, Grid, ReportSection, Text
from storm_bench.reporting.plots import cost_figures, difference_figures
from storm_bench.reporting.results_file import NO_JUDGE, ExperimentResults, JudgedMeasures
from storm_bench.reporting.tables import Mean, Paired, Table, differences, on_all_topics, tables, unequal_topics
from storm_bench.reporting.topic_values import topic_parts
from storm_bench.reporting.wording import (
    UNDEFINED,
    bounds,
    column,
    digits,
    gaps,
    judge_line,
    number,
    p_value,
    plural,
    signed,
    unequal_lengths,
    unknown_judge,
    verdict,
)
from storm_bench.significance import SMALL

_REPAIRED = "repaired: "  # how the readers of data sets begin a note on what they repaired
_LONGEST = 400  # maximum characters shown of a failure message


def report_of(results: ExperimentResults) -> ReportSection:
    """Build the report with its plots. Raises MissingExtraError: a library of the extra ``eval`` is not installed."""
    found = tables(results)
    parts = (
        *(_table_part(results, table) for table in found),
        _cost_part(results, found),
        *topic_parts(results, found),
        *_failures(results),
        *_repairs(results),
        *_judges(results),
        *_facts(results),
    )
    notes = (note for note in results.notes if not note.startswith(_REPAIRED))
    return ReportSection("", results.title, (*_opening(results, found), *map(Text, notes)), parts)


def _opening(results: ExperimentResults, found: Sequence[Table]) -> list[Text]:
    written = sum(not result.failure for result in results.results)
    summary = (
        f"{plural(len(results.methods), 'method')} on {plural(len(results.topics), 'topic')}: "
        f"{written:,} of {plural(len(results.results), 'article')} written."
    )
    if not found:
        return [Text(summary), Text("No article has a value, so there is no table.")]
    return [
        Text(summary),
        Text(
            "Means are over the topics on which all methods wrote (over the seeds of a topic first), with 95 % "
            f"intervals (Student's t up to {SMALL} topics, else BCa bootstrap; "
            "cut at the ends of the measure's range) and the number of topics. Arrows show which direction is better. "
            "The best mean of a column is bold; whether a difference is significant is shown by "
            f"the comparisons with {results.baseline or 'a baseline'} below each table."
        ),
        *map(Text, unequal_lengths(unequal_topics(results), len(results.topics))),
    ]


def _table_part(results: ExperimentResults, table: Table) -> ReportSection:
    origin = f" (as {table.group.origin})" if table.group.origin else ""
    blocks: list[Block] = [
        means_grid(table),
        *_on_all_topics(results, table),
        *_published(results, table),
        *map(Text, gaps(table)),
        *map(Text, _judge_lines(results, table)),
        *([Text(table.group.note)] if table.group.note else []),
    ]
    return ReportSection(
        table.group.key, f"{table.group.title}{origin}", tuple(blocks), tuple(_comparison_section(results, table))
    )


def means_grid(table: Table) -> Grid:
    """One row per method, one column per measure: mean, interval, number of topics; failures, where there are some."""
    places = [digits([own.mean for row in table.means if (own := row[i].interval)]) for i in range(len(table.measures))]

    def shown(measure: Measure, mean: Mean, places: int) -> Cell:
        return Cell(NO_JUDGE) if measure.name in table.unjudged else _mean(mean, places)

    failed = [(str(count),) if any(table.failed) else () for count in table.failed]
    rows = (
        (method, *lost, *(shown(*cell) for cell in zip(table.measures, means, places, strict=True)))
        for method, lost, means in zip(table.methods, failed, table.means, strict=True)
    )
    return Grid.of(("method", *(["failed"] if any(table.failed) else []), *map(column, table.measures)), rows)


def _on_all_topics(results: ExperimentResults, table: Table) -> list[Block]:
    """The second table, in which no method's failure takes a topic from the others; empty if nothing failed."""
    every = on_all_topics(results, table)
    legend = Text("All topics; a failed article counts as the worst value that the measure can have:")
    return [legend, means_grid(every)] if every else []


def _published(results: ExperimentResults, table: Table) -> list[Block]:
    """What the paper prints for this table's measures; empty where it prints none of them."""
    named = [m for m in table.measures if any(m.name in own for own in results.published.values())]
    if not named:
        return []
    rows = (
        (method, *(number(own[m.name], 3) if m.name in own else UNDEFINED for m in named))
        for method, own in results.published.items()
        if any(m.name in own for m in named)
    )
    beside = f"As published, with other models, search and topics: {results.published_in}"
    return [Text(beside), Grid.of(("method", *map(column, named)), rows)]


def _mean(mean: Mean, places: int) -> Cell:
    if mean.interval is None:
        return Cell("no value")
    detail = f"{bounds(mean.interval, places)} ({mean.interval.topics})".strip()
    return Cell(number(mean.interval.mean, places), detail, mean.best)


def _judge_lines(results: ExperimentResults, table: Table) -> list[str]:
    names = [measure.name for measure in table.measures]
    lines = [judge_line(own, names) for own in results.calibrations if set(own.measures) & set(names)]
    known = {name for own in results.calibrations for name in own.measures}
    missing = [name for name in names if name in table.group.judged and name not in known]
    return [*lines, unknown_judge(missing)] if missing else lines


def _comparison_section(results: ExperimentResults, table: Table) -> list[ReportSection]:
    """A table's comparisons with the baseline and their plots; empty without directed measures."""
    judged = (measure for measure in table.measures if measure.name not in table.unjudged)
    directed = [measure.name for measure in judged if measure.better != "neither"]
    if not directed:
        return []
    key, title = f"{table.group.key}-against", f"Against {results.baseline}"
    if not table.paired:
        return [ReportSection(key, title, (Text(_incomparable(results, directed)),))]
    legend = (
        "Differences are method minus baseline, over the topics for which both have a value. Each p is followed by "
        "its Holm correction over all comparisons of this table."
    )
    texts = (Text(legend), *map(Text, verdict(table, results.baseline)))
    return [ReportSection(key, title, (*texts, comparison_grid(table.paired), *difference_figures(results, table)))]


def _incomparable(results: ExperimentResults, measures: Sequence[str]) -> str:
    """Why no method is compared with the baseline in any measure."""
    others = [method for method in results.methods if method != results.baseline]
    if any(differences(results, method, measure) for method in others for measure in measures):
        return f"Nothing to compare: on the topics shared with {results.baseline}, all methods have the same value."
    return f"Nothing to compare: no other method has a value on any topic for which {results.baseline} has one."


def comparison_grid(paired: Sequence[Paired]) -> Grid:
    """One row per comparison: difference with interval, and both tests with corrected p-values."""
    columns = ("method", "measure", "difference", "topics", "t-test p", "corrected", "permutation p", "corrected")
    return Grid.of(columns, map(_comparison, paired), names=2)


def _comparison(row: Paired) -> tuple[str | Cell, ...]:
    own = row.comparison
    places = digits([own.difference])
    tests = (own.t_test, row.corrected_t, own.permutation, row.corrected_permutation)
    return (
        row.method,
        column(row.measure),
        Cell(signed(own.difference, places), bounds(row.interval, places)),
        str(own.topics),
        *map(p_value, tests[:3]),
        Cell(p_value(tests[3]), strong=row.significant),
    )


def _cost_part(results: ExperimentResults, found: Sequence[Table]) -> ReportSection:
    figures = cost_figures(results, found)
    none = "No plot: no method has both a quality measure and a cost (dollars, tokens or seconds)."
    return ReportSection("cost-quality", "Cost against quality", figures or (Text(none),))


def _failures(results: ExperimentResults) -> list[ReportSection]:
    """Failure counts by method, and every failure."""
    failed = [result for result in results.results if result.failure]
    if not failed:
        return []
    asked, lost = Counter(own.method for own in results.results), Counter(own.method for own in failed)
    counts = ((name, *map(str, (asked[name], asked[name] - lost[name], lost[name]))) for name in results.methods)
    why = [own.failure if len(own.failure) <= _LONGEST else f"{own.failure[:_LONGEST]} …" for own in failed]
    rows = ((own.topic, own.method, str(own.seed), said) for own, said in zip(failed, why, strict=True))
    blocks = (
        Text("A topic on which a method failed is in no method's means, but in those of the tables on all topics."),
        Grid.of(("method", "articles", "written", "failed"), counts),
        Grid.of(("topic", "method", "seed", "why"), rows, names=4),
    )
    return [ReportSection("failures", "Failures", blocks)]


def _repairs(results: ExperimentResults) -> list[ReportSection]:
    """What the reader of the data had to repair."""
    repaired = [Text(note.removeprefix(_REPAIRED)) for note in results.notes if note.startswith(_REPAIRED)]
    return [ReportSection("repairs", "Repaired data", tuple(repaired))] if repaired else []


def _judges(results: ExperimentResults) -> list[ReportSection]:
    """The judges and their calibrations."""
    blocks = [block for own in results.calibrations if own.measures and own.judge != NO_JUDGE for block in _judge(own)]
    return [ReportSection("judges", "The judges", tuple(blocks))] if blocks else []


def _judge(own: JudgedMeasures) -> list[Block]:
    parameters = ", ".join(f"{name} {value}" for name, value in own.parameters.items())
    text = Text(judge_line(own, own.measures) + (f" Parameters: {parameters}." if parameters else ""))
    if own.calibration is None or not own.calibration.rows:
        return [text]
    return [text, Grid.of(COLUMNS, (row.cells() for row in own.calibration.rows))]


def _facts(results: ExperimentResults) -> list[ReportSection]:
    grid = Grid.of(("item", "value"), results.facts.items(), names=2)
    return [ReportSection("facts", "Reproducibility", (grid,))] if grid.rows else []
