"""The lines of a PDF page in reading order, column by column, and their paragraphs."""

import re
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from storm_pipeline.sources.documents.markup import can_be_note_mark, is_note_mark, raised_text
from storm_pipeline.text.words import folded_words

_SMALL = 0.82  # font size relative to the line below which type counts as raised or lowered
_NO_UNICODE = re.compile(r"\(cid:\d+\)")
_MIN_ROWS = 6  # minimum rows on both sides of a gutter
_FILLED = 0.6  # minimum share of a column's width filled by its median row, for prose rather than a table
_HYPHEN = re.compile(r"(?<![^\W\d_])([^\W\d_]++)[-\u00ad\u2010]\n([a-zà-öø-ÿ][^\W\d_]*)")
_HYPHENATED = re.compile(r"(?<![^\W\d_])[^\W\d_]++[-\u2010][^\W\d_]+(?!\n)")
_CLOSING = "\"'”’»)]"
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*(?=\s|$)")


@dataclass(frozen=True)
class Line:
    """A line of text, or its part in a column; lengths are in points, y grows upwards."""

    text: str
    x0: float
    x1: float
    y: float
    size: float
    is_bold: bool = False
    is_note: bool = False
    """Whether it begins with a raised number, as a footnote does."""


@dataclass(frozen=True)
class Block:
    """Lines of a paragraph, a heading or a title."""

    text: str  # the lines, one below the other
    size: float  # the largest font size, in points
    is_bold: bool  # whether all of it is bold
    lines: int  # number of lines


def page_lines(page: Any) -> list[Line]:
    """Return the upright lines of a page (pdfminer's ``LTPage``) in reading order, one per row of a column."""
    return _in_order([piece for row in _text_rows(page) if (piece := _piece(row))])


def rows(lines: Iterable[Line]) -> list[list[Line]]:
    """Group lines of equal height into rows, from top to bottom and left to right."""

    def is_below(row: list[Line], line: Line) -> bool:
        return abs(row[0].y - line.y) >= 0.5 * max(line.size, row[0].size)

    groups = _group(sorted(lines, key=lambda line: (-line.y, line.x0)), is_below)
    return [sorted(row, key=lambda line: line.x0) for row in groups]


def _group(lines: Iterable[Line], begins: Callable[[list[Line], Line], bool]) -> list[list[Line]]:
    """Group lines; ``begins``: whether a line begins a new group after the lines of the current one."""
    groups: list[list[Line]] = []
    for line in lines:
        if groups and not begins(groups[-1], line):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _text_rows(node: Any) -> Iterator[list[Any]]:
    """Yield the characters of every line of text below a node, not in reading order."""
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
    x0, x1 = min(char.x0 for char in letters), max(char.x1 for char in letters)
    return Line(text, x0, x1, base, size, bold > len(letters) / 2, starts_raised)


def _text(row: Sequence[Any], size: float, base: float) -> tuple[str, bool]:
    """Return the text of a line without note marks, but with exponents (``km²``), and whether it begins with a mark."""
    from pdfminer.layout import LTChar

    parts: list[str] = []
    raised = ""
    starts_raised = False
    for char in [*row, None]:
        if isinstance(char, LTChar) and char.size <= _SMALL * size and char.y0 > base + 0.12 * size:
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
    """Sort pieces column by column above each line that spans the columns; authors side by side by row."""
    gutter = _gutter(pieces)
    if gutter is None:
        return [line for row in rows(pieces) for line in _join_pieces(row)]
    ordered: list[Line] = []
    band: list[Line] = []
    for row in rows(pieces):
        if any(piece.x0 < gutter < piece.x1 for piece in row):
            ordered += [*_columns(band, gutter), *_join_pieces(row)]
            band = []
        elif band and _is_head(band, row, gutter, pieces):
            ordered += [line for head_row in rows(band) for line in _join_pieces(head_row)]
            band = list(row)
        else:
            band += row
    return [*ordered, *_columns(band, gutter)]


def _is_head(band: Sequence[Line], below: Sequence[Line], gutter: float, pieces: Sequence[Line]) -> bool:
    """Return whether lines fill neither column and more than a line is empty below them."""
    left, right = min(piece.x0 for piece in pieces), max(piece.x1 for piece in pieces)
    before, after = ([piece for piece in band if (piece.x1 <= gutter) == side] for side in (True, False))
    is_prose = (before and _fills(rows(before), left, gutter)) or (after and _fills(rows(after), gutter, right))
    return not is_prose and band[-1].y - below[0].y > 2 * max(band[-1].size, below[0].size)


def _columns(pieces: list[Line], gutter: float) -> list[Line]:
    sides = [piece for piece in pieces if piece.x1 <= gutter], [piece for piece in pieces if piece.x1 > gutter]
    return [line for side in sides if side for line in _in_order(side)]


