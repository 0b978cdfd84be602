"""Reads an article from a Word file whose footnotes or endnotes are its references."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from storm_pipeline.documents.articles.markdown import markdown_article
from storm_pipeline.documents.articles.markdown_blocks import TextBlock
from storm_pipeline.documents.articles.numbered import numbered_article
from storm_pipeline.documents.articles.pages import AvailablePages, Reference
from storm_pipeline.documents.articles.reference_list import LARGEST_NUMBER, reference_of
from storm_pipeline.documents.docx import front_styles, open_docx, styled_text
from storm_pipeline.documents.markup import parse_xml
from storm_pipeline.documents.untrusted import DAMAGE, TooLargeError
from storm_pipeline.errors import DatasetError
from storm_pipeline.text.markers import literal, mark, without_reserved
from storm_pipeline.text.words import folded_words, tidy
from storm_pipeline.types import Article

if TYPE_CHECKING:
    from docx.document import Document

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_KINDS = ("footnote", "endnote")
_NOTED = frozenset(f"{_W}{kind}Reference" for kind in _KINDS)
_LOCATORS = frozenset({"p", "pp", "s", "ff"})
_SKIPPED = frozenset({f"{_W}del", f"{_W}moveFrom", f"{_W}pPr", f"{_W}rPr"})
_SPACES = frozenset({f"{_W}tab", f"{_W}cr", f"{_W}br"})


def docx_article(title: str, data: bytes, pages: AvailablePages) -> Article:
    """Read an article: each note is a reference, and cross-references to notes cite too.

    A note's page is its first link or address. Without notes, numbers in brackets cite the list of references, as in
    Markdown. ``title``: of an article that has no paragraph in the style Title. Raises DatasetError: it is damaged.
    """
    from docx.opc.exceptions import OpcError
    from lxml import etree

    try:
        document = open_docx(data)
        title = styled_text(document, "Title") or title
        notes = _Notes(document)
        blocks = list(_blocks(document, notes))
    except (OpcError, etree.LxmlError, TooLargeError, *DAMAGE) as error:
        raise DatasetError(f"no Word file, or a damaged one ({error})") from error
    if notes.references:
        return numbered_article(title, blocks, notes.references, pages)
    lines = (f"{'#' * block.level} {block.text}".strip() for block in blocks)
    return markdown_article(title, "\n\n".join(lines), pages)


class _Notes:
    """The notes of a document, numbered in the order in which they are kept, footnotes first."""

    def __init__(self, document: "Document") -> None:
        self.references: dict[int, Reference] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        for rel in document.part.rels.values():
            kind = next((own for own in _KINDS if rel.reltype.endswith(f"/{own}s")), "")
            if not kind or rel.is_external:
                continue
            for note in parse_xml(rel.target_part.blob).iterchildren(f"{_W}{kind}"):
                if note.get(f"{_W}type") is None and len(self.references) < LARGEST_NUMBER:
                    number = len(self.references) + 1
                    self._numbers[kind, note.get(f"{_W}id") or ""] = number
                    known = self.references.values()
                    self.references[number] = _reference(note, rel.target_part.rels, tuple(known))
        self._bookmarks = dict(_bookmarks(document.element.body))

    def marker(self, element: Any) -> str:
        """The marker of a reference to a note."""
        kind = element.tag.removeprefix(_W).removesuffix("Reference")
        return mark(self._numbers.get((kind, element.get(f"{_W}id") or ""), 0))

    def cross_reference(self, instruction: str) -> str:
        """The marker of a field that repeats a note's number; empty for another field."""
        words = instruction.split()
        noted = self._bookmarks.get(words[1]) if words[:1] == ["NOTEREF"] and len(words) > 1 else None
        return "" if noted is None else self.marker(noted)


def _bookmarks(body: Any) -> Iterator[tuple[str, Any]]:
    """Name of a bookmark → the reference to a note that stands in it."""
    name = ""
    for element in body.iter():
        if element.tag == f"{_W}bookmarkStart":
            name = element.get(f"{_W}name") or ""
        elif element.tag == f"{_W}bookmarkEnd":
            name = ""
        elif name and element.tag in _NOTED:
            yield name, element


def _reference(note: Any, rels: Any, before: Sequence[Reference]) -> Reference:
    """The page that a note names; a short note ("Falk, “Dam,” 3", "Ibid.") names that of one before it."""
    text = tidy("".join(own.text or "" for own in note.iter(f"{_W}t")))
    ids = (own.get(f"{_R}id") for own in note.iter(f"{_W}hyperlink"))
    links = (rels[name].target_ref for name in ids if name in rels and rels[name].is_external)
    stated = reference_of(text)
    if url := next(links, stated.url):
        return Reference(url, text)
    own = {word for word in folded_words(text) if not word.isdigit()} - _LOCATORS
    earlier = (one for one in reversed(before) if one.url and own <= {*folded_words(one.title), "ibid"})
    return next(earlier, Reference("", text)) if own else Reference("", text)


def _blocks(document: "Document", notes: _Notes) -> Iterator[TextBlock]:
    """Headings and paragraphs, those of tables included; titles and bylines are left out."""
    front = front_styles(document)
    names = {own.style_id: own.name or "" for own in document.styles}
    marks = {own for own, name in names.items() if name.casefold() in {f"{kind} reference" for kind in _KINDS}}
    shown = literal if notes.references else str
    for paragraph in document.element.body.iter(f"{_W}p"):
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        own = "" if style is None else style.get(f"{_W}val") or ""
        text = tidy("".join(_pieces(paragraph, notes, marks, shown)))
        if own not in front and text:
            level = names.get(own, "").lower().removeprefix("heading ")
            yield TextBlock(text, int(level) if level.isdecimal() else 0)


def _pieces(parent: Any, notes: _Notes, marks: set[str], shown: Any) -> Iterator[str]:
    """The texts of a paragraph in order, with markers for its notes in place of the notes' printed numbers."""
    for element in parent:
        if element.tag == f"{_W}t":
            style = element.find(f"../{_W}rPr/{_W}rStyle")
            if style is None or style.get(f"{_W}val") not in marks:
                yield shown(without_reserved(element.text or ""))
        elif element.tag in _NOTED:
            yield notes.marker(element)
        elif element.tag == f"{_W}instrText":
            yield notes.cross_reference(element.text or "")
        elif element.tag in _SPACES:
            yield " "
        elif element.tag not in _SKIPPED:
            yield from _pieces(element, notes, marks, shown)
