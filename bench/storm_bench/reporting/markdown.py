"""A report as Markdown, with plots as separate files."""

import re
from collections.abc import Iterable

from storm_bench.reporting.blocks import Block, Cell, Figure, Grid, Heading
from storm_pipeline.api import escape

PLOTS = "plots"
"""Folder of the plots, next to the report."""
_WITHIN_WORD = re.compile(r"(?<=[^\W_])\\_(?=[^\W_])")
"""An escaped underscore inside a word, where Markdown takes it literally anyway."""


def to_markdown(report: Iterable[Block]) -> str:
    """Render a report; all text is escaped."""
    return "\n\n".join(map(_block, report)) + "\n"


def grid(table: Grid) -> str:
    """A GitHub-flavoured Markdown table."""
    marks = ["---"] * table.names + ["---:"] * (len(table.columns) - table.names)
    head = [_escaped_inline(name) for name in table.columns]
    lines = [head, marks, *([_cell(cell) for cell in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _block(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {_escaped_inline(block.text)}"
    if isinstance(block, Figure):
        return f"![{_escaped_inline(block.caption)}]({PLOTS}/{block.name})"
    return grid(block) if isinstance(block, Grid) else _escaped(block)


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
