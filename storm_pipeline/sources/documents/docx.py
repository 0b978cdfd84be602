"""Word files: a document as a tree of HTML, and its text, by page if the file records its page breaks."""

import dataclasses
import io
from itertools import islice
from typing import Any

from storm_pipeline.errors import DatasetError
from storm_pipeline.sources.documents.document import FileText, Record, usable_authors, usable_title
from storm_pipeline.sources.documents.markup import parse_xml, replace, text_of
from storm_pipeline.sources.documents.untrusted import DAMAGE, BoundedZip, TooLargeError, unreadable
from storm_pipeline.text.markers import without_reserved
from storm_pipeline.text.person_names import person_names
from storm_pipeline.text.plain import plain_text

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_OLD_OR_ENCRYPTED = b"\xd0\xcf\x11\xe0"
# Deleted and moved text, pronunciation (ruby), and the fallback copy of a text box for older programs.
_SKIPPED = frozenset(
    {
        *(f"{_W}{name}" for name in ("del", "moveFrom", "rt", "pPr", "rPr")),
        "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
    }
)
_FRONT = ("title", "subtitle", "author", "authors", "byline", "date", "toc ")
_PICTURES = frozenset({f"{_W}drawing", f"{_W}pict", f"{_W}object"})
_NOT_READ = (f"{_W}strike", f"{_W}dstrike", f"{_W}vanish")
_NOTES = {f"{_W}{kind}Reference": kind for kind in ("footnote", "endnote")}
# Reserved characters for a manual page break, a rendered page break, and a picture.
_SET, _RENDERED, _PICTURE = "\ufdec", "\ufded", "\ufdee"
_BREAKS = f"{_SET}{_RENDERED}"
_UNBROKEN = str.maketrans("", "", _BREAKS)
_TEXTS = {f"{_W}noBreakHyphen": "-", f"{_W}lastRenderedPageBreak": _RENDERED} | dict.fromkeys(
    (f"{_W}tab", f"{_W}cr", f"{_W}br"), " "
)


def read_docx(data: bytes) -> FileText:
    """Return the text of a Word file, by page if it has rendered or manual page breaks; a table row is a line.

    Never raises: unreadable parts are reported in ``problems``.
    """
    if data.startswith(_OLD_OR_ENCRYPTED):
        return FileText(problems=("is encrypted or in Word's old format; save it as .docx without a password",))
    from docx.opc.exceptions import OpcError
    from lxml import etree

    try:
        tree = _Tree(data)
        record = _record(tree)
        return FileText(record.title, _pages(text_of(tree.root)), record.published or None, record=record)
    except (OpcError, etree.LxmlError, *DAMAGE) as error:
        return unreadable("DOCX", error)


def docx_tree(data: bytes) -> tuple[str, Any]:
    """Return the title of a Word file, empty without a paragraph of that style, and its text as HTML.

    Headings are one level lower than in the file. References to notes are links to a list of notes at the end. Raises
    DatasetError: it is damaged.
    """
    from docx.opc.exceptions import OpcError
    from lxml import etree

    try:
        tree = _Tree(data)
        tree.add_notes()
        return tree.front.get("title", ""), tree.root
    except (OpcError, etree.LxmlError, TooLargeError, *DAMAGE) as error:
        raise DatasetError(f"no Word file, or a damaged one ({error})") from error


def _pages(text: str) -> tuple[tuple[int | None, str], ...]:
    """Return the pages of a text with their numbers; None as the number without page breaks."""
    pages: dict[int, str] = {}
    page = 0
    for section in text.split(_SET):
        page, has_content = page + 1, False
        for piece in section.split(_RENDERED):
            page += has_content  # else it repeats the previous break
            pages[page] = pages.get(page, "") + piece
            has_content = bool(piece.strip())
    texts = {number: page.replace(_PICTURE, "").split("\n\n") for number, page in pages.items()}
    shown = {number: "\n\n".join(filter(None, map(str.strip, blocks))) for number, blocks in texts.items()}
    return tuple((number if page > 1 else None, shown_text) for number, shown_text in shown.items() if shown_text)


