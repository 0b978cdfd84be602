"""Footnotes and endnotes of a Word document, for which python-docx has no methods."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from storm_pipeline.export.docx_layout import element, text_element
from storm_pipeline.export.entries import Line, Run

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.{}s+xml"
_SEPARATORS = ((-1, "separator"), (0, "continuationSeparator"))
_LINK = "Hyperlink"


class Notes:
    """The notes of a document, each put where it is cited first; their styles and settings are added to it.

    ``texts``: the notes by number, from 1. ``kind``: ``footnote`` or ``endnote``.
    """

    def __init__(self, document: "Document", texts: Sequence[Line], kind: str) -> None:
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
        paragraph._p.append(element("bookmarkStart", id=number, name=_bookmark(number)))
        self._add_marks(paragraph, element(f"{self._kind}Reference", id=number))
        paragraph._p.append(element("bookmarkEnd", id=number))

    def add_comma(self, paragraph: "Paragraph") -> None:
        """Put a comma between two marks."""
        self._add_marks(paragraph, text_element("t", ","))

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
            root.append(element(self._kind, element("p", element("r", element(kind))), id=number, type=kind))
        for number, entry in enumerate(self._texts, 1):
            style = element("pPr", element("pStyle", val=self._style_ids[self._text_style]))
            mark = self._run(element(f"{self._kind}Ref"), style=self._mark_style)
            pieces = (self.piece(part, run) for run in entry)
            paragraph = element("p", style, mark, self._run(text_element("t", " ")), *pieces)
            root.append(element(self._kind, paragraph, id=number))
        kinds = {"footnote": RELATIONSHIP_TYPE.FOOTNOTES, "endnote": RELATIONSHIP_TYPE.ENDNOTES}
        self._document.part.relate_to(part, kinds[self._kind])

    def piece(self, part: Any, run: Run) -> Any:
        """A run of a line of ``part`` as an element, in a hyperlink where it is one."""
        from docx.opc.constants import RELATIONSHIP_TYPE
        from docx.oxml.ns import qn

        made = self._run(text_element("t", run.text), style=_LINK if run.href else "", italic=run.italic)
        if not run.href:
            return made
        place = part.partname, run.href
        if place not in self._links:
            self._links[place] = f"rIdLink{len(self._links) + 1}"
            part.rels.add_relationship(RELATIONSHIP_TYPE.HYPERLINK, run.href, self._links[place], is_external=True)
        link = element("hyperlink", made)
        link.set(qn("r:id"), self._links[place])
        return link

    def _add_cross_reference(self, paragraph: "Paragraph", number: int) -> None:
        instruction = element("instrText")
        instruction.text = f" NOTEREF {_bookmark(number)} \\f \\h "
        self._add_marks(
            paragraph,
            element("fldChar", fldCharType="begin"),
            instruction,
            element("fldChar", fldCharType="separate"),
            text_element("t", str(number)),
            element("fldChar", fldCharType="end"),
        )

    def _add_marks(self, paragraph: "Paragraph", *contents: Any) -> None:
        for content in contents:
            paragraph._p.append(self._run(content, style=self._mark_style))

    def _run(self, content: Any, *, style: str = "", italic: bool = False) -> Any:
        """A run that stands in no paragraph yet."""
        properties = [element("rStyle", val=self._style_ids[style])] if style else []
        if italic:
            properties.append(element("i"))
        return element("r", *([element("rPr", *properties)] if properties else []), content)

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
        from docx.oxml.ns import qn

        name = f"{self._kind}Pr"
        separators = (element(self._kind, id=number) for number, _ in _SEPARATORS)
        settings: Any = self._document.settings.element
        settings.find(qn("w:compat")).addprevious(element(name, element("numFmt", val="decimal"), *separators))
        section: Any = self._document.sections[0]._sectPr
        section.insert(0, element(name, element("numFmt", val="decimal")))


def _bookmark(number: int) -> str:
    return f"_Note{number}"
