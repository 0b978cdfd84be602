"""The report's plots: differences from the baseline by topic, and quality against cost.

Drawn by matplotlib without a display. Output is byte-identical for equal results: fixed hash salt, matplotlib's bundled
font, no date.
"""

import importlib.util
import io
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storm_bench.datasets.dataset import write_bytes
from storm_bench.metrics.base import Measure
from storm_bench.reporting.blocks import Block, Figure
from storm_bench.reporting.results_file import ExperimentResults, Result, topic_means
from storm_bench.reporting.tables import Table, differences
from storm_bench.reporting.wording import listed
from storm_bench.significance import MeanInterval, interval
from storm_pipeline import MissingExtraError
from storm_pipeline.api import tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

_STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "svg.fonttype": "none",
    "svg.hashsalt": "storm-pipeline",
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#777777",
    "axes.linewidth": 0.7,
}
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999")
_MARKERS = "osD^vP*X"
_LONGEST = 28  # maximum characters of a method's name in a plot
_MONEY, _TOKENS, _SECONDS = "dollars", "tokens", "seconds"


def difference_figures(results: ExperimentResults, table: Table) -> tuple[Block, ...]:
    """One plot per plotted measure of a table.

    A line of text names measures for which no method shares a topic with the baseline.
    """
    chosen = [measure for measure in table.measures if measure.name in table.group.plotted]
    drawn = [difference_figure(results, measure) for measure in chosen]
    missing = [measure.name for measure, figure in zip(chosen, drawn, strict=True) if figure is None]
    note = f"No plot of {listed(missing)}: no method has a topic in common with {results.baseline}." if missing else ""
    return (*(figure for figure in drawn if figure), *([note] if note else []))


def difference_figure(results: ExperimentResults, measure: Measure) -> Figure | None:
    """Differences from the baseline in one measure, one row per method; None if there are none."""
    rows = [
        (method, list(apart.values()))
        for method in results.methods
        if method != results.baseline and (apart := differences(results, method, measure.name))
    ]
    if not rows:
        return None

    def draw(drawing: "Drawing") -> None:
        axes = drawing.subplots()
        axes.axvline(0, color="#777777", linewidth=0.8, linestyle="--")
        for place, (method, values) in enumerate(rows):
            colour = _COLOURS[results.methods.index(method) % len(_COLOURS)]
            spread = [place + 0.1 + 0.22 * (i % 3) / 2 for i in range(len(values))]
            axes.plot(values, spread, "o", color=colour, markersize=4, alpha=0.45, markeredgewidth=0)
            _plot_mean(axes, interval(values), place - 0.16, colour, "D")
        axes.set_yticks(range(len(rows)), [_short(method) for method, _ in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        direction = {"higher": " (right is better)", "lower": " (left is better)"}.get(measure.better, "")
        axes.set_xlabel(f"{measure.name}: difference from {_short(results.baseline)}{direction}")

    name = f"difference-{measure.name.replace('_', '-')}"
    marks = "A dot is a topic, a diamond the mean with its 95 % interval."
    caption = f"{measure.name}: differences from {results.baseline}. {marks}"
    return _figure(name, caption, (6.4, 1.1 + 0.5 * len(rows)), draw)


def cost_figures(results: ExperimentResults, tables: Sequence[Table]) -> tuple[Figure, ...]:
    """For each table with plotted measures, the first of them against cost and against seconds."""
    plotted = ([m for name in table.group.plotted for m in table.measures if m.name == name] for table in tables)
    drawn = (cost_figure(results, measures[0]) for measures in plotted if measures)
    return tuple(figure for figure in drawn if figure is not None)


def cost_figure(results: ExperimentResults, measure: Measure) -> Figure | None:
    """A measure against cost and against seconds; None if no method has both.

    Cost is in dollars if all methods' are known and any is positive, else in tokens (input plus output).
    """
    summed = replace(results, results=tuple(map(_with_tokens, results.results)))
    panels = [
        (axis, points) for axis in (_cost_unit(results), _SECONDS) if (points := _points(summed, axis, measure.name))
    ]
    if not panels:
        return None

    def draw(drawing: "Drawing") -> None:
        grid = drawing.subplots(1, len(panels), sharey=True, squeeze=False)
        for axes, (axis, points) in zip(grid[0], panels, strict=True):
            for method, cost, quality in points:
                place = results.methods.index(method)
                colour, marker = _COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)]
                _plot_mean(axes, cost, quality, colour, marker, label=_short(method))
            means = [cost.mean for _, cost, _ in points]
            if min(means) > 0 and max(means) > 20 * min(means):
                axes.set_xscale("log")
                axes.xaxis.set_minor_formatter("")
            axes.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:,g}k" if value >= 1000 else f"{value:g}")
            axes.set_xlabel(f"{axis} per article")
        grid[0][0].set_ylabel(measure.name)
        shown = {label: mark for axes in grid[0] for mark, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        drawing.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=3, frameon=False)

    costs = " and ".join(axis for axis, _ in panels)
    caption = f"{measure.name} against {costs} per article. Marks are means over topics, bars 95 % intervals."
    rows = math.ceil(len(results.methods) / 3)
    return _figure(
        f"cost-{measure.name.replace('_', '-')}", caption, (3.4 * len(panels) + 0.6, 2.9 + 0.22 * rows), draw
    )


