"""Text of PDF files by page in reading order, and their bibliographic data.

These are from the metadata and the head of the first page.
"""

import contextlib
import io
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from storm_pipeline.sources.documents.document import UNKNOWN, FileText, Record, usable_authors, usable_title
from storm_pipeline.sources.documents.isolated import allow_page
from storm_pipeline.sources.documents.pdf_layout import (
    Block,
    Line,
    blocks,
    is_numeral,
    page_lines,
    page_texts,
    rejoin,
    rows,
)
from storm_pipeline.sources.documents.untrusted import pdf_damage, unreadable
from storm_pipeline.text.person_names import person_names
from storm_pipeline.text.plain import find_doi, find_year, iso_date, plain_text
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Work

_PRISM = tuple(
    f"http://prismstandard.org/namespaces/basic/{version}/" for version in ("2.0", "2.1", "2.2", "3.0", "1.2")
)
_DOI_PLACES = (("http://ns.adobe.com/pdfx/1.3/", "doi"), ("http://crossref.org/crossmark/1.0/", "DOI"))
_KINDS = {"journal": "article", "magazine": "article", "newspaper": "article", "book": "chapter"}
_MOST_BLOCKS = 15  # maximum blocks above the text
_OPENINGS = frozenset("abstract summary introduction zusammenfassung einleitung résumé resumen".split())
_PROSE_WORDS = 12


def pdf_record(reader: Any, front: Record) -> Record:
    """Return the record of a file from its XMP, then its properties, then its first page (``front``) but its date."""
    damage = pdf_damage()  # damage of metadata only
    stated, properties = Record(), Record()
    with suppress(*damage):
        stated = _xmp_record(reader.xmp_metadata) if reader.xmp_metadata else stated
    with suppress(*damage):
        properties = _properties(reader.metadata or {})
    known, front = stated.completed(properties).of("metadata"), replace(front, published="").of("text")
    if " " not in known.title and front.title:  # a code or file name
        known = front.completed(known)
    return known.completed(front)


def _xmp_record(xmp: Any) -> Record:
    titles = xmp.dc_title or {}
    creators = [usable_authors(name) for name in xmp.dc_creator or ()]
    prism = {name: _first(_element(xmp, namespace, name) for namespace in _PRISM) for name in (
        "publicationName", "publicationDate", "coverDate", "doi", "volume", "number", "startingPage", "endingPage",
        "pageRange", "aggregationType", "isbn", "url",
    )}  # fmt: skip
    first, last = prism["startingPage"], prism["endingPage"]
    publishers = "; ".join(filter(None, map(plain_text, xmp.dc_publisher or ())))
    is_published = publishers or prism["publicationName"]  # else a date may be that of the file's making
    days = (day.date().isoformat() if hasattr(day, "date") else str(day) for day in xmp.dc_date or () if is_published)
    dates = (prism["publicationDate"], prism["coverDate"], *days)
    identifier = (plain_text(xmp.dc_identifier), prism["doi"], *(_element(xmp, *place) for place in _DOI_PLACES))
    work = Work(
        kind=_KINDS.get(prism["aggregationType"].lower(), ""),
        volume=prism["volume"],
        issue=prism["number"],
        extent=prism["pageRange"] or (f"{first}-{last}" if first and last else first),
        isbn=prism["isbn"],
        url=prism["url"],
    )
    return Record(
        title=usable_title(titles.get("x-default") or next(iter(titles.values()), "")),
        authors="; ".join(dict.fromkeys(filter(None, creators))),
        published=_first(iso_date(date) or find_year(date[:4]) for date in dates),
        container=prism["publicationName"],
        publisher=publishers,
        doi=_first(map(find_doi, identifier)),
        language=_first(map(plain_text, xmp.dc_language or ())),
        work=work,
    )


