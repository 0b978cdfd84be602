"""DOCX: a Word document with heading styles, whose references are endnotes."""

import io
import zipfile
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from storm_pipeline.export.archive import zipped
from storm_pipeline.export.docx_notes import Endnotes
from storm_pipeline.export.manuscript import HeadingBlock, Manuscript, ParagraphBlock

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph


def write(manuscript: Manuscript) -> bytes:
    """The manuscript as the bytes of a Word file. A source has one endnote; later citations refer to it."""
    from docx import Document

    document = Document()
    _describe(document, manuscript)
    notes = Endnotes(document, manuscript)
    document.add_heading(manuscript.title, 0)
    document.add_paragraph(manuscript.provenance, style="Subtitle")
    for block in manuscript.blocks:
        if isinstance(block, HeadingBlock):
            document.add_heading(block.text, block.level)
        else:
            _add_paragraph(document.add_paragraph(), block, notes)
    if manuscript.references:
        document.add_heading(manuscript.references_heading, 1)
    notes.finish()
    saved = io.BytesIO()
    document.save(saved)
    return zipped(_members(saved))


def _add_paragraph(paragraph: "Paragraph", block: ParagraphBlock, notes: Endnotes) -> None:
    """A run for each sentence, its notes behind it."""
    for place, sentence in enumerate(block.sentences):
        if place:
            paragraph.add_run(" ")
        paragraph.add_run(sentence.text)
        for index, number in enumerate(sentence.numbers):
            if index:
                notes.add_comma(paragraph)
            notes.cite(paragraph, number)


def _describe(document: "Document", manuscript: Manuscript) -> None:
    """The document's properties, and its language."""
    from docx.oxml.ns import qn

    properties = document.core_properties
    properties.title = manuscript.title[:255]
    properties.author = ", ".join(manuscript.models)[:255] or "storm-pipeline"
    properties.comments = manuscript.provenance[:255]
    properties.language = manuscript.language
    element: Any = properties._element
    if manuscript.written:
        properties.created = properties.modified = datetime.fromisoformat(manuscript.written)
    else:
        for child in [one for one in element if one.tag.rpartition("}")[2] in {"created", "modified"}]:
            element.remove(child)
    for language in document.styles.element.iter(qn("w:lang")):
        language.set(qn("w:val"), manuscript.language)


def _members(saved: io.BytesIO) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(saved) as archive:
        for name in archive.namelist():
            yield name, archive.read(name)
