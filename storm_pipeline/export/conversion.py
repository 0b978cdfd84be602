"""Word, OpenDocument, EPUB, LaTeX and PDF files, converted by Pandoc from its Markdown."""

import io
import tempfile
import zipfile
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

from storm_pipeline.errors import MissingExtraError, RunError, SettingsError
from storm_pipeline.export.manuscript import HeadingBlock, Manuscript
from storm_pipeline.export.pandoc import READER, write
from storm_pipeline.export.pdf import print_page
from storm_pipeline.export.programs import run_program
from storm_pipeline.export.styles import style_text
from storm_pipeline.files import zipped

CONVERTED = frozenset({"docx", "odt", "epub", "latex", "pdf"})
"""Formats that Pandoc makes."""
_LIMITS = ("+RTS", "-M500m", "-RTS", "--sandbox")
_OF_NOTES = b'class="note"'
_FEWEST_HEADINGS = 3  # headings of an article that has a table of contents
_PAGE = '<w:fldSimple xmlns:w="{}" w:instr="PAGE"><w:r><w:t>1</w:t></w:r></w:fldSimple>'


def convert(manuscript: Manuscript, name: str, style: str | None = None) -> bytes:
    """The content of a file of one of the formats :data:`CONVERTED`.

    The same manuscript gives the same bytes, except as ``pdf``: in its sandbox Pandoc knows neither time nor chance,
    whatever ``SOURCE_DATE_EPOCH`` says.

    Args:
        style: of the citations, see :func:`storm_pipeline.export.styles.style_text`.

    Raises:
        MissingExtraError: Pandoc, the styles or a printer is not installed.
        SettingsError: there is no such style, or it cannot be used.
        RunError: Pandoc or the printer failed.
    """
    if name == "pdf":
        css = Path(__file__).with_name("print.css").read_text(encoding="utf-8")
        options = ["--metadata=document-css:false", f"--variable=header-includes:<style>{css}</style>"]
        return print_page(_converted(manuscript, "html5", style, options))
    headings = sum(isinstance(block, HeadingBlock) for block in manuscript.blocks)
    has_contents = name in {"docx", "odt"} and headings >= _FEWEST_HEADINGS
    writer = "latex-smart" if name == "latex" else name  # straight quotation marks stay straight
    made = _converted(manuscript, writer, style, ["--toc", "--toc-depth=2"] if has_contents else [])
    return _with_page_numbers(made, manuscript.written) if name == "docx" else made


def _converted(manuscript: Manuscript, writer: str, style: str | None, options: list[str]) -> bytes:
    command = [str(_pandoc()), *_LIMITS, f"--from={READER}", f"--to={writer}", "--output=-", "--standalone", *options]
    csl = style_text(style)
    if _OF_NOTES not in csl:
        command.append("--metadata=link-citations")  # a note would be a link as a whole
    with tempfile.TemporaryDirectory(prefix="storm-export-") as folder:
        Path(folder, "style.csl").write_bytes(csl)
        status, made, said = run_program(
            [*command, "--citeproc", "--csl=style.csl", f"--data-dir={folder}"],
            write(manuscript),
            folder=folder,
        )
    if status and said.startswith("Citeproc"):
        raise SettingsError(f"the citation style {style!r} cannot be used: {said}")
    if status:
        raise RunError(f"Pandoc could not convert the article ({said or status}): export it as markdown or html")
    return made


def _pandoc() -> Path:
    """The program that ``pypandoc_binary`` brings."""
    found = find_spec("pypandoc")
    folder = Path(found.origin).parent / "files" if found and found.origin else Path()
    for program in (folder / "pandoc", folder / "pandoc.exe"):
        if program.is_file():
            return program
    raise MissingExtraError(
        f"{', '.join(sorted(CONVERTED))} need the extra 'export': pip install 'storm-pipeline[export]'"
    )


def _with_page_numbers(made: bytes, written: str) -> bytes:
    """A Word file with a number at the foot of every page, dated by the day on which the article was written."""
    from docx import Document
    from docx.enum.text import WD_ALIGN_PARAGRAPH
    from docx.oxml import parse_xml
    from docx.oxml.ns import nsmap

    document, saved = Document(io.BytesIO(made)), io.BytesIO()
    foot = document.sections[0].footer.paragraphs[0]
    foot.alignment = WD_ALIGN_PARAGRAPH.CENTER
    foot._p.append(parse_xml(_PAGE.format(nsmap["w"])))
    if written:
        document.core_properties.created = document.core_properties.modified = datetime.fromisoformat(written)
    document.save(saved)
    with zipfile.ZipFile(saved) as archive:
        return zipped((name, archive.read(name)) for name in archive.namelist())
