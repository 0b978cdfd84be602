"""A report as Markdown; plots are files beside it."""

import re
from collections.abc import Iterator

from storm_pipeline.evaluation.reporting.blocks import Block, Cell, Figure, Grid, Part, Report, Text
from storm_pipeline.render.markdown import escape

PLOTS = "plots"
"""Folder of the plots, beside the report."""
_WITHIN_WORD = re.compile(r"(?<=[^\W_])\\_(?=[^\W_])")
"""An escaped underscore between letters or figures: there it is literal anyway."""


def to_markdown(report: Report) -> str:
    """The whole report; every text is shown literally."""
    parts = (line for part in report.parts for line in _part(part, 2))
    return "\n\n".join([f"# {_inside(report.title)}", *map(_block, report.blocks), *parts]) + "\n"


def grid(table: Grid) -> str:
    """A table of GitHub's form."""
    marks = ["---"] * table.names + ["---:"] * (len(table.columns) - table.names)
    lines = [[_inside(name) for name in table.columns], marks, *([_cell(cell) for cell in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _part(part: Part, level: int) -> Iterator[str]:
    yield f"{'#' * level} {_inside(part.title)}"
    yield from map(_block, part.blocks)
    for below in part.parts:
        yield from _part(below, level + 1)


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return _literal(block.text)
    if isinstance(block, Figure):
        return f"![{_inside(block.caption)}]({PLOTS}/{block.name})"
    return grid(block)


def _literal(text: str) -> str:
    """A text at the start of a line that is shown as it is."""
    return _WITHIN_WORD.sub("_", escape(text))


def _inside(text: str) -> str:
    """A text behind others on a line: what acts at the start of a line alone needs no escape."""
    return _literal(f"x{text}")[1:].strip()


def _cell(cell: Cell) -> str:
    text = _inside(cell.text)
    shown = f"**{text}**" if cell.strong and text else text
    return " ".join(part for part in (shown, _inside(cell.detail)) if part)
