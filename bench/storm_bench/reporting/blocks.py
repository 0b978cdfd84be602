"""Format-independent content of a report: plain text, never markup."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: its content.
        detail: small text after it; may be empty.
        strong: shown in bold.
    """

    text: str
    detail: str = ""
    strong: bool = False


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes:
        columns: column headers.
        rows: each as long as ``columns``.
        names: number of leading columns that contain text instead of numbers.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    names: int = 1


@dataclass(frozen=True)
class Figure:
    """A plot.

    Attributes:
        name: file name without folder.
        caption: one sentence.
        svg: a complete SVG document.
    """

    name: str
    caption: str
    svg: str


Block = Text | Grid | Figure


@dataclass(frozen=True)
class ReportSection:
    """A section of the report.

    Attributes:
        key: short and unique, for anchors.
        title: the heading.
        blocks: in order.
        parts: its subsections.
        folded: collapsed by default in HTML.
    """

    key: str
    title: str
    blocks: tuple[Block, ...] = ()
    parts: tuple["ReportSection", ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class ReportPage:
    """The whole report.

    Attributes:
        title: of the experiment.
        blocks: content before the first heading.
        parts: in order.
    """

    title: str
    blocks: tuple[Block, ...]
    parts: tuple[ReportSection, ...]

    def figures(self) -> tuple[Figure, ...]:
        """All plots, in order."""

        def below(parts: tuple[ReportSection, ...]) -> list[Figure]:
            return [
                figure
                for part in parts
                for figure in [*(b for b in part.blocks if isinstance(b, Figure)), *below(part.parts)]
            ]

        return tuple(below(self.parts))
