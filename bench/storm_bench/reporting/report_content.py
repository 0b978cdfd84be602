"""Builds the report's content from an experiment's results, and writes its files."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from storm_bench.calibration import COLUMNS
from storm_bench.errors import ExperimentError
from storm_bench.metrics.base import Measure
from storm_bench.reporting.blocks import Block, Cell, Figure, Grid, Heading
from storm_bench.reporting.markdown import PLOTS, to_markdown
from storm_bench.reporting.plots import difference_figures
from storm_bench.reporting.results_file import NO_JUDGE, RESULTS, ExperimentResults, Result, save_results
from storm_bench.reporting.tables import Mean, Paired, Table, differences, on_all_topics, tables, unequal_topics
from storm_bench.reporting.wording import (
    UNDEFINED,
    UNSCORED,
    bounds,
    column,
    digits,
    digits_of_values,
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
from storm_pipeline.api import write_atomically

_REPAIRED = "repaired: "  # how the readers of data sets begin a note on what they repaired
_LONGEST = 400  # maximum characters shown of a failure message


def write_report(folder: Path, results: ExperimentResults) -> tuple[Path, ...]:
    """Write ``results.json``, ``report.md`` and ``plots/*.svg``, and return them in this order.

    Equal results give equal bytes. The results are written first, so that they survive an error in the report. Outdated
    plots in this folder are deleted; no other file is touched. Raises ExperimentError: the folder cannot be written;
    MissingExtraError: a library of the extra ``eval`` is not installed.
    """
    plots = folder / PLOTS
    try:
        plots.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ExperimentError(f"cannot create the folder {plots}: {error.strerror}; choose another") from error
    save_results(folder / RESULTS, results)
    report = report_of(results)
    files = {folder / "report.md": to_markdown(report)}
    files |= {plots / block.name: block.svg for block in report if isinstance(block, Figure)}
    try:
        for path, text in files.items():
            write_atomically(path, text)
        for old in {*plots.glob("difference-*.svg"), *plots.glob("cost-*.svg")} - files.keys():
            old.unlink()
    except OSError as error:
        raise ExperimentError(f"cannot write {error.filename}: {error.strerror}; choose another folder") from error
    return (folder / RESULTS, *files)


def report_of(results: ExperimentResults) -> tuple[Block, ...]:
    """Build the report with its plots. Raises MissingExtraError: a library of the extra ``eval`` is not installed."""
    found = tables(results)
    return (
        Heading(results.title, 1),
        *_opening(results, found),
        *(note for note in results.notes if not note.startswith(_REPAIRED)),
        *(block for table in found for block in _table(results, table)),
        *_values_by_topic(results, found),
        *_failures(results),
        *_titled("Repaired data", [n.removeprefix(_REPAIRED) for n in results.notes if n.startswith(_REPAIRED)]),
        *_titled("The judges", list(_judges(results))),
        *_titled("Reproducibility", [Grid.of(("item", "value"), results.facts.items(), 2)] if results.facts else []),
    )


def _titled(title: str, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks under a heading; empty without blocks."""
    return (Heading(title), *blocks) if blocks else ()


def _opening(results: ExperimentResults, found: Sequence[Table]) -> list[str]:
    written = sum(not result.failure for result in results.results)
    summary = (
        f"{plural(len(results.methods), 'method')} on {plural(len(results.topics), 'topic')}: "
        f"{written:,} of {plural(len(results.results), 'article')} written."
    )
    if not found:
        return [summary, "No article has a value, so there is no table."]
    return [
        summary,
        "Means are over the topics on which all methods wrote (over the seeds of a topic first), with 95 % "
        f"intervals (Student's t up to {SMALL} topics, else BCa bootstrap; "
        "cut at the ends of the measure's range) and the number of topics. Arrows show which direction is better. "
        "The best mean of a column is bold; whether a difference is significant is shown by "
        f"the comparisons with {results.baseline or 'a baseline'} below each table.",
        *unequal_lengths(unequal_topics(results), len(results.topics)),
    ]


def _table(results: ExperimentResults, table: Table) -> Iterator[Block]:
    """A table with all that belongs to it, and the comparisons with the baseline."""
    origin = f" (as {table.group.origin})" if table.group.origin else ""
    yield Heading(f"{table.group.title}{origin}")
    yield means_grid(table)
    if every := on_all_topics(results, table):  # no method's failure takes a topic from the others
        yield "All topics; a failed article counts as the worst value that the measure can have:"
        yield means_grid(every)
    yield from _published(results, table)
    yield from gaps(table)
    yield from _judge_lines(results, table)
    if table.group.note:
        yield table.group.note
    yield from _comparisons(results, table)


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


def _mean(mean: Mean, places: int) -> Cell:
    if mean.interval is None:
        return Cell("no value")
    detail = f"{bounds(mean.interval, places)} ({mean.interval.topics})".strip()
    return Cell(number(mean.interval.mean, places), detail, mean.best)


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
    return [beside, Grid.of(("method", *map(column, named)), rows)]


def _judge_lines(results: ExperimentResults, table: Table) -> list[str]:
    names = [measure.name for measure in table.measures]
    lines = [judge_line(own, names) for own in results.calibrations if set(own.measures) & set(names)]
    known = {name for own in results.calibrations for name in own.measures}
    missing = [name for name in names if name in table.group.judged and name not in known]
    return [*lines, unknown_judge(missing)] if missing else lines


def _comparisons(results: ExperimentResults, table: Table) -> Iterator[Block]:
    """A table's comparisons with the baseline and their plots; empty without directed measures."""
    judged = (measure for measure in table.measures if measure.name not in table.unjudged)
    directed = [measure.name for measure in judged if measure.better != "neither"]
    if not directed:
        return
    yield Heading(f"Against {results.baseline}", 3)
    if not table.paired:
        yield _incomparable(results, directed)
        return
    yield (
        "Differences are method minus baseline, over the topics for which both have a value. Each p is followed by "
        "its Holm correction over all comparisons of this table."
    )
    yield from verdict(table, results.baseline)
    yield comparison_grid(table.paired)
    yield from difference_figures(results, table)


def _incomparable(results: ExperimentResults, measures: Sequence[str]) -> str:
    """Return why no method is compared with the baseline in any measure."""
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


def _values_by_topic(results: ExperimentResults, found: Sequence[Table]) -> Iterator[Block]:
    """Every article's values, a table for each table."""
    if not found:
        return
    said = f"{UNDEFINED} means undefined, {UNSCORED} means not scored. Failed articles are listed below."
    unequal = " * marks topics on which methods were asked for unequal numbers of words."
    yield Heading("Values by topic")
    yield said + (unequal if unequal_topics(results) else "")
    for table in found:
        yield Heading(table.group.title, 3)
        yield topic_grid(results, table.measures)


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

    def value(own: Result, measure: str) -> str:
        if measure not in own.values:
            return NO_JUDGE if measure in results.unjudged else UNSCORED
        found = own.values[measure]
        return UNDEFINED if found is None or not math.isfinite(found) else number(found, places[measure])

    rows = (
        (
            f"{own.topic} *" if own.topic in unequal else own.topic,
            own.method,
            *([str(own.seed)] if seeds else []),
            *(value(own, m.name) for m in measures),
        )
        for own in written
    )
    return Grid.of(("topic", "method", *(["seed"] if seeds else []), *map(column, measures)), rows, names=2)


def _failures(results: ExperimentResults) -> tuple[Block, ...]:
    """Failure counts by method, and every failure."""
    failed = [result for result in results.results if result.failure]
    if not failed:
        return ()
    asked, lost = Counter(own.method for own in results.results), Counter(own.method for own in failed)
    counts = ((name, *map(str, (asked[name], asked[name] - lost[name], lost[name]))) for name in results.methods)
    why = [own.failure if len(own.failure) <= _LONGEST else f"{own.failure[:_LONGEST]} …" for own in failed]
    rows = ((own.topic, own.method, str(own.seed), said) for own, said in zip(failed, why, strict=True))
    return (
        Heading("Failures"),
        "A topic on which a method failed is in no method's means, but in those of the tables on all topics.",
        Grid.of(("method", "articles", "written", "failed"), counts),
        Grid.of(("topic", "method", "seed", "why"), rows, names=4),
    )


def _judges(results: ExperimentResults) -> Iterator[Block]:
    """The judges and their calibrations."""
    for own in results.calibrations:
        if own.measures and own.judge != NO_JUDGE:
            parameters = ", ".join(f"{name} {value}" for name, value in own.parameters.items())
            yield judge_line(own, own.measures) + (f" Parameters: {parameters}." if parameters else "")
            if own.calibration and own.calibration.rows:
                yield Grid.of(COLUMNS, (row.cells() for row in own.calibration.rows))
