"""The head of a document's first page: title, authors, and what else stands above the text."""

from collections.abc import Iterable, Sequence

from storm_pipeline.documents.furniture import is_numeral
from storm_pipeline.documents.paragraphs import Block
from storm_pipeline.documents.plain import found_doi, found_year
from storm_pipeline.documents.record import Record
from storm_pipeline.text.person_names import person_names
from storm_pipeline.text.words import folded_words

_MOST_BLOCKS = 15  # blocks above the text; where there are more, they are the text
_OPENINGS = frozenset("abstract summary introduction zusammenfassung einleitung résumé resumen".split())
_PROSE_WORDS = 12


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
    if rest and _opening(rest[0].text) and len(rest[0].text.split()) <= 2:  # a bare heading such as "Abstract"
        rest = rest[1:]
    record = Record(
        title=" ".join(" ".join(one.text.split()) for one in page[first:last]),
        authors="; ".join(_authors(one.text for one in page[last:begin]) if head else ()),
        published=next(filter(None, map(found_year, said[: len(furniture) + len(head)])), ""),
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
    return (
        0 < len(words) <= 40
        and sum(map(str.isalpha, block.text)) >= 6
        and not (len(words) <= 2 and _opening(block.text))
    )


def _opening(text: str) -> bool:
    """Whether a block begins with the heading that opens a text, its number aside."""
    words = folded_words(text)
    return not _OPENINGS.isdisjoint(words[: 2 if words and is_numeral(words[0]) else 1])


def _is_text(block: Block) -> bool:
    """Whether a block belongs to the text: sentences, or the heading that opens it."""
    if _opening(block.text):
        return True
    words = block.text.split()
    lower = sum(word[0].islower() for word in words)
    is_long = len(words) >= _PROSE_WORDS and lower > 0.5 * len(words)
    return is_long and (len(block.lines) > 2 or any(mark in block.text for mark in ".!?"))


def _authors(lines: Iterable[str]) -> tuple[str, ...]:
    """The names in the first block that holds nothing but names."""
    for text in lines:
        for line in (text.replace("\n", ", "), text.split("\n")[0]):
            if "@" not in line and "©" not in line and (names := person_names(line)):
                return names
    return ()
