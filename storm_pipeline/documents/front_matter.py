"""The head of a document's first page: title, authors, and what else stands above the text."""

import re
from collections.abc import Iterable, Sequence

from storm_pipeline.documents.paragraphs import Block
from storm_pipeline.documents.pdf_record import found_doi
from storm_pipeline.documents.record import Record
from storm_pipeline.text.person_names import person_names

_MOST_BLOCKS = 15  # blocks above the text; where there are more, they are the text
_OPENING = re.compile(
    r"(?:\W*(?:\d+|[IVX]+)\.?\s+)?"
    r"(?:abstract|summary|introduction|zusammenfassung|einleitung|résumé|resumen)\b\W*",
    re.I,
)
_PROSE_WORDS = 12
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_NO_PERSON = re.compile(
    r"\b(?:journal|review|university|press|institute|department|vol|copyright|received|published)\b|[@©]|https?:", re.I
)


def split_front_matter(page: Sequence[Block], body: float, furniture: Sequence[str]) -> tuple[Record, list[Block]]:
    """What the head of the first page says, and the blocks of the page below it.

    ``body``: size of the type that the text is set in, in points.
    """
    first, last = _title_place(page, body)
    begin = next((n for n in range(last, len(page)) if _is_text(page[n])), len(page)) if last else 0
    head, rest = page[:begin], page[begin:]
    if len(head) > _MOST_BLOCKS:
        head, rest = page[:last], page[last:]
    said = [*furniture, *(one.text for one in (*head, *page[begin : begin + 3]))]
    if rest and _OPENING.fullmatch(rest[0].text):  # a bare heading such as "Abstract"
        rest = rest[1:]
    record = Record(
        title=" ".join(" ".join(one.text.split()) for one in page[first:last]),
        authors="; ".join(_authors(one.text for one in page[last:begin]) if head else ()),
        published=next((found[1] for one in said[: len(furniture) + len(head)] if (found := _YEAR.search(one))), ""),
        doi=next(filter(None, map(found_doi, said)), ""),
    )
    return record, list(rest)


def _title_place(page: Sequence[Block], body: float) -> tuple[int, int]:
    """The first block of the title and the one behind its last; twice the same where there is none."""
    heads = [n for n, block in enumerate(page[:_MOST_BLOCKS]) if _can_be_title(block)]
    if not heads:
        return 0, 0
    largest = max(page[n].size for n in heads)
    if largest < 1.12 * body:
        first = heads[0]
        return (first, first + 1) if page[first].is_bold and not _is_text(page[first]) and len(page) > 1 else (0, 0)
    first = next(n for n in heads if page[n].size > 0.97 * largest)
    last = first + 1
    while last < len(page) and page[last].size > 0.97 * largest:
        last += 1
    return first, last


def _can_be_title(block: Block) -> bool:
    words = block.text.split()
    return 0 < len(words) <= 40 and sum(map(str.isalpha, block.text)) >= 6 and not _OPENING.fullmatch(block.text)


def _is_text(block: Block) -> bool:
    """Whether a block belongs to the text: sentences, or the heading that opens it."""
    if _OPENING.match(block.text):
        return True
    words = block.text.split()
    lower = sum(word[0].islower() for word in words)
    is_long = len(words) >= _PROSE_WORDS and lower > 0.5 * len(words)
    return is_long and (len(block.lines) > 2 or any(mark in block.text for mark in ".!?"))


def _authors(lines: Iterable[str]) -> tuple[str, ...]:
    """The names in the first block that holds nothing but names."""
    for text in lines:
        for line in (text.replace("\n", ", "), text.split("\n")[0]):
            if not _NO_PERSON.search(line) and (names := person_names(line)):
                return names
    return ()