def _properties(info: Any) -> Record:
    """Return the record in the document information, whose dates are those of the file."""

    def text_of(*keys: str) -> str:
        return " ".join(plain_text(str(info.get(key) or "")) for key in keys)

    doi = find_doi(text_of("/doi", "/DOI", "/WPS-ARTICLEDOI", "/Subject"))
    return Record(usable_title(text_of("/Title")), usable_authors(text_of("/Author")), doi=doi)


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


def _element(xmp: Any, namespace: str, name: str) -> str:
    nodes = xmp.get_element("", namespace, name)
    return _first(plain_text(n.value if n.nodeType == n.ATTRIBUTE_NODE else xmp._get_text(n)) for n in nodes)


def split_front_matter(page: Sequence[Block], body: float, furniture: Sequence[str]) -> tuple[Record, list[Block]]:
    """Return the record from the head of the first page, and the remaining blocks.

    ``body``: size of the type that the text is set in, in points.
    """
    first, last = _title_place(page, body)
    begin = next((n for n in range(last, len(page)) if _is_text(page[n])), len(page)) if last else 0
    head, rest = page[:begin], page[begin:]
    if len(head) > _MOST_BLOCKS:
        head, rest = page[:last], page[last:]
    used_texts = [*furniture, *(block.text for block in (*head, *page[begin : begin + 3]))]
    if rest and _begins_with_opening(rest[0].text) and len(rest[0].text.split()) <= 2:  # such as "Abstract"
        rest = rest[1:]
    title = " ".join(" ".join(block.text.split()) for block in page[first:last])
    dated_texts = [*furniture, *(block.text for block in (*head[:first], *head[last:]))]
    record = Record(
        title=title,
        authors="; ".join(_authors(block.text for block in page[last:begin]) if head else ()),
        published=_first(find_year(text, title) for text in dated_texts),
        doi=_first(map(find_doi, used_texts)),
    )
    return record, list(rest)


def _title_place(page: Sequence[Block], body: float) -> tuple[int, int]:
    """Return the range of the title's blocks; empty without a title."""
    heads = [n for n, block in enumerate(page[:_MOST_BLOCKS]) if _can_be_title(block.text)]
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


def _can_be_title(text: str) -> bool:
    count = len(text.split())
    return 0 < count <= 40 and sum(map(str.isalpha, text)) >= 6 and not (count <= 2 and _begins_with_opening(text))


def _begins_with_opening(text: str) -> bool:
    """Return whether a block begins with the opening heading of a text, ignoring its number."""
    words = folded_words(text)
    return not _OPENINGS.isdisjoint(words[: 2 if words and is_numeral(words[0]) else 1])


def _is_text(block: Block) -> bool:
    """Return whether a block belongs to the text: sentences, or its opening heading."""
    words = block.text.split()
    is_long = len(words) >= _PROSE_WORDS and sum(word[0].islower() for word in words) > 0.5 * len(words)
    is_prose = is_long and (block.lines > 2 or any(mark in block.text for mark in ".!?"))
    return is_prose or _begins_with_opening(block.text)


def _authors(lines: Iterable[str]) -> tuple[str, ...]:
    for text in lines:
        names_below = text.split("\n")
        for line in (", ".join(names_below[:count]) for count in range(len(names_below), 0, -1)):
            if "@" not in line and "©" not in line and (names := person_names(line)):
                return names
    return ()


SCAN = "contains no text, perhaps only images; recognise its text (OCR) first: ocrmypdf NAME.pdf NAME.ocr.pdf"
"""The problem of a file without a text layer."""
_BAND = 0.14  # share of a page's height, at top and foot, for headers and footers
_MOST_WORDS = 25  # maximum words of a header or footer row
_ROWS = 2  # maximum rows of headers and of footers
_BESIDE_NUMBERS = frozenset("page p seite s of von sur".split())
_NOTE = re.compile(r"(?:\d{1,3}|[*†‡])[.)]?\s*\S")


@dataclass(frozen=True)
class _Page:
    """A page: its number in the file, from 1, its height in points, and its lines in reading order."""

    number: int
    height: float
    lines: tuple[Line, ...]


