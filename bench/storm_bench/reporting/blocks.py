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
    """A section of the report."""

    key: str  # short and unique, for anchors
    title: str  # the heading
    blocks: tuple[Block, ...] = ()  # in order
    parts: tuple["ReportSection", ...] = ()  # its subsections
    folded: bool = False  # collapsed by default in HTML


@dataclass(frozen=True)
class ReportPage:
    """The whole report."""

    title: str  # of the experiment
    blocks: tuple[Block, ...]  # content before the first heading
    parts: tuple[ReportSection, ...]  # in order

    def figures(self) -> tuple[Figure, ...]:
        """All plots, in order."""

        def below(parts: tuple[ReportSection, ...]) -> list[Figure]:
            return [
                figure
                for part in parts
                for figure in [*(b for b in part.blocks if isinstance(b, Figure)), *below(part.parts)]
            ]

        return tuple(below(self.parts))