def _plot_mean(
    axes: "Axes", across: MeanInterval, height: float | MeanInterval, colour: str, marker: str, *, label: str = ""
) -> None:
    """Plot a mean with error bars for the intervals that exist."""
    y = height.mean if isinstance(height, MeanInterval) else height
    bars = [_error_bar(own) for own in (across, height) if isinstance(own, MeanInterval)]
    axes.errorbar(
        [across.mean],
        [y],
        xerr=bars[0],
        yerr=bars[1] if len(bars) > 1 else None,
        fmt=marker,
        color=colour,
        markersize=6,
        elinewidth=1.4,
        label=label or None,
    )


def _error_bar(found: MeanInterval) -> list[list[float]] | None:
    if found.low is None or found.high is None:
        return None
    return [[max(0.0, found.mean - found.low)], [max(0.0, found.high - found.mean)]]


def _points(results: ExperimentResults, axis: str, measure: str) -> list[tuple[str, MeanInterval, MeanInterval]]:
    """(method, cost, quality), each over the topics that have both."""
    found: list[tuple[str, MeanInterval, MeanInterval]] = []
    for method in results.methods:
        costs, qualities = (topic_means(results, method, name) for name in (axis, measure))
        shared = [topic for topic in costs if topic in qualities]
        if shared:
            found.append((method, interval([costs[t] for t in shared]), interval([qualities[t] for t in shared])))
    return found


def _cost_unit(results: ExperimentResults) -> str:
    written = dict.fromkeys(result.method for result in results.results if not result.failure)
    known = [list(topic_means(results, method, _MONEY).values()) for method in written]
    return _MONEY if all(known) and any(value > 0 for own in known for value in own) else _TOKENS


def _with_tokens(result: Result) -> Result:
    read, written = (result.values.get(name) for name in ("tokens_in", "tokens_out"))
    if read is None or written is None:
        return result
    return replace(result, values={**result.values, _TOKENS: read + written})


def _short(name: str) -> str:
    plain = tidy(name) or "?"
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"


def _figure(name: str, caption: str, size: tuple[float, float], draw: Callable[["Drawing"], None]) -> Figure:
    with drawings() as made:
        drawing = made(figsize=size, layout="constrained")
        draw(drawing)
        text = io.StringIO()
        # No date and no library version: equal results give equal bytes.
        drawing.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Title": tidy(caption)})
    return Figure(f"{name}.svg", tidy(caption), text.getvalue())


def write_png(file: Path, size: tuple[float, float], draw: Callable[["Drawing"], None]) -> None:
    """Draw a picture of a size in inches. Raises DatasetError: the file cannot be written."""
    with drawings() as made, io.BytesIO() as picture:
        drawing = made(figsize=size, layout="constrained")
        draw(drawing)
        drawing.savefig(picture, format="png", dpi=150, metadata={"Software": None})
        write_bytes(file, picture.getvalue())


@contextmanager
def drawings() -> Iterator[type["Drawing"]]:
    """Matplotlib's figure class with our style; glyphs missing from its font are left to the viewer."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("the plots of a report need matplotlib: pip install 'storm-bench[eval]'")
    import matplotlib as mpl
    from matplotlib.figure import Figure as Drawing

    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield Drawing
