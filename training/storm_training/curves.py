"""A stage's curve: a row a step in a CSV file, and its picture."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from storm_training.files import text_of, undamaged

Row = Mapping[str, float]
"""A step's figures by name; ``step`` is among them."""


def read(folder: Path, before: int) -> list[Row]:
    """Return the rows of steps below ``before`` from an earlier start of the stage; none without a file.

    Raises TrainingError: the file is damaged.
    """
    path = folder / "curve.csv"
    if not path.exists():
        return []
    with undamaged(path):
        lines = csv.DictReader(text_of(path).splitlines())
        rows = [{name: float(value) for name, value in row.items()} for row in lines]
        return [row for row in rows if row["step"] < before]


def write(folder: Path, rows: Sequence[Row]) -> None:
    """Write ``curve.csv``; all rows have the names of the first."""
    if not rows:
        return
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "curve.csv"
    with undamaged(path), path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def draw(rows: Sequence[Row], path: Path, title: str) -> None:
    """Draw every figure against the step, one below the other."""
    from storm_bench.reporting.plots import drawings

    names = [name for name in rows[0] if name != "step"]
    with drawings() as drawing:
        figure = drawing(figsize=(6, 1.6 * len(names) + 0.6))
        figure.subplots_adjust(left=0.16, right=0.97, bottom=0.06, top=0.94)
        figure.suptitle(title)
        for place, name in enumerate(names, 1):
            axes = figure.add_subplot(len(names), 1, place, ylabel=name)
            axes.plot([row["step"] for row in rows], [row[name] for row in rows])
        axes.set_xlabel("step")
        figure.savefig(path, dpi=120)
