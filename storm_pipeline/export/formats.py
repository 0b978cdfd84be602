"""The formats that articles are exported to, and the one way to export to any of them."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from storm_pipeline.errors import SettingsError
from storm_pipeline.export.manuscript import Manuscript, manuscript
from storm_pipeline.export.notes import plain_notes
from storm_pipeline.types import Article, NotePlace


@dataclass(frozen=True)
class ExportFormat:
    """A format.

    Attributes:
        name: how it is chosen.
        suffix: what its files end with, the dot included.
        media_type: as the Internet knows it.
        about: what it is, in a few words.
    """

    name: str
    suffix: str
    media_type: str
    about: str

    @property
    def write(self) -> Callable[[Manuscript], bytes]:
        """Makes the file's content: the function ``write`` of the module that has the format's name."""
        module = import_module(f"storm_pipeline.export.{self.name}")
        found: Callable[[Manuscript], bytes] = module.write
        return found


_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_ALL = (
    ExportFormat("docx", ".docx", _WORD, "Word document; references are endnotes, or each citation a note"),
    ExportFormat("pdf", ".pdf", "application/pdf", "pages to print; needs WeasyPrint or Chromium"),
    ExportFormat("epub", ".epub", "application/epub+zip", "electronic book; the references are linked notes"),
    ExportFormat("wikitext", ".wiki", "text/x-wiki", "MediaWiki page with citation templates"),
    ExportFormat("latex", ".tex", "application/x-tex", "LaTeX document that holds its BibTeX references"),
    ExportFormat("obsidian", ".obsidian.md", "text/markdown", "Markdown note with properties and wiki links"),
    ExportFormat("bibtex", ".bib", "application/x-bibtex", "references for LaTeX"),
    ExportFormat("ris", ".ris", "application/x-research-info-systems", "references for Zotero, EndNote, Mendeley"),
    ExportFormat("csl", ".csl.json", "application/vnd.citationstyles.csl+json", "references for Zotero, Pandoc"),
)
FORMATS = {known.name: known for known in _ALL}
"""All formats by name: whole articles first, then mere lists of references."""


def export_format(name: str) -> ExportFormat:
    """The format of a name.

    Raises:
        SettingsError: there is none; names those there are.
    """
    found = FORMATS.get(name.strip().lower())
    if found is None:
        raise SettingsError(f"no export format is called {name!r}; choose from: {', '.join(FORMATS)}")
    return found


def export(article: Article, name: str, *, citation_style: str | None = None, notes: NotePlace | None = None) -> bytes:
    """An article as the content of a file.

    Args:
        article: what to export.
        name: of the format.
        citation_style: name or file of a CSL style for the lines of the reference list, see
            :func:`storm_pipeline.export.styles.csl_formatter`; by default a plain form. ``wikitext``, ``latex``
            and the lists of references hold fields instead of lines, and are the same with any.
        notes: put each citation, with its pages, into a note of its own (``docx``, ``latex``, ``obsidian``; in ``pdf``
            and ``epub`` both are notes at the end). The form is the style's if it is a style of notes.

    Raises:
        SettingsError: no format or style has this name; MissingExtraError if it needs what is not installed.
    """
    chosen = export_format(name)
    if notes not in {None, "footnotes", "endnotes"}:
        raise SettingsError(f"there are no notes called {notes!r}; choose footnotes or endnotes")
    if citation_style is None:
        return chosen.write(manuscript(article, notes=notes))
    from storm_pipeline.export.styles import csl_formatter, csl_notes

    formatter = csl_formatter(citation_style, with_notes=notes is not None)
    return chosen.write(manuscript(article, formatter, notes, csl_notes(citation_style) if notes else plain_notes))