def _gutter(pieces: Sequence[Line]) -> float | None:
    """Return the end of a column and the start of the next; None for a single column or a table."""
    if len(pieces) < 2 * _MIN_ROWS:
        return None
    left, right = min(piece.x0 for piece in pieces), max(piece.x1 for piece in pieces)
    first, last = left + 0.25 * (right - left), left + 0.75 * (right - left)
    gaps: list[tuple[int, float]] = []
    for start in sorted({round(piece.x0 / 2) * 2 for piece in pieces if first < piece.x0 < last}):
        place = start - 2.0
        crossing = sum(piece.x0 < place < piece.x1 for piece in pieces)
        before = rows(piece for piece in pieces if piece.x1 <= place)
        after = rows(piece for piece in pieces if piece.x0 >= place)
        enough = len(before) >= _MIN_ROWS and len(after) >= _MIN_ROWS
        if not enough or crossing > 0.4 * (len(before) + len(after)):
            continue
        if _fills(before, left, place) and _fills(after, place, right):
            gaps.append((crossing, place))
    return min(gaps)[1] if gaps else None


def _fills(column: Sequence[Sequence[Line]], left: float, right: float) -> bool:
    return statistics.median(row[-1].x1 - row[0].x0 for row in column) >= _FILLED * (right - left)


def _join_pieces(row: Sequence[Line]) -> list[Line]:
    """Join the pieces of a row unless the gap between them is wide."""
    parts = _group(row, lambda part, piece: piece.x0 - part[-1].x1 > 3 * piece.size)
    return [replace(
        part[0], text=" ".join(piece.text for piece in part), x1=part[-1].x1, size=max(piece.size for piece in part),
        is_bold=all(piece.is_bold for piece in part),
    ) for part in parts]  # fmt: skip


def blocks(lines: Sequence[Line]) -> list[Block]:
    """Group lines in reading order; a block ends at a change of type, a gap or an indent."""
    groups = _group(lines, _begins_block)
    return [Block("\n".join(line.text for line in group), max(line.size for line in group),
        all(line.is_bold for line in group), len(group)) for group in groups]  # fmt: skip


def _begins_block(block: Sequence[Line], line: Line) -> bool:
    last = block[-1]
    step = last.y - line.y
    if step < 0:  # the next column: the sentence may continue
        return _has_ended(last.text) or abs(line.size - last.size) > 0.08 * last.size
    usual = block[0].y - block[1].y if len(block) > 1 else 1.45 * last.size
    if step > 1.35 * max(usual, line.size) or abs(line.size - last.size) > 0.08 * last.size:
        return True
    if line.is_bold != last.is_bold and (last.is_bold or _has_ended(last.text)):
        return True
    indented = line.x0 > min(earlier.x0 for earlier in block) + 0.8 * line.size
    return bool(indented and len(block) > 1 and _has_ended(last.text))


def _has_ended(text: str) -> bool:
    return text.rstrip(_CLOSING)[-1:] in set(".!?…:;。！？")


def rejoin(text: str, whole: str) -> str:
    """Return a text without line-end hyphens, except in words that ``whole`` hyphenates, and in ``twenty-seven``."""
    known = {match.replace("\u2010", "-").casefold() for match in _HYPHENATED.findall(whole)} if whole else set()
    firsts, vocabulary = {word.partition("-")[0] for word in known}, set(folded_words(_HYPHEN.sub("", whole)))

    def without_hyphen(match: re.Match[str]) -> str:
        first, second = match[1].casefold(), match[2].casefold()
        # ``whole`` has such as ``twenty-five`` and ``seven``, but not ``twentyseven``
        is_compound = first in firsts and second in vocabulary and first + second not in vocabulary
        return f"{match[1]}{'-' * (is_compound or f'{first}-{second}' in known)}{match[2]}"

    return _HYPHEN.sub(without_hyphen, text)


def page_texts(pages: Iterable[Sequence[Block]]) -> list[str]:
    """Return the text of each page; a sentence across a page break is on the page of its start."""
    texts = ["\n\n".join(block.text for block in page) for page in pages]
    whole = "\n".join(texts)
    for place in range(len(texts) - 1):
        before, after = texts[place].rstrip(), texts[place + 1]
        if not before or not after or _has_ended(before) or not after[0].islower():
            continue
        if end := _SENTENCE_END.search(after.partition("\n\n")[0]):
            texts[place] = f"{before}\n{after[: end.end()]}"
            texts[place + 1] = after[end.end() :].lstrip()
    return [rejoin(text, whole) for text in texts]


def is_numeral(word: str) -> bool:
    """Return whether a lower-case word is a number in digits or Roman numerals."""
    return word.isdecimal() or (word != "" and set(word) <= set("ivxlc"))
