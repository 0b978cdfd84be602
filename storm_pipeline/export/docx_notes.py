"""Footnotes and endnotes of a Word document, for which python-docx has no methods."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from storm_pipeline.export.entries import Run

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.{}s+xml"
_SEPARATORS = ((-1, "separator"), (0, "continuationSeparator"))
_LINK = "Hyperlink"


class Notes:
    """The notes of a document, each put where it is cited first.

    Args:
        document: what they belong to; styles, settings and, by :meth:`finish`, the part of the notes are added to it.
        texts: the notes by number, from 1.
        kind: ``footnote`` or ``endnote``.
    """

    def __init__(self, document: "Document", texts: Sequence[tuple[Run, ...]], kind: str) -> None:
        self._document = document
        self._texts = texts
        self._kind = kind
        self._mark_style, self._text_style = f"{kind.title()} Reference", f"{kind.title()} Text"
        self._cited: set[int] = set()
        # python-docx looks through all styles for each run, and through all links for each link
        self._style_ids = self._add_styles()
        self._links: dict[tuple[str, str], str] = {}
        self._number_decimally()

    def cite(self, paragraph: "Paragraph", number: int) -> None:
        """Put the mark of a note at the end of a paragraph: the note, or a cross-reference to it."""
        if number in self._cited:
            self._add_cross_reference(paragraph, number)
            return
        self._cited.add(number)
        ends: list[Any] = [_element("w:bookmarkStart", id=number), _element("w:bookmarkEnd", id=number)]
        ends[0].set(_name("name"), _bookmark(number))
        run = self._mark(paragraph)
        run.append(_element(f"w:{self._kind}Reference", id=number))
        run.addprevious(ends[0])
        run.addnext(ends[1])

    def add_comma(self, paragraph: "Paragraph") -> None:
        """Put a comma between two marks."""
        self._mark(paragraph, ",")

    def finish(self) -> None:
        """Add the notes to the document; call it once, last."""
        from docx.opc.constants import RELATIONSHIP_TYPE
        from docx.opc.packuri import PackURI
        from docx.opc.part import XmlPart
        from docx.oxml import parse_xml
        from docx.oxml.ns import nsdecls

        root: Any = parse_xml(f"<w:{self._kind}s {nsdecls('w', 'r')}/>")
        part = XmlPart(
            PackURI(f"/word/{self._kind}s.xml"), _MEDIA_TYPE.format(self._kind), root, self._document.part.package
        )
        for number, kind in _SEPARATORS:
            run = _element("w:r")
            run.append(_element(f"w:{kind}"))
            root.append(_note(self._kind, number, run, type=kind))
        for number, entry in enumerate(self._texts, 1):
            mark = self._run("", style=self._mark_style)
            mark.append(_element(f"w:{self._kind}Ref"))
            pieces = (self.piece(part, run) for run in entry)
            root.append(
                _note(self._kind, number, mark, self._run(" "), *pieces, style=self._style_ids[self._text_style])
            )
        kinds = {"footnote": RELATIONSHIP_TYPE.FOOTNOTES, "endnote": RELATIONSHIP_TYPE.ENDNOTES}
        self._document.part.relate_to(part, kinds[self._kind])

    def piece(self, part: Any, run: Run) -> Any:
        """A run of a line of ``part`` as an element, in a hyperlink where it is one."""
        from docx.opc.constants import RELATIONSHIP_TYPE
        from docx.oxml.ns import qn

        made = self._run(run.text, style=_LINK if run.href else "", italic=run.italic)
        if not run.href:
            return made
        link = _element("w:hyperlink")
        place = part.partname, run.href
        if place not in self._links:
            self._links[place] = f"rIdLink{len(self._links) + 1}"
            part.rels.add_relationship(RELATIONSHIP_TYPE.HYPERLINK, run.href, self._links[place], is_external=True)
        link.set(qn("r:id"), self._links[place])
        link.append(made)
        return link

    def _add_cross_reference(self, paragraph: "Paragraph", number: int) -> None:
        instruction = _element("w:instrText")
        instruction.text = f" NOTEREF {_bookmark(number)} \\f \\h "
        self._mark(paragraph).append(_element("w:fldChar", fldCharType="begin"))
        self._mark(paragraph).append(instruction)
        self._mark(paragraph).append(_element("w:fldChar", fldCharType="separate"))
        self._mark(paragraph, str(number))
        self._mark(paragraph).append(_element("w:fldChar", fldCharType="end"))

    def _mark(self, paragraph: "Paragraph", text: str = "") -> Any:
        run = self._run(text, style=self._mark_style)
        paragraph._p.append(run)
        return run

    def _run(self, text: str, *, style: str = "", italic: bool = False) -> Any:
        """A run that stands in no paragraph yet."""
        run, properties = _element("w:r"), _element("w:rPr")
        if style:
            properties.append(_element("w:rStyle", val=self._style_ids[style]))
        if italic:
            properties.append(_element("w:i"))
        if len(properties):
            run.append(properties)
        if text:
            piece = _element("w:t")
            piece.text = text
            piece.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
            run.append(piece)
        return run

    def _add_styles(self) -> dict[str, str]:
        """Add the styles of notes, marks and links; their ids by name."""
        from docx.enum.style import WD_STYLE_TYPE
        from docx.shared import Pt, RGBColor

        styles = self._document.styles
        mark: Any = styles.add_style(self._mark_style, WD_STYLE_TYPE.CHARACTER)
        mark.font.superscript = True
        text: Any = styles.add_style(self._text_style, WD_STYLE_TYPE.PARAGRAPH)
        text.base_style = styles["Normal"]
        text.font.size = Pt(10)
        text.paragraph_format.space_after = Pt(4)
        text.paragraph_format.line_spacing = 1.0
        link: Any = styles.add_style(_LINK, WD_STYLE_TYPE.CHARACTER)
        link.font.color.rgb = RGBColor(0x05, 0x63, 0xC1)
        link.font.underline = True
        return {name: str(styles[name].style_id) for name in (self._mark_style, self._text_style, _LINK)}

    def _number_decimally(self) -> None:
        """Number the notes 1, 2, 3, not i, ii, iii, and name their separators.

        Word reads the number format in the settings, LibreOffice in the section.
        """
        settings: Any = self._document.settings.element
        options = _decimal(self._kind)
        for number, _ in _SEPARATORS:
            options.append(_element(f"w:{self._kind}", id=number))
        settings.find(_name("compat")).addprevious(options)
        section: Any = self._document.sections[0]._sectPr
        section.insert(0, _decimal(self._kind))


def _decimal(kind: str) -> Any:
    options = _element(f"w:{kind}Pr")
    options.append(_element("w:numFmt", val="decimal"))
    return options


def _note(kind: str, number: int, *runs: Any, type: str = "", style: str = "") -> Any:  # noqa: A002  (the attribute's name)
    note, paragraph = _element(f"w:{kind}", id=number), _element("w:p")
    if type:
        note.set(_name("type"), type)
    if style:
        properties = _element("w:pPr")
        properties.append(_element("w:pStyle", val=style))
        paragraph.append(properties)
    for run in runs:
        paragraph.append(run)
    note.append(paragraph)
    return note


def _bookmark(number: int) -> str:
    return f"_Note{number}"


def _name(name: str) -> str:
    from docx.oxml.ns import qn

    return qn(f"w:{name}")


def _element(tag: str, **attributes: object) -> Any:
    from docx.oxml import OxmlElement

    return OxmlElement(tag, {_name(name): str(value) for name, value in attributes.items()})
