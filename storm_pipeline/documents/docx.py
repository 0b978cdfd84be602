"""Text of Word files, by page if the file records its page breaks."""

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from storm_pipeline.documents.document import FileText
from storm_pipeline.documents.docx_runs import W as _W
from storm_pipeline.documents.docx_runs import is_on, read_raised, value
from storm_pipeline.documents.plain import plain_text
from storm_pipeline.documents.record import Record, usable_authors, usable_title
from storm_pipeline.documents.untrusted import DAMAGE, BoundedZip, unreadable
from storm_pipeline.text.person_names import person_names

if TYPE_CHECKING:
    from docx.document import Document as WordDocument

_OLD_OR_ENCRYPTED = b"\xd0\xcf\x11\xe0"
# Deleted and moved text, pronunciation (ruby), and the fallback copy of a text box for older programs.
_SKIPPED = frozenset(
    {
        f"{_W}del",
        f"{_W}moveFrom",
        f"{_W}rt",
        "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
    }
)
_SPACES = frozenset({f"{_W}tab", f"{_W}cr", f"{_W}br"})
_FRONT = frozenset({"title", "subtitle", "author", "authors", "byline", "date"})
_PICTURES = frozenset({f"{_W}drawing", f"{_W}pict", f"{_W}object"})


def read_docx(data: bytes) -> FileText:
    """The text of a Word file: paragraphs, headings and tables, one line per row.

    Pages are counted by the rendered page breaks that a word processor recorded, and by manual page breaks; a file
    without either is unpaginated. Never raises: what can't be read is reported in ``problems``.
    """
    if data.startswith(_OLD_OR_ENCRYPTED):
        return FileText(problems=("is encrypted or in Word's old format; save it as .docx without a password",))
    from docx.opc.exceptions import OpcError
    from lxml import etree

    try:
        document = open_docx(data)
        record = _record(document)
        read_raised(document.element.body, document.styles.element)
        pages = _pages(document)
        return FileText(record.title, pages, record.published or None, record=record)
    except (OpcError, etree.LxmlError, *DAMAGE) as error:
        return unreadable("DOCX", error)


def open_docx(data: bytes) -> "WordDocument":
    """The document of a file's bytes, none of whose parts is too large; raises what the libraries raise."""
    import docx

    archive = BoundedZip(data)
    for name in archive.names:  # the library itself unpacks without a limit
        archive.read(name)
    return docx.Document(io.BytesIO(data))


@dataclass
class _Cursor:
    """The current page while reading."""

    page: int = 1
    is_empty: bool = True  # no content is on it yet: a rendered break right after a manual one is the same break

    def rendered_break(self) -> None:
        if not self.is_empty:
            self.new_page()

    def new_page(self) -> None:
        self.page += 1
        self.is_empty = True


def _pages(document: "WordDocument") -> tuple[tuple[int | None, str], ...]:
    cursor = _Cursor()
    pages: dict[int, list[str]] = {}
    for page, text in _blocks(document.element.body, front_styles(document), cursor):
        pages.setdefault(page, []).append(text)
    is_paged = cursor.page > 1
    return tuple((page if is_paged else None, "\n\n".join(texts)) for page, texts in pages.items())


def _blocks(parent: Any, skipped: frozenset[str], cursor: _Cursor) -> Iterator[tuple[int, str]]:
    """Paragraphs, but those of ``skipped`` styles, and tables; cut where a page ends, each part with its page."""
    for element in parent:
        if element.tag == f"{_W}p":
            is_text = value(element.find(f"{_W}pPr/{_W}pStyle")) not in skipped
            parts: dict[int, list[str]] = {}
            for piece in _pieces(element, cursor):
                parts.setdefault(cursor.page, []).append(piece if is_text else "")
            texts = ((page, " ".join("".join(pieces).split())) for page, pieces in parts.items())
            yield from ((page, text) for page, text in texts if text)
        elif element.tag == f"{_W}tbl":
            rows = [_row(row, cursor) for row in element.xpath("./w:tr|./w:sdt/w:sdtContent/w:tr")]
            for page in dict.fromkeys(page for page, text in rows if text):
                yield page, "\n".join(text for own, text in rows if text and own == page)
        elif element.tag not in _SKIPPED:  # content controls, accepted insertions and the like
            yield from _blocks(element, skipped, cursor)