class _Tree:
    """The body of a document as HTML, without struck and hidden text and front matter."""

    def __init__(self, data: bytes) -> None:
        import docx
        from lxml import html

        archive = BoundedZip(data)
        for name in archive.names:  # the library unpacks without a limit
            archive.read(name)
        self.document = docx.Document(io.BytesIO(data))
        self.front: dict[str, str] = {}
        """The first text of each style of the front matter."""
        self.root = html.Element("body")
        body = self.document.element.body
        self._styles = {
            style.get(f"{_W}styleId") or "": (
                _value(style.find(f"{_W}name")).lower(),
                _value(style.find(f"{_W}rPr/{_W}vertAlign")),
            )
            for style in self.document.styles.element.iter(f"{_W}style")
        }
        self._bookmarks = {
            start.get(f"{_W}name"): note
            for start in body.iter(f"{_W}bookmarkStart")
            for run in islice(start.itersiblings(f"{_W}r"), 1)
            for note in run.iter(*_NOTES)
        }
        self._add_blocks(self.root, body)

    def add_notes(self) -> None:
        """Add a list of the document's notes with their text and links."""
        notes = _add_element(self.root, "ol")
        for rel in self.document.part.rels.values():
            kind = next((kind for kind in _NOTES.values() if rel.reltype.endswith(f"/{kind}s")), "")
            for note in parse_xml(rel.target_part.blob).iterchildren(f"{_W}{kind}") if kind else ():
                if note.get(f"{_W}type") is None:
                    entry = _add_element(notes, "li", id=f"{kind}-{note.get(f'{_W}id')}")
                    gone = {run for part in note.iter(*_SKIPPED) for run in part.iter(f"{_W}r")}
                    runs = [run for run in note.iter(f"{_W}r") if run not in gone and self._position(run) != "hidden"]
                    entry.text = "".join(text.text or "" for run in runs for text in run.iter(f"{_W}t"))
                    shown = (link for link in note.iter(f"{_W}hyperlink") if not {*link.iter()}.isdisjoint(runs))
                    names = (link.get(f"{_R}id") for link in shown)
                    links = (rel.target_part.rels[name] for name in names if name in rel.target_part.rels)
                    for link in (link for link in links if link.is_external):
                        _add_element(entry, "a", href=link.target_ref)

    def _add_blocks(self, parent: Any, source: Any) -> None:
        for element in source:
            if element.tag == f"{_W}p":
                self._add_paragraph(parent, element)
            elif element.tag == f"{_W}tbl":
                table = _add_element(parent, "table")
                for row in element.xpath("./w:tr|./w:sdt/w:sdtContent/w:tr"):
                    self._add_row(table, row)
            elif element.tag not in _SKIPPED:  # such as content controls and accepted insertions
                self._add_blocks(parent, element)

    def _add_paragraph(self, parent: Any, source: Any) -> None:
        style, _ = self._styles.get(_value(source.find(f"{_W}pPr/{_W}pStyle")), ("", ""))
        level = style.partition("heading ")[2]
        shown = _add_element(parent, f"h{min(int(level) + 1, 6)}" if level.isdecimal() else "p")
        self._add_pieces(shown, source)
        if style in _FRONT or style.startswith(_FRONT[-1]):  # keep its page breaks
            text = "".join(shown.itertext())
            replace(shown, "".join(char if char in _BREAKS else _PICTURE for char in text))
            if plain := " ".join(text.translate(_UNBROKEN).split()):
                self.front.setdefault(style, plain)

    def _add_row(self, table: Any, source: Any) -> None:
        """Add a row after the page breaks of the cell with most of them."""
        row, breaks = _add_element(table, "tr"), ""
        for cell in source.xpath("./w:tc|./w:sdt/w:sdtContent/w:tc"):
            self._add_runs(shown := _add_element(row, "td"), cell)
            breaks = max(breaks, "".join(filter(_BREAKS.count, "".join(shown.itertext()))), key=len)
            for element in shown.iter():
                element.text, element.tail = (
                    (part or "").translate(_UNBROKEN) for part in (element.text, element.tail)
                )
        for cell in row[:1]:
            cell.text = breaks + cell.text

    def _add_pieces(self, parent: Any, source: Any) -> None:
        """Add the texts of a paragraph, with the page breaks before and after it."""
        properties = source.find(f"{_W}pPr")
        has_break = properties is not None and _is_on(properties.find(f"{_W}pageBreakBefore"))
        _append(parent, f" {_RENDERED}" if has_break else " ")
        self._add_runs(parent, source)
        section = properties.find(f"{_W}sectPr") if properties is not None else None
        if section is not None and _value(section.find(f"{_W}type")) not in {"continuous", "nextColumn"}:
            _append(parent, _SET)

    def _add_runs(self, parent: Any, source: Any, position: str = "") -> None:
        for element in source:
            name = element.tag
            if name == f"{_W}r":
                self._add_runs(parent, element, self._position(element))
            elif name == f"{_W}t":
                if position not in {"note", "hidden"}:
                    _append(parent, without_reserved(element.text or ""), position)
            elif name in _NOTES:
                self._add_note(parent, element)
            elif name == f"{_W}instrText":
                words = (element.text or "").split()
                if words[:1] == ["NOTEREF"] and words[1:2] and words[1] in self._bookmarks:
                    self._add_note(parent, self._bookmarks[words[1]])
            elif name in _TEXTS:
                _append(parent, _SET if element.get(f"{_W}type") == "page" else _TEXTS[name])
            elif name == f"{_W}p":
                self._add_pieces(parent, element)
            elif name == f"{_W}hyperlink" and element.get(f"{_W}anchor"):
                self._add_runs(_add_element(parent, "a", href=f"#{element.get(f'{_W}anchor')}"), element)
            elif name not in _SKIPPED:
                _append(parent, _PICTURE if name in _PICTURES else "")
                self._add_runs(parent, element)

    def _add_note(self, parent: Any, reference: Any) -> None:
        link = _add_element(parent, "a", href=f"#{_NOTES[reference.tag]}-{reference.get(f'{_W}id')}")
        link.set("class", "footnote-ref")
        link.text = "*"

    def _position(self, run: Any) -> str:
        """Return the position of a run: ``sup``, ``sub``, ``note`` or ``hidden``; empty if on the line."""
        properties = run.find(f"{_W}rPr")
        if properties is None:
            return ""
        if any(_is_on(properties.find(name)) for name in _NOT_READ):
            return "hidden"
        style, styled = self._styles.get(_value(properties.find(f"{_W}rStyle")), ("", ""))
        if style in {"footnote reference", "endnote reference"}:
            return "note"
        position = _value(properties.find(f"{_W}vertAlign")) or styled
        return position[:3] if position in {"superscript", "subscript"} else ""


