"""STORM's Figures 4 and 5 as plots and numbers, from the edit histories of a data set that was built with them."""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from storm_bench.datasets.dataset import write_text
from storm_bench.datasets.statistics import EditHistory, edit_counts, reference_evolution
from storm_bench.reporting.plots import write_png

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def write_history_figures(histories: Collection[EditHistory], folder: Path) -> tuple[Path, ...]:
    """Write ``references-over-edits`` (Figure 4) and ``edit-counts`` (Figure 5), each as .png and .csv.

    Returns:
        The four files.

    Raises:
        DatasetError: no history has counted revisions, or a file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    grown, edited = reference_evolution(histories, 21), edit_counts(histories)
    bins = list(zip(edited.edges, edited.edges[1:], edited.counts, strict=False))

    def draw_growth(axes: "Axes") -> None:
        axes.plot([100 * share for share, _ in grown], [mean for _, mean in grown], "o-", markersize=3)
        axes.set_xlabel("edits made so far (%)")
        axes.set_ylabel("references, mean over articles")

    def draw_counts(axes: "Axes") -> None:
        axes.stairs(edited.counts, edited.edges, fill=True)
        axes.set_xlabel("edits of an article")
        axes.set_ylabel("articles")

    return (
        *_written(folder / "references-over-edits", ("share_of_edits", "mean_references"), grown, draw_growth),
        *_written(folder / "edit-counts", ("edits_from", "edits_to", "articles"), bins, draw_counts),
    )


def _written(
    stem: Path, columns: tuple[str, ...], rows: Iterable[tuple[float, ...]], draw: Callable[["Axes"], None]
) -> tuple[Path, Path]:
    plot, table = stem.with_suffix(".png"), stem.with_suffix(".csv")
    write_png(plot, (4.8, 3.2), lambda drawing: draw(drawing.subplots()))
    lines = [",".join(columns), *(",".join(f"{value:.6g}" for value in row) for row in rows)]
    write_text(table, "\n".join(lines) + "\n")
    return plot, table
