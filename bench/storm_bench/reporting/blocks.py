"""What a report is made of: plain text, never markup."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """The title of a part; the report's own has level 1."""

    text: str
    level: int = 2


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


Block = Heading | str | Grid | Figure
"""A title, a paragraph, a table or a plot."""