def read_pdf(data: bytes, *, max_pages: int | None = None) -> FileText:
    """Return the text of a PDF. Never raises: unreadable parts are reported in ``problems``.

    Columns are read one after another. Title, byline, running heads, page numbers, note marks and footnotes are
    removed; hyphenated words are joined. Pages have their printed labels, if known.

    ``max_pages``: maximum number of pages read; None for all.
    """
    import pypdf

    # Without a handler, the libraries' warnings about minor defects would go to the terminal.
    for library in ("pypdf", "pdfminer"):
        logging.getLogger(library).addHandler(logging.NullHandler())
    damage = pdf_damage()
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            return FileText(problems=("is encrypted; save a copy without a password",))
        count = len(reader.pages)
    except damage as error:
        return unreadable("PDF", error)
    layouts = _layouts(data)
    pages: list[_Page] = []
    plain: dict[int, str] = {}
    problems: list[str] = []
    for number in range(1, count + 1):
        if number > (max_pages or count):
            problems.append(f"is long: only its first {number - 1} of {count} pages were read")
            break
        try:
            page = next(layouts, None)
            if page is None:
                plain[number] = reader.pages[number - 1].extract_text()
            pages.append(page or _Page(number, 0.0, ()))
        except damage:
            problems.append(f"is damaged on page {number}; the page was skipped")
        allow_page(number, len(data))
    if not any(page.lines or plain.get(page.number, "").strip() for page in pages) and not problems:
        problems.append(SCAN)
    return _file_text(reader, pages, plain, tuple(problems))


def _layouts(data: bytes) -> Iterator[_Page | None]:
    """Yield pdfminer's pages, None for a page without lines; stops at the first failing page."""
    from pdfminer.high_level import extract_pages
    from pdfminer.layout import LAParams

    # Text is split at wide spaces, so that no piece spans two columns.
    parameters = LAParams(char_margin=0.9, boxes_flow=None, all_texts=True)
    with contextlib.suppress(Exception):  # pdfminer raises undeclared errors on damaged files
        for number, layout in enumerate(extract_pages(io.BytesIO(data), laparams=parameters), 1):
            lines = tuple(page_lines(layout))
            yield _Page(number, layout.height, lines) if lines else None


def _file_text(reader: Any, pages: Sequence[_Page], plain: Mapping[int, str], problems: tuple[str, ...]) -> FileText:
    """Return the pages' texts without headers, footers and notes, with the file's record and labels."""
    sizes: Counter[float] = Counter()
    for line in (line for page in pages for line in page.lines):
        sizes[line.size] += len(line.text)
    body = sizes.most_common(1)[0][0] if sizes else 10.0
    lines, furniture, offset = _without_furniture(pages, body)
    parts = list(map(blocks, lines))
    front = UNKNOWN
    if pages and pages[0].number == 1 and parts[0]:
        front, parts[0] = split_front_matter(parts[0], body, furniture[0])
    texts = page_texts(parts)
    numbered = {page.number: text for page, text in zip(pages, texts, strict=True)}
    numbered |= {number: rejoin(text, text) for number, text in plain.items()}
    filled = tuple((number, text) for number, text in numbered.items() if text.strip())
    record = pdf_record(reader, front)
    labels = _labels(reader, list(numbered), offset or _stated_offset(record.work.extent, len(pages)))
    return FileText(record.title, filled, record.published or front.published or None, problems, record, labels)


def _stated_offset(extent: str, count: int) -> int:
    """Return the offset of a work's page numbers in its journal from the file's; 0 if unknown."""
    first, _, last = (part.strip(" -") for part in extent.replace("–", "-").partition("-"))
    is_range = first.isdecimal() and last.isdecimal() and int(last) - int(first) + 1 == count
    return int(first) - 1 if is_range else 0


