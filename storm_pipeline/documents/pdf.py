"""Text of PDF files, page by page, as people read it."""

import contextlib
import io
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storm_pipeline.documents.document import FileText
from storm_pipeline.documents.furniture import LaidOut, without_furniture
from storm_pipeline.documents.isolated import allow_page
from storm_pipeline.documents.pdf_layout import blocks, joined, page_lines, page_texts
from storm_pipeline.documents.pdf_record import pdf_record, split_front_matter
from storm_pipeline.documents.record import UNKNOWN
from storm_pipeline.documents.untrusted import pdf_damage, unreadable

SCAN = "contains no text, perhaps only images; recognise its text (OCR) first: storm documents FOLDER --ocr"
"""The problem of a file without a text layer."""


def read_pdf(data: bytes, *, max_pages: int | None = None) -> FileText:
    """Return the text of a PDF. Never raises: what can't be read is reported among the problems.

    Columns are read one after the other. Title, byline, running heads, page numbers, note marks and footnotes are not
    part of the text; words that a line cuts are joined. Pages are labelled as printed, if that can be told.

    ``max_pages``: maximum number of pages read; None for all.
    """
    import pypdf

    # Without a handler the libraries' warnings about minor defects would go to the terminal.
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
    pages: list[LaidOut] = []
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
            pages.append(page or LaidOut(number, 0.0, ()))
        except damage:
            problems.append(f"is damaged on page {number}; the page was skipped")
        allow_page(number)
    if not any(page.lines or plain.get(page.number, "").strip() for page in pages) and not problems:
        problems.append(SCAN)
    return _file_text(reader, pages, plain, tuple(problems))


def _layouts(data: bytes) -> Iterator[LaidOut | None]:
    """Yield the pages by pdfminer, None for one without lines; once a page fails, no more of them are tried."""
    from pdfminer.converter import PDFPageAggregator
    from pdfminer.layout import LAParams
    from pdfminer.pdfdocument import PDFDocument
    from pdfminer.pdfinterp import PDFPageInterpreter, PDFResourceManager
    from pdfminer.pdfpage import PDFPage
    from pdfminer.pdfparser import PDFParser

    # Characters a wide space apart are pieces of their own, so that no piece reaches from one column into the next.
    parameters = LAParams(char_margin=0.9, boxes_flow=None, all_texts=True)
    with contextlib.suppress(Exception):  # what pdfminer raises on damaged files is not declared
        for number, page in enumerate(PDFPage.create_pages(PDFDocument(PDFParser(io.BytesIO(data)))), 1):
            resources = PDFResourceManager()
            device = PDFPageAggregator(resources, pageno=number, laparams=parameters)
            PDFPageInterpreter(resources, device).process_page(page)
            layout = device.get_result()
            lines = tuple(page_lines(layout))
            yield LaidOut(number, layout.height, lines) if lines else None


def _file_text(reader: Any, pages: Sequence[LaidOut], plain: Mapping[int, str], problems: tuple[str, ...]) -> FileText:
    """Return the pages' texts without their furniture, with what metadata and the first page say of the file."""
    sizes: Counter[float] = Counter()
    for line in (line for page in pages for line in page.lines):
        sizes[line.size] += len(line.text)
    body = sizes.most_common(1)[0][0] if sizes else 10.0
    lines, furniture, offset = without_furniture(pages, body)
    parts = list(map(blocks, lines))
    front = UNKNOWN
    if pages and pages[0].number == 1 and parts[0]:
        front, parts[0] = split_front_matter(parts[0], body, furniture[0])
    texts = page_texts(parts)
    numbered = {page.number: text for page, text in zip(pages, texts, strict=True)}
    numbered |= {number: joined(text, text) for number, text in plain.items()}
    found = tuple((number, text) for number, text in numbered.items() if text.strip())
    record = pdf_record(reader, front)
    labels = _labels(reader, list(numbered), offset or _stated_offset(record.work.extent, len(pages)))
    return FileText(record.title, found, record.published or None, problems, record, labels)


def _stated_offset(extent: str, count: int) -> int:
    """Return by how much the numbers of a work's pages in its journal are higher than the file's; 0 if unknown."""
    first, _, last = (part.strip(" -") for part in extent.replace("–", "-").partition("-"))
    is_range = first.isdecimal() and last.isdecimal() and int(last) - int(first) + 1 == count
    return int(first) - 1 if is_range else 0


def _labels(reader: Any, numbers: Sequence[int], offset: int) -> dict[int, str]:
    """Return page number → the label that the file gives the page, else the number printed on it, if it is another."""
    try:
        stated = [str(label).strip() for label in reader.page_labels]
    except pdf_damage():
        stated = []
    if any(label and label != str(number) for number, label in enumerate(stated, 1)):
        return {number: stated[number - 1] for number in numbers if number <= len(stated) and stated[number - 1]}
    return {number: str(number + offset) for number in numbers if offset and number + offset > 0}
