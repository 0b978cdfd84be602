"""DOCX: a Word document that looks like a manuscript, with footnotes or endnotes."""

import io
import zipfile
from datetime import datetime
from typing import TYPE_CHECKING, Any

from storm_pipeline.export.docx_layout import BIBLIOGRAPHY, add_contents, add_layout
from storm_pipeline.export.docx_notes import Notes
from storm_pipeline.export.manuscript import HeadingBlock, Manuscript, ParagraphBlock
from storm_pipeline.files import zipped

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph


def write(manuscript: Manuscript) -> bytes:
    """The manuscript as the bytes of a Word file, with contents and page numbers.

    Each citation is a note, and a bibliography stands at the end; without notes a source has one endnote, to which
    later citations refer.
    """
    from docx import Document

    document = Document()
    _describe(document, manuscript)
    kind = (manuscript.note_place or "endnotes").removesuffix("s")
    notes = Notes(document, manuscript.notes if manuscript.note_place else manuscript.entries, kind)
    add_layout(document)
    document.add_heading(manuscript.title, 0)
    document.add_paragraph(manuscript.provenance, style="Subtitle")
    add_contents(document, [block for block in manuscript.blocks if isinstance(block, HeadingBlock)])
    for block in manuscript.blocks:
        if isinstance(block, HeadingBlock):
            document.add_heading(block.text, block.level)
        else:
            _add_paragraph(document.add_paragraph(), block, notes)
    if manuscript.note_place and manuscript.references:
        _add_bibliography(document, manuscript, notes)
    notes.finish()
    saved = io.BytesIO()
    document.save(saved)
    with zipfile.ZipFile(saved) as archive:
        return zipped((name, archive.read(name)) for name in archive.namelist())


def _add_paragraph(paragraph: "Paragraph", block: ParagraphBlock, notes: Notes) -> None:
    for place, sentence in enumerate(block.sentences):
        if place:
            paragraph.add_run(" ")
        paragraph.add_run(sentence.text)
        for index, number in enumerate(sentence.marks):
            if index:
                notes.add_comma(paragraph)
            notes.cite(paragraph, number)


def _add_bibliography(document: "Document", manuscript: Manuscript, notes: Notes) -> None:
    document.add_heading(manuscript.references_heading, 1)
    for _, entry in manuscript.bibliography:
        paragraph = document.add_paragraph(style=BIBLIOGRAPHY)
        for run in entry:
            paragraph._p.append(notes.piece(document.part, run))


def _describe(document: "Document", manuscript: Manuscript) -> None:
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
