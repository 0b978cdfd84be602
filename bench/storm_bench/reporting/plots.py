"""The report's plots: differences from the baseline by topic.

Drawn by matplotlib without a display. Output is byte-identical for equal results: fixed hash salt, matplotlib's bundled
font, no date.
"""

import contextlib
import importlib.util
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storm_bench.metrics.base import Measure
from storm_bench.reporting.results_file import ExperimentResults
from storm_bench.reporting.tables import differences
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
_LONGEST = 28  # maximum characters of a method's name in a plot


@dataclass(frozen=True)
class Figure:
    """A plot: file name without folder, caption in one sentence, and a complete SVG document."""

    name: str
    caption: str
    svg: str


def difference_figure(results: ExperimentResults, measure: Measure) -> Figure | None:
    """Return differences from the baseline in one measure, one row per method; None if there are none."""
    rows = [
        (method, list(gaps.values()))
        for method in results.methods
        if method != results.baseline and (gaps := differences(results, method, measure.name))
    ]
    if not rows:
        return None

    marks = "A dot is a topic, a diamond the mean with its 95 % interval."
    caption = tidy(f"{measure.name}: differences from {results.baseline}. {marks}")
    text = io.StringIO()
    with drawings() as made:
        drawing = made(figsize=(6.4, 1.1 + 0.5 * len(rows)), layout="constrained")
        axes = drawing.subplots()
        axes.axvline(0, color="#777777", linewidth=0.8, linestyle="--")
        for place, (method, values) in enumerate(rows):
            colour = _COLOURS[results.methods.index(method) % len(_COLOURS)]
            spread = [place + 0.1 + 0.22 * (i % 3) / 2 for i in range(len(values))]
            axes.plot(values, spread, "o", color=colour, markersize=4, alpha=0.45, markeredgewidth=0)
            _plot_mean(axes, interval(values), place - 0.16, colour)
        axes.set_yticks(range(len(rows)), [_short(method) for method, _ in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        direction = {"higher": " (right is better)", "lower": " (left is better)"}.get(measure.better, "")
        axes.set_xlabel(f"{measure.name}: difference from {_short(results.baseline)}{direction}")
        # No date and no library version: equal results give equal bytes.
        drawing.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Title": caption})
    return Figure(f"difference-{measure.name.replace('_', '-')}.svg", caption, text.getvalue())


def _plot_mean(axes: "Axes", across: MeanInterval, height: float, colour: str) -> None:
    """Plot a mean with error bars if it has an interval."""
    ends = (
        across.low is not None
        and across.high is not None
        and ((across.mean - across.low,), (across.high - across.mean,))
    )
    bars = [[max(0.0, own) for own in end] for end in ends] if ends else None
    axes.errorbar([across.mean], [height], xerr=bars, fmt="D", color=colour, markersize=6, elinewidth=1.4)


def _short(name: str) -> str:
    plain = tidy(name) or "?"
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"


@contextmanager
def drawings() -> Iterator[type["Drawing"]]:
    """Yield matplotlib's figure class with our style; glyphs missing from its font are left to the viewer."""
    if (found := importlib.util.find_spec("matplotlib")) is None or found.origin is None:
        raise MissingExtraError("the plots of a report need matplotlib: pip install 'storm-bench[eval]'")
    with contextlib.chdir(Path(found.origin).parent):  # else it reads the current folder's matplotlibrc
        import matplotlib as mpl
        from matplotlib.figure import Figure as Drawing

    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield Drawing