def _row(row: Any, cursor: _Cursor) -> tuple[int, str]:
    """The page on which a row begins, and its cells, separated by bars. Each cell starts on the row's page."""
    begins, ends, texts = [], [cursor], []
    for cell in row.xpath("./w:tc|./w:sdt/w:sdtContent/w:tc"):
        own = _Cursor(cursor.page, cursor.is_empty)
        pieces = [(own.page, piece) for piece in _runs(cell, own)]
        begins += [page for page, piece in pieces if piece.strip()][:1]
        ends.append(own)
        texts.append(" ".join("".join(piece for _, piece in pieces).split()))
    last = max(ends, key=lambda end: (end.page, not end.is_empty))
    cursor.page, cursor.is_empty = last.page, last.is_empty
    return max(begins, default=cursor.page), " | ".join(texts) if any(texts) else ""


def _pieces(paragraph: Any, cursor: _Cursor) -> Iterator[str]:
    """The texts of a paragraph in order; advances the cursor at page breaks."""
    yield " "
    properties = paragraph.find(f"{_W}pPr")
    if properties is not None and is_on(properties.find(f"{_W}pageBreakBefore")):
        cursor.rendered_break()
    yield from _runs(paragraph, cursor)
    section = properties.find(f"{_W}sectPr") if properties is not None else None
    if section is not None and value(section.find(f"{_W}type")) not in {"continuous", "nextColumn"}:
        cursor.new_page()


def _runs(parent: Any, cursor: _Cursor) -> Iterator[str]:
    for element in parent:
        if element.tag == f"{_W}t":
            text = element.text or ""
            cursor.is_empty = cursor.is_empty and not text.strip()
            yield text
        elif element.tag == f"{_W}lastRenderedPageBreak":
            cursor.rendered_break()
        elif element.tag == f"{_W}br" and element.get(f"{_W}type") == "page":
            cursor.new_page()
        elif element.tag in _SPACES:
            yield " "
        elif element.tag == f"{_W}noBreakHyphen":
            yield "-"
        elif element.tag == f"{_W}p":
            yield from _pieces(element, cursor)
        elif element.tag not in _SKIPPED:
            cursor.is_empty = cursor.is_empty and element.tag not in _PICTURES
            yield from _runs(element, cursor)


def front_styles(document: "WordDocument") -> frozenset[str]:
    """Ids of the styles of titles, bylines and tables of contents."""
    styles = document.styles.element.findall(f"{_W}style")
    names = {one.get(f"{_W}styleId") or "": value(one.find(f"{_W}name")).lower() for one in styles}
    return frozenset(one for one, name in names.items() if one and (name in _FRONT or name.startswith("toc ")))


def _record(document: "WordDocument") -> Record:
    """What the properties say, else the paragraphs that are styled as title and author."""
    from docx.opc.constants import RELATIONSHIP_TYPE

    read = Record(styled_text(document, "Title"), "; ".join(person_names(styled_text(document, "Author"))))
    if all(one.reltype != RELATIONSHIP_TYPE.CORE_PROPERTIES for one in document.part.package.rels.values()):
        return read  # the library would create properties
    stated = document.core_properties
    record = Record(usable_title(stated.title), language=plain_text(stated.language))
    if stated.comments != "generated by python-docx":  # else author and date are those of the library's template
        published = stated.created.date().isoformat() if stated.created else ""
        record = replace(record, authors=usable_authors(stated.author), published=published)
    return record.completed(read)


def styled_text(document: "WordDocument", style: str) -> str:
    """The first paragraph of a style that is not empty; ``style``: its name."""
    ids = {one.style_id for one in document.styles if one.name == style}  # a paragraph's own look-up takes 1 ms
    own = (one for one in document.paragraphs if value(one._p.find(f"{_W}pPr/{_W}pStyle")) in ids)
    return next((plain for one in own if (plain := plain_text(one.text))), "")
