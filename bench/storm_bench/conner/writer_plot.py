"""CONNER's Figure 3: means of generated knowledge as curves over the models that wrote it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from storm_bench.conner.report import WRITTEN
from storm_bench.conner.scoring import INTRINSIC, Record
from storm_bench.conner.study_records import measured
from storm_bench.reporting.plots import write_png

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN = (*INTRINSIC, "helpfulness", "validity")


def plot_writers(studies: Mapping[str, Sequence[Record]], file: Path) -> None:
    """Write a PNG: a panel a measure, a curve a data set and kind of knowledge, the writers from left to right.

    Raises:
        DatasetError: the file cannot be written.
        MissingExtraError: matplotlib is not installed.
    """
    datasets = dict.fromkeys(one.dataset for own in studies.values() for one in own)

    def draw(drawing: "Figure") -> None:
        panels = drawing.subplots(2, (len(SHOWN) + 1) // 2).flat
        for axes, name in zip(panels, SHOWN, strict=False):
            axes.set_title(name)
            for dataset, kind in ((dataset, kind) for dataset in datasets for kind in WRITTEN):
                means = {writer: _mean(own, dataset, kind, name) for writer, own in studies.items()}
                known = {writer: mean for writer, mean in means.items() if mean is not None}
                axes.plot(list(known), list(known.values()), "o-", markersize=3, label=f"{dataset}, {kind}")
            axes.tick_params("x", rotation=30)
        panels[-1].set_axis_off()
        panels[-1].legend(*panels[0].get_legend_handles_labels(), loc="center", frameon=False)

    write_png(file, (9.6, 4.8), draw)


def _mean(records: Sequence[Record], dataset: str, kind: str, name: str) -> float | None:
    own = (one for one in measured(records) if (one.dataset, one.kind) == (dataset, kind))
    values = [value for one in own if (value := one.scores.get(name)) is not None]
    return fmean(values) if values else None
