"""A report as Markdown, with plots as separate files."""

import re
from collections.abc import Iterator

from storm_bench.reporting.blocks import Block, Cell, Figure, Grid, ReportSection, Text
from storm_pipeline.api import escape

PLOTS = "plots"
"""Folder of the plots, next to the report."""
_WITHIN_WORD = re.compile(r"(?<=[^\W_])\\_(?=[^\W_])")
"""An escaped underscore inside a word, where Markdown takes it literally anyway."""


def to_markdown(report: ReportSection) -> str:
    """Render a report; all text is escaped."""
    return "\n\n".join(_part(report, 1)) + "\n"


def grid(table: Grid) -> str:
    """A GitHub-flavoured Markdown table."""
    marks = ["---"] * table.names + ["---:"] * (len(table.columns) - table.names)
    head = [_escaped_inline(name) for name in table.columns]
    lines = [head, marks, *([_cell(cell) for cell in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _part(part: ReportSection, level: int) -> Iterator[str]:
    yield f"{'#' * level} {_escaped_inline(part.title)}"
    yield from map(_block, part.blocks)
    for below in part.parts:
        yield from _part(below, level + 1)


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return _escaped(block.text)
    if isinstance(block, Figure):
        return f"![{_escaped_inline(block.caption)}]({PLOTS}/{block.name})"
    return grid(block)


def _escaped(text: str) -> str:
    """Escape a text at the start of a line."""
    return _WITHIN_WORD.sub("_", escape(text))


def _escaped_inline(text: str) -> str:
    """Escape a text inside a line, where line-start syntax needs no escape."""
    return _escaped(f"x{text}")[1:].strip()


def _cell(cell: Cell) -> str:
    text = _escaped_inline(cell.text)
    shown = f"**{text}**" if cell.strong and text else text
    return " ".join(part for part in (shown, _escaped_inline(cell.detail)) if part)
