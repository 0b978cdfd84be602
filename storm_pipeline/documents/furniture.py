"""What stands on pages beside their text: running heads, page numbers, stamps, footnotes."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from storm_pipeline.documents.pdf_layout import Line, rows
from storm_pipeline.text.words import folded_words

_BAND = 0.14  # share of a page's height at its top and at its foot where furniture stands
_MOST_WORDS = 25  # words that a row of furniture has at most
_ROWS = 2  # rows at the top and at the foot that can be furniture
_BESIDE_NUMBERS = frozenset("page p seite s of von sur".split())
_NOTE = re.compile(r"(?:\d{1,3}|[*†‡])[.)]?\s*\S")


@dataclass(frozen=True)
class LaidOut:
    """A page: its number in the file, from 1, its height in points, and its lines in reading order."""

    number: int
    height: float
    lines: tuple[Line, ...]


def without_furniture(pages: Sequence[LaidOut], body: float) -> tuple[list[list[Line]], list[list[str]], int]:
    """Take what repeats at the edges of pages, page numbers and footnotes out of the pages.

    ``body``: size of the type that the text is set in, in points.

    Returns:
        What is left of each page, its lines in reading order; what was taken out of each, without footnotes; and by how
        much the number printed on a page is higher than that of the file, 0 if too few pages show such a number.
    """
    edges = [_edge_rows(page) for page in pages]
    seen = Counter(key for rows_of_page in edges for key in {_key(row) for row in rows_of_page})
    often = 2 if len(pages) <= 8 else 3
    offset = _printed_offset([(page.number, edge) for page, edge in zip(pages, edges, strict=True)])
    left, taken = [], []
    for page, edge in zip(pages, edges, strict=True):
        furniture = [
            row
            for row in edge
            if len(_text(row).split()) <= _MOST_WORDS
            and row[0].size <= 1.12 * body  # a title may be the running head
            and (
                seen[_key(row)] >= often
                or _is_page_number(_text(row))
                or (_numbers(row) and _stands_apart(row, page, body))
                or (offset is not None and page.number + offset in _numbers(row) and not _text(row).endswith("."))
            )
        ]
        dropped = {id(line) for row in furniture for line in row}
        kept = [line for line in page.lines if id(line) not in dropped]
        left.append(_without_notes(kept, body))
        taken.append(list(map(_text, furniture)))
    return left, taken, offset or 0


def _printed_offset(pages: Sequence[tuple[int, Sequence[Sequence[Line]]]]) -> int | None:
    offsets = Counter(
        offset for number, edge in pages for offset in {printed - number for row in edge for printed in _numbers(row)}
    )
    offset, agreeing = max(offsets.items(), key=lambda item: item[1], default=(0, 0))
    return offset if agreeing >= max(2, 0.4 * len(pages)) else None


def _numbers(row: Sequence[Line]) -> set[int]:
    """Return the numbers with which a row begins or ends."""
    ends = folded_words(_text(row))
    return {int(word) for word in (*ends[:1], *ends[-1:]) if word.isdecimal() and len(word) <= 4}


def _edge_rows(page: LaidOut) -> list[list[Line]]:
    found = rows(page.lines)
    top = [row for row in found[:_ROWS] if row[0].y > (1 - _BAND) * page.height]
    foot = [row for row in found[-_ROWS:] if row[0].y < _BAND * page.height]
    return [*top, *(row for row in foot if row not in top)]


def _stands_apart(row: Sequence[Line], page: LaidOut, body: float) -> bool:
    """Return whether a row of small type has more than a line's space between it and the next."""
    gaps = (abs(line.y - row[0].y) for line in page.lines if all(line is not own for own in row))
    return row[0].size <= body and min(gaps, default=0.0) > 2 * body and not _text(row).endswith(".")


def is_numeral(word: str) -> bool:
    """Return whether a word in lower case is a number, in digits or as a Roman numeral."""
    return word.isdecimal() or (word != "" and set(word) <= set("ivxlc"))


def _is_page_number(text: str) -> bool:
    """Return whether a row is the number of a page alone, such as "Page 3 of 10"."""
    words = folded_words(text)
    return any(map(is_numeral, words)) and all(is_numeral(word) or word in _BESIDE_NUMBERS for word in words)


def _key(row: Sequence[Line]) -> str:
    words = _text(row).casefold().split()
    return " ".join("#" if any(map(str.isdecimal, word)) or is_numeral(word) else word for word in words)


def _text(row: Sequence[Line]) -> str:
    return " ".join(line.text for line in row)


def _without_notes(lines: Sequence[Line], body: float) -> list[Line]:
    """Return the lines without footnotes: small type at the foot of a column that begins with a mark."""
    kept: list[Line] = []
    run: list[Line] = []
    for line in (*lines, None):
        is_small = line is not None and line.size < 0.92 * body
        if line is not None and is_small and (not run or line.y < run[-1].y):
            run.append(line)
            continue
        begins = next((n for n, small in enumerate(run) if small.is_note or _NOTE.match(small.text)), len(run))
        at_foot = line is None or (run and line.y > run[-1].y)
        kept += run[:begins] if at_foot else run
        run = [line] if line is not None and is_small else []
        kept += [line] if line is not None and not is_small else []
    return kept
