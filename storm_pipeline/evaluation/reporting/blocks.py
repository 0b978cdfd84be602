"""What a report's pages consist of, whatever they are written in: plain texts, never markup."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: what it says.
        detail: what stands behind it in small letters; empty for nothing.
        strong: the best of its column.
    """

    text: str
    detail: str = ""
    strong: bool = False


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes:
        columns: heads.
        rows: each as long as the heads.
        names: how many of the first columns hold names instead of numbers.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    names: int = 1


@dataclass(frozen=True)
class Figure:
    """A plot.

    Attributes:
        name: of its file, without folder.
        caption: what it shows, in a sentence.
        svg: the drawing, a whole SVG document.
    """

    name: str
    caption: str
    svg: str


Block = Text | Grid | Figure


@dataclass(frozen=True)
class Part:
    """A part of the report under a heading.

    Attributes:
        key: short and unique, for anchors.
        title: the heading.
        blocks: in order.
        parts: below it.
        folded: long, and shown on demand where a page can do so.
    """

    key: str
    title: str
    blocks: tuple[Block, ...] = ()
    parts: tuple["Part", ...] = ()
    folded: bool = False


@dataclass(frozen=True)
class Report:
    """The whole report.

    Attributes:
        title: of the experiment.
        blocks: before the first heading.
        parts: in order.
    """

    title: str
    blocks: tuple[Block, ...]
    parts: tuple[Part, ...]

    def figures(self) -> tuple[Figure, ...]:
        """All plots, in order."""

        def below(parts: tuple[Part, ...]) -> list[Figure]:
            return [
                figure
                for part in parts
                for figure in [*(b for b in part.blocks if isinstance(b, Figure)), *below(part.parts)]
            ]

        return tuple(below(self.parts))