def _labels(reader: Any, numbers: Sequence[int], offset: int) -> dict[int, str]:
    """Return page number → the file's label of the page, else its printed number, if different."""
    try:
        stated = [str(label).strip() for label in reader.page_labels]
    except pdf_damage():
        stated = []
    if any(label and label != str(number) for number, label in enumerate(stated, 1)):
        return {number: stated[number - 1] for number in numbers if number <= len(stated) and stated[number - 1]}
    return {number: str(number + offset) for number in numbers if offset and number + offset > 0}


def _without_furniture(pages: Sequence[_Page], body: float) -> tuple[list[list[Line]], list[list[str]], int]:
    """Remove headers, footers, page numbers and footnotes from the pages.

    ``body``: font size of the text, in points.

    Returns:
        The remaining lines of each page in reading order; its removed texts, without footnotes; and the offset of
            printed page numbers from the file's, 0 if too few pages show such a number.
    """
    edges = [_edge_rows(page) for page in pages]
    seen = Counter(key for rows_of_page in edges for key in {_key(row) for row in rows_of_page})
    often = 2 if len(pages) <= 8 else 3
    printed = [{number for row in edge for number in _numbers(row)} for edge in edges]
    offsets = Counter(number - page.number for page, numbers in zip(pages, printed, strict=True) for number in numbers)
    offset, agreeing = max(offsets.items(), key=lambda item: item[1], default=(0, 0))
    is_printed = agreeing >= max(2, 0.4 * len(pages))
    left, taken = [], []
    for page, edge in zip(pages, edges, strict=True):
        furniture = [
            row
            for row in edge
            if len(_text(row).split()) <= _MOST_WORDS
            and row[0].size <= 1.12 * body  # a title may be the running head
            and (
                seen[_key(row)] >= often
                or (len(edge) == len(rows(page.lines)) and len(pages) > 1 and not _text(row).endswith("."))
                or _is_page_number(_text(row))
                or (_numbers(row) and _is_separate(row, page, body))
                or (is_printed and page.number + offset in _numbers(row) and not _text(row).endswith("."))
            )
        ]
        dropped = {id(line) for row in furniture for line in row}
        kept = [line for line in page.lines if id(line) not in dropped]
        left.append(_without_notes(kept, body))
        taken.append(list(map(_text, furniture)))
    return left, taken, offset * is_printed


def _numbers(row: Sequence[Line]) -> set[int]:
    """Return the numbers at the start and end of a row."""
    ends = folded_words(_text(row))
    return {int(word) for word in (*ends[:1], *ends[-1:]) if word.isdecimal() and len(word) <= 4}


def _edge_rows(page: _Page) -> list[list[Line]]:
    page_rows = rows(page.lines)
    top = [row for row in page_rows[:_ROWS] if row[0].y > (1 - _BAND) * page.height]
    foot = [row for row in page_rows[-_ROWS:] if row[0].y < _BAND * page.height]
    return [*top, *(row for row in foot if row not in top)]


def _is_separate(row: Sequence[Line], page: _Page, body: float) -> bool:
    """Return whether a row of small type is more than a line away from the next."""
    gaps = (abs(line.y - row[0].y) for line in page.lines if all(line is not member for member in row))
    return row[0].size <= body and min(gaps, default=0.0) > 2 * body and not _text(row).endswith(".")


def _is_page_number(text: str) -> bool:
    words = folded_words(text)
    return any(map(is_numeral, words)) and all(is_numeral(word) or word in _BESIDE_NUMBERS for word in words)


def _key(row: Sequence[Line]) -> str:
    words = _text(row).casefold().split()
    return " ".join("#" if any(map(str.isdecimal, word)) or is_numeral(word) else word for word in words)


def _text(row: Sequence[Line]) -> str:
    return " ".join(line.text for line in row)


def _without_notes(lines: Sequence[Line], body: float) -> list[Line]:
    """Return the lines without footnotes: small type at the foot of a column, from a line with a leading mark."""
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
