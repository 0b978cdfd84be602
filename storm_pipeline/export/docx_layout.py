"""What makes a Word document look like a manuscript: type, page numbers, and a table of contents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from storm_pipeline.export.manuscript import HeadingBlock

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

BIBLIOGRAPHY = "Bibliography"
"""Style of the entries of a bibliography."""
_FEWEST_HEADINGS = 3  # headings of an article that has a table of contents
_DEEPEST = 2


def add_layout(document: "Document") -> None:
    """Set a serif type, wide lines, black headings that stay with their text, and a page number on every page."""
    from docx.enum.style import WD_STYLE_TYPE
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.oxml.ns import qn
    from docx.shared import Cm, Pt, RGBColor

    styles: Any = document.styles
    normal = styles["Normal"]
    normal.font.name, normal.font.size = "Times New Roman", Pt(12)
    normal.paragraph_format.line_spacing = 1.5
    normal.paragraph_format.space_after = Pt(8)
    for style in (styles["Title"], *(styles[f"Heading {level}"] for level in range(1, 7))):
        style.font.name, style.font.color.rgb = "Times New Roman", RGBColor(0, 0, 0)
        style.paragraph_format.keep_with_next = True
        for fonts in style.element.iter(qn("w:rFonts")):  # the theme's fonts would win
            for name in [one for one in fonts.attrib if one.endswith("Theme")]:
                del fonts.attrib[name]
    styles["Title"].font.size = Pt(20)
    styles["Subtitle"].font.size, styles["Subtitle"].font.color.rgb = Pt(10), RGBColor(0x40, 0x40, 0x40)
    entry = styles.add_style(BIBLIOGRAPHY, WD_STYLE_TYPE.PARAGRAPH)
    entry.base_style = normal
    entry.paragraph_format.line_spacing = 1.0
    entry.paragraph_format.left_indent, entry.paragraph_format.first_line_indent = Cm(1), Cm(-1)
    for level in range(1, _DEEPEST + 1):
        line = styles.add_style(f"TOC {level}", WD_STYLE_TYPE.PARAGRAPH)
        line.base_style = normal
        line.paragraph_format.left_indent = Cm(0.8 * (level - 1))
        line.paragraph_format.line_spacing, line.paragraph_format.space_after = 1.0, Pt(2)
    foot = document.sections[0].footer.paragraphs[0]
    foot.alignment = WD_ALIGN_PARAGRAPH.CENTER
    _begin_field(foot, " PAGE ")
    foot.add_run("1")
    _end_field(foot)


def add_contents(document: "Document", headings: Sequence[HeadingBlock]) -> None:
    """Add a table of contents of the two highest levels, whose page numbers a word processor fills in."""
    listed = [one for one in headings if one.level <= _DEEPEST]
    if len(listed) < _FEWEST_HEADINGS:
        return
    from docx.shared import Pt

    lines = [document.add_paragraph(style=f"TOC {one.level}") for one in listed]
    _begin_field(lines[0], f' TOC \\o "1-{_DEEPEST}" \\h \\z \\u ', dirty="true")
    for line, one in zip(lines, listed, strict=True):
        line.add_run(one.text)
    lines[-1].paragraph_format.space_after = Pt(24)
    _end_field(lines[-1])


def element(tag: str, *children: Any, **attributes: object) -> Any:
    """An element of a Word document; the names of its attributes are of the same namespace."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    made: Any = OxmlElement(f"w:{tag}", {qn(f"w:{name}"): str(value) for name, value in attributes.items()})
    made.extend(children)
    return made


def text_element(tag: str, text: str) -> Any:
    """An element that holds a text, whose spaces at its ends count."""
    made = element(tag)
    made.text = text
    made.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    return made


def _begin_field(paragraph: "Paragraph", instruction: str, **attributes: str) -> None:
    begin = element("fldChar", fldCharType="begin", **attributes)
    for piece in (begin, text_element("instrText", instruction), element("fldChar", fldCharType="separate")):
        paragraph._p.append(element("r", piece))


def _end_field(paragraph: "Paragraph") -> None:
    paragraph._p.append(element("r", element("fldChar", fldCharType="end")))
