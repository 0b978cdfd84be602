"""The lines of a PDF page in the order they are read: columns one after the other, note marks taken out."""

import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from storm_pipeline.documents.inline_markup import can_be_note_mark, is_note_mark, raised_text

_SMALL = 0.82  # size of a mark, as a share of its line's, below which it is raised or lowered type
_NO_UNICODE = re.compile(r"\(cid:\d+\)")
_MIN_ROWS = 6  # rows that a page needs on both sides of a gutter
_FILLED = 0.6  # share of a column's width that its median row fills, where the columns hold prose and are no table


@dataclass(frozen=True)
class Line:
    """A line of text, or the piece of one that stands in one column; lengths are in points, y grows upwards."""

    text: str
    x0: float
    x1: float
    y: float
    size: float
    is_bold: bool = False
    is_note: bool = False
    """Whether it begins with a raised number, as a footnote does."""


def page_lines(page: Any) -> list[Line]:
    """The upright text of a page (pdfminer's ``LTPage``) in reading order, a row of a column on a line."""
    pieces = [piece for row in _text_rows(page) if (piece := _piece(row))]
    return _in_order(pieces)


def grouped(lines: Iterable[Line], begins: Callable[[list[Line], Line], bool]) -> list[list[Line]]:
    """Lines in groups; ``begins`` tells whether a line begins a new group after the lines of one."""
    found: list[list[Line]] = []
    for line in lines:
        if found and not begins(found[-1], line):
            found[-1].append(line)
        else:
            found.append([line])
    return found


def rows(lines: Iterable[Line]) -> list[list[Line]]:
    """Lines that stand at one height together, from the top down, each row from left to right."""

    def is_below(row: list[Line], line: Line) -> bool:
        return abs(row[0].y - line.y) >= 0.5 * max(line.size, row[0].size)

    found = grouped(sorted(lines, key=lambda one: (-one.y, one.x0)), is_below)
    return [sorted(row, key=lambda one: one.x0) for row in found]


def _text_rows(node: Any) -> Iterator[list[Any]]:
    """The characters of every line of text below a node, in no order of reading."""
    from pdfminer.layout import LTTextLine

    if isinstance(node, LTTextLine):
        yield list(node)
    elif hasattr(node, "__iter__"):
        for child in node:
            yield from _text_rows(child)


def _piece(row: Sequence[Any]) -> Line | None:
    from pdfminer.layout import LTChar

    letters = [char for char in row if isinstance(char, LTChar) and char.upright and char.get_text().strip()]
    if not letters:
        return None
    size = statistics.median_high(round(char.size, 1) for char in letters)
    base = statistics.median_low(char.y0 for char in letters if char.size > _SMALL * size)
    text, starts_raised = _text(row, size, base)
    if not text:
        return None
    bold = sum("bold" in char.fontname.lower() or "cmbx" in char.fontname.lower() for char in letters)
    return Line(
        text=text,
        x0=min(char.x0 for char in letters),
        x1=max(char.x1 for char in letters),
        y=base,
        size=size,
        is_bold=bold > len(letters) / 2,
        is_note=starts_raised,
    )


def _text(row: Sequence[Any], size: float, base: float) -> tuple[str, bool]:
    """The text of a line without its note marks, and whether it begins with one; exponents stay, as ``km²``."""
    from pdfminer.layout import LTChar

    parts: list[str] = []
    raised = ""
    starts_raised = False
    for char in [*row, None]:
        is_raised = isinstance(char, LTChar) and char.size <= _SMALL * size and char.y0 > base + 0.12 * size
        if is_raised:
            raised += char.get_text()
            continue
        if raised:
            before = "".join(parts)
            starts_raised = starts_raised or (not before.strip() and can_be_note_mark(raised))
            parts.append("" if is_note_mark(raised, before) else raised_text(raised))
            raised = ""
        if char is not None and (not isinstance(char, LTChar) or char.upright):
            parts.append(char.get_text())
    return " ".join(_NO_UNICODE.sub("\ufffd", "".join(parts).replace("\xad", "\u2010")).split()), starts_raised


def _in_order(pieces: list[Line]) -> list[Line]:
    """Pieces in reading order: above a line that spans the columns, the left column first, then the right one."""
    gutter = _gutter(pieces)
    if gutter is None:
        return [line for row in rows(pieces) for line in _parted(row)]
    ordered: list[Line] = []
    band: list[Line] = []
    for row in rows(pieces):
        if any(one.x0 < gutter < one.x1 for one in row):
            ordered += [*_columns(band, gutter), *_parted(row)]
            band = []
        else:
            band += row
    return [*ordered, *_columns(band, gutter)]


def _columns(pieces: list[Line], gutter: float) -> list[Line]:
    left = [one for one in pieces if one.x1 <= gutter]
    right = [one for one in pieces if one.x1 > gutter]
    return [line for side in (left, right) if side for line in _in_order(side)]


def _gutter(pieces: Sequence[Line]) -> float | None:
    """Where a column ends and the next begins; None where the page has one column, or a table."""
    if len(pieces) < 2 * _MIN_ROWS:
        return None
    left, right = min(one.x0 for one in pieces), max(one.x1 for one in pieces)
    first, last = left + 0.25 * (right - left), left + 0.75 * (right - left)
    found: list[tuple[int, float]] = []
    for start in sorted({round(one.x0 / 2) * 2 for one in pieces if first < one.x0 < last}):
        place = start - 2.0
        crossing = sum(one.x0 < place < one.x1 for one in pieces)
        before = rows(one for one in pieces if one.x1 <= place)
        after = rows(one for one in pieces if one.x0 >= place)
        enough = len(before) >= _MIN_ROWS and len(after) >= _MIN_ROWS
        if not enough or crossing > 0.4 * (len(before) + len(after)):
            continue
        if _fills(before, left, place) and _fills(after, place, right):
            found.append((crossing, place))
    return min(found)[1] if found else None


def _fills(column: Sequence[Sequence[Line]], left: float, right: float) -> bool:
    widths = [row[-1].x1 - row[0].x0 for row in column]
    return statistics.median(widths) >= _FILLED * (right - left)


def _parted(row: Sequence[Line]) -> list[Line]:
    """The pieces of a row, joined but where the gap between them is wide."""
    return list(map(_joined, grouped(row, lambda part, piece: piece.x0 - part[-1].x1 > 3 * piece.size)))


def _joined(part: Sequence[Line]) -> Line:
    text = " ".join(one.text for one in part)
    return replace(
        part[0], text=text, x1=part[-1].x1, size=max(one.size for one in part), is_bold=all(one.is_bold for one in part)
    )
