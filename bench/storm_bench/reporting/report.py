"""The report of an experiment: one template (``report.md.jinja``) that shows its results as Markdown, with plots."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from storm_bench.calibration import COLUMNS
from storm_bench.errors import ExperimentError
from storm_bench.metrics.base import Measure
from storm_bench.reporting import formats
from storm_bench.reporting.formats import UNDEFINED, UNSCORED, bounds, column, digits, number, p_value, signed
from storm_bench.reporting.markdown import Cell, Grid, template, tidied
from storm_bench.reporting.plots import Figure, difference_figure
from storm_bench.reporting.results_file import NO_JUDGE, RESULTS, ExperimentResults, JudgedMeasures, save_results
from storm_bench.reporting.tables import LEVEL, Mean, Table, differences, on_all_topics, tables, unequal_topics
from storm_bench.significance import SMALL
from storm_pipeline.api import write_atomically

PLOTS = "plots"
"""Folder of the plots, next to the report."""
_LONGEST = 400  # maximum characters shown of a failure message
_CONSTANTS = {
    "REPAIRED": "repaired: ",  # how the readers of data sets begin a note on what they repaired
    "PLOTS": PLOTS,
    "NO_JUDGE": NO_JUDGE,
    "WITHOUT_JUDGE": formats.WITHOUT_JUDGE,
    "SMALL": SMALL,
    "LEVEL": LEVEL,
    "UNDEFINED": UNDEFINED,
    "UNSCORED": UNSCORED,
    "COLUMNS": COLUMNS,
    "on_all_topics": on_all_topics,
}


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
    report = Report(results)
    written = {folder / "report.md": report.markdown()}
    written |= {plots / figure.name: figure.svg for table in report.tables for figure in report.figures(table)}
    try:
        for path, text in written.items():
            write_atomically(path, text)
        for old in {*plots.glob("difference-*.svg"), *plots.glob("cost-*.svg")} - written.keys():
            old.unlink()
    except OSError as error:
        raise ExperimentError(f"cannot write {error.filename}: {error.strerror}; choose another folder") from error
    return (folder / RESULTS, *written)


class Report:
    """An experiment's results as Markdown: the whole page, or a part of it on one table.

    ``tables``: its tables. Plots raise MissingExtraError: a library of the extra ``eval`` is not installed.
    """

    def __init__(self, results: ExperimentResults) -> None:
        self.results = results
        self.tables = tables(results)
        self.unequal = unequal_topics(results)
        self.failed = [result for result in results.results if result.failure]
        self.written = len(results.results) - len(self.failed)
        self.judged = [c for c in results.calibrations if c.measures and c.judge != NO_JUDGE]

    def markdown(self) -> str:
        """Render the whole page; equal results give equal text."""
        return tidied(template().render(self._context))

    def part(self, name: Literal["means", "verdict", "comparisons", "topics"], table: Table) -> str:
        """Render one part: means, what comparisons with the baseline show, these comparisons, or values by topic."""
        return tidied(getattr(template().make_module(self._context), name)(table))

    @property
    def _context(self) -> dict[str, Any]:
        return {"page": self, "results": self.results, **_CONSTANTS}

    def means(self, table: Table) -> Grid:
        """Return one row per method, one column per measure: mean, interval, number of topics; failures, if any."""
        places = [digits([m.interval.mean for m in mean if m.interval]) for mean in zip(*table.means, strict=True)]
        lost = any(table.failed)
        rows: list[Sequence[str | Cell]] = []
        for method, failed, means in zip(table.methods, table.failed, table.means, strict=True):
            cells = (
                Cell(NO_JUDGE) if measure.name in table.unjudged else _mean(mean, n)
                for measure, mean, n in zip(table.measures, means, places, strict=True)
            )
            rows.append((method, *([str(failed)] if lost else []), *cells))
        return ("method", *(["failed"] if lost else []), *map(column, table.measures)), rows

    def published(self, table: Table) -> Grid | None:
        """Return the paper's values for this table's measures; None if it has none."""
        every = self.results.published
        named = [m for m in table.measures if any(m.name in own for own in every.values())]
        rows: list[Sequence[str | Cell]] = [
            (method, *(number(own.get(m.name), 3) for m in named))
            for method, own in every.items()
            if any(m.name in own for m in named)
        ]
        return (("method", *map(column, named)), rows) if named else None

    def judges(self, table: Table) -> Iterator[tuple[JudgedMeasures, list[str]]]:
        """Yield the judges of a table's measures, each with these."""
        for calibration in self.results.calibrations:
            if names := [measure.name for measure in table.measures if measure.name in calibration.measures]:
                yield calibration, names

    def unrecorded(self, table: Table) -> list[str]:
        """Return the judged measures of a table whose judge is not recorded."""
        known = {name for calibration in self.results.calibrations for name in calibration.measures}
        return [m.name for m in table.measures if m.name in table.group.judged and m.name not in known]

    def comparisons(self, table: Table) -> Grid:
        """Return one row per comparison: difference with interval, and both tests with corrected p-values."""
        columns = ("method", "measure", "difference", "topics", "t-test p", "corrected", "permutation p", "corrected")
        return columns, [
            (
                row.method,
                column(row.measure),
                Cell(signed(own.difference), bounds(row.interval, digits([own.difference]))),
                str(own.topics),
                *map(p_value, (own.t_test, row.corrected_t, own.permutation)),
                Cell(p_value(row.corrected_permutation), strong=row.significant),
            )
            for row in table.paired
            for own in [row.comparison]
        ]

    def shares_a_topic(self, table: Table) -> bool:
        """Return whether a method has a value on a topic for which the baseline has one."""
        others = [method for method in self.results.methods if method != self.results.baseline]
        return any(differences(self.results, method, own.name) for method in others for own in table.directed)

    def figures(self, table: Table) -> list[Figure]:
        """Return the plots of a table's differences from the baseline."""
        return [figure for figure in self._drawn.get(table.group.key, {}).values() if figure]

    def undrawn(self, table: Table) -> list[str]:
        """Return the measures that would be plotted, but no method shares a topic with the baseline."""
        return [name for name, figure in self._drawn.get(table.group.key, {}).items() if figure is None]

    @cached_property
    def _drawn(self) -> dict[str, dict[str, Figure | None]]:
        """Key of a table → its plotted measures with their plots."""
        return {
            table.group.key: {
                measure.name: difference_figure(self.results, measure)
                for measure in table.measures
                if measure.name in table.group.plotted
            }
            for table in self.tables
            if table.paired
        }

    def topics(self, table: Table) -> Grid:
        """Return one row per article, ordered by topic; with a seed column if there are several seeds."""
        results = self.results
        topics, methods = ({name: n for n, name in enumerate(names)} for names in (results.topics, results.methods))
        written = sorted(
            (result for result in results.results if not result.failure),
            key=lambda own: (topics[own.topic], methods[own.method], own.seed),
        )
        seeds = ["seed"] if len({result.seed for result in results.results}) > 1 else []
        cells = [self._values(measure, [own.values for own in written]) for measure in table.measures]
        rows: list[Sequence[str | Cell]] = []
        for own, *values in zip(written, *cells, strict=True):
            topic = f"{own.topic} *" if own.topic in self.unequal else own.topic
            rows.append((topic, own.method, *(str(own.seed) for _ in seeds), *values))
        return ("topic", "method", *seeds, *map(column, table.measures)), rows

    def _values(self, measure: Measure, given: Iterable[Any]) -> list[str]:
        values = [own.get(measure.name, UNSCORED) for own in given]
        places = formats.digits_of_values([value for value in values if isinstance(value, int | float)])
        unscored = NO_JUDGE if measure.name in self.results.unjudged else UNSCORED
        return [unscored if value == UNSCORED else number(value, places) for value in values]

    @property
    def unequal_lengths(self) -> list[str]:
        """The topics on which methods were asked for unequal numbers of words, with the fewest and the most."""
        found = []
        for topic, words in self.unequal.items():
            fewest = min(words, key=lambda method: words[method])
            most = number(max(words.values()), 0)
            found.append(f"{topic} ({fewest} for {number(words[fewest], 0)} words, others for up to {most})")
        return found

    def counts(self) -> list[tuple[str, ...]]:
        """Return for each method the numbers of articles, written ones and failed ones."""
        asked, lost = (Counter(own.method for own in some) for some in (self.results.results, self.failed))
        return [(name, *map(str, (asked[name], asked[name] - lost[name], lost[name]))) for name in self.results.methods]

    def failures(self) -> list[tuple[str, ...]]:
        """Return every failure, its message cut."""
        cut = (own.failure[:_LONGEST] + " …" * (len(own.failure) > _LONGEST) for own in self.failed)
        return [(own.topic, own.method, str(own.seed), text) for own, text in zip(self.failed, cut, strict=True)]


def _mean(mean: Mean, places: int) -> Cell:
    if mean.interval is None:
        return Cell("no value")
    detail = f"{bounds(mean.interval, places)} ({mean.interval.topics})".strip()
    return Cell(number(mean.interval.mean, places), detail, mean.best)
