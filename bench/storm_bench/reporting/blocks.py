"""Format-independent content of a report: plain text, never markup."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: str  # its content
    detail: str = ""  # small text after it; may be empty
    strong: bool = False  # shown in bold


@dataclass(frozen=True)
class Grid:
    """A table."""

    columns: tuple[str, ...]  # column headers
    rows: tuple[tuple[Cell, ...], ...]  # each as long as ``columns``
    names: int = 1  # number of leading columns that contain text instead of numbers

    @classmethod
    def of(cls, columns: Iterable[str], rows: Iterable[Iterable[str | Cell]], names: int = 1) -> "Grid":
        """A table whose texts become plain cells."""
        cells = (tuple(Cell(one) if isinstance(one, str) else one for one in row) for row in rows)
        return cls(tuple(columns), tuple(cells), names)


@dataclass(frozen=True)
class Figure:
    """A plot."""

    name: str  # file name without folder
    caption: str  # one sentence
    svg: str  # a complete SVG document


Block = Text | Grid | Figure


@dataclass(frozen=True)
class ReportSection:
    """A section of the report, or the whole of it."""

    key: str  # short and unique, for anchors; empty for the whole
    title: str  # the heading, or the title of the experiment
    blocks: tuple[Block, ...] = ()  # in order
    parts: tuple["ReportSection", ...] = ()  # its subsections
    folded: bool = False  # collapsed by default in HTML

    def figures(self) -> tuple[Figure, ...]:
        """All plots, in order."""
        own = (block for block in self.blocks if isinstance(block, Figure))
        return (*own, *(figure for part in self.parts for figure in part.figures()))