def _add_element(parent: Any, tag: str, **attributes: str) -> Any:
    from lxml import etree

    return etree.SubElement(parent, tag, attributes)


def _append(parent: Any, text: str, tag: str = "") -> None:
    """Append a text to an element, in a child of the given tag; adjacent texts with one tag share a child."""
    last = next(parent.iterchildren(reversed=True), None)
    if tag:
        if last is None or last.tag != tag or last.tail:
            last = _add_element(parent, tag)
        last.text = (last.text or "") + text
    elif last is None:
        parent.text = (parent.text or "") + text
    else:
        last.tail = (last.tail or "") + text


def _value(element: Any) -> str:
    return "" if element is None else str(element.get(f"{_W}val") or "")


def _is_on(switch: Any) -> bool:
    return switch is not None and _value(switch) not in {"0", "false", "off"}


def _record(tree: _Tree) -> Record:
    """Return the record from the properties, else from the paragraphs in the styles of title and author."""
    from docx.opc.constants import RELATIONSHIP_TYPE

    read = Record(tree.front.get("title", ""), "; ".join(person_names(tree.front.get("author", ""))))
    if all(rel.reltype != RELATIONSHIP_TYPE.CORE_PROPERTIES for rel in tree.document.part.package.rels.values()):
        return read  # the library would create properties
    stated = tree.document.core_properties
    record = Record(usable_title(stated.title), language=plain_text(stated.language))
    if stated.comments != "generated by python-docx":  # else the author comes from the library's template
        record = dataclasses.replace(record, authors=usable_authors(stated.author))
    return record.of("metadata").completed(read.of("text"))
