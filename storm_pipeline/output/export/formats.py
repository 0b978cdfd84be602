"""The formats of articles, and functions to render and export to any of them."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.output.render.html import to_html, to_notebook
from storm_pipeline.output.render.markdown import to_markdown
from storm_pipeline.run.article_json import to_json
from storm_pipeline.text.files import write_atomically, write_errors_as

if TYPE_CHECKING:
    from storm_pipeline.types import Article

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_RENDERERS = {"markdown": to_markdown, "html": to_html, "notebook": to_notebook, "json": to_json}


@dataclass(frozen=True)
class ArticleFormat:
    """A format of articles."""

    name: str  # name by which it is chosen
    suffix: str  # file suffix, including the dot
    media_type: str  # Internet media type
    about: str  # description in a few words

    @property
    def is_text(self) -> bool:
        """Whether its files are text in UTF-8."""
        textual = ("text/", "application/x-", "application/json")
        return self.media_type.startswith(textual) or self.media_type.endswith("+json")


TEXTS = {
    known.name: known
    for known in (
        ArticleFormat("markdown", ".md", "text/markdown", "Markdown with numbered citations"),
        ArticleFormat("html", ".html", "text/html", "one self-contained page"),
        ArticleFormat("json", ".json", "application/json", "everything, the research included"),
    )
}
"""Text formats in a run's folder, by name; see :mod:`storm_pipeline.output.render`."""
_ALL = (
    ArticleFormat("docx", ".docx", _WORD, "Word document"),
    ArticleFormat("odt", ".odt", "application/vnd.oasis.opendocument.text", "OpenDocument text, for LibreOffice"),
    ArticleFormat("pdf", ".pdf", "application/pdf", "pages to print; needs WeasyPrint or Chromium"),
    ArticleFormat("epub", ".epub", "application/epub+zip", "electronic book"),
    ArticleFormat("latex", ".tex", "application/x-tex", "LaTeX document"),
    ArticleFormat("pandoc", ".pandoc.md", "text/x-markdown", "Markdown and CSL references, as Pandoc reads them"),
    ArticleFormat("wikitext", ".wiki", "text/x-wiki", "MediaWiki page with citation templates"),
    ArticleFormat("bibtex", ".bib", "application/x-bibtex", "references for LaTeX"),
    ArticleFormat("ris", ".ris", "application/x-research-info-systems", "references for Zotero, EndNote, Mendeley"),
    ArticleFormat("csl", ".csl.json", "application/vnd.citationstyles.csl+json", "references for Zotero, Pandoc"),
)
FORMATS = {known.name: known for known in _ALL}
"""All formats by name: whole articles first, then lists of references."""


def export_format(name: str) -> ArticleFormat:
    """Return the format of a name. Raises SettingsError: no such format."""
    known_format = FORMATS.get(name.strip().lower())
    if known_format is None:
        raise SettingsError(f"no export format is called {name!r}; choose from: {', '.join(FORMATS)}")
    return known_format


def render(article: "Article", name: str) -> str:
    """Render an article by :mod:`storm_pipeline.output.render`: ``markdown``, ``html``, ``json`` or ``notebook``."""
    return _RENDERERS[name](article)


def as_text(article: "Article", name: str) -> bytes:
    """Return an article as one of :data:`TEXTS`, in UTF-8."""
    return render(article, name).encode("utf-8", "replace")


def export(article: "Article", name: str, *, citation_style: str | None = None) -> bytes:
    """Return an article as the content of a file for another program, in one of :data:`FORMATS`.

    ``citation_style``: name or file of a CSL style for the citations and references of ``docx``, ``odt``, ``pdf``,
    ``epub`` and ``latex``, see :func:`storm_pipeline.output.export.conversion.style_text`; by default numbers. Note
    styles make footnotes. Other formats ignore it.

    Raises:
        SettingsError: no format or style has this name. MissingExtraError: the format needs an extra.
        RunError: the program that makes the file failed.
    """
    from storm_pipeline.output.export.conversion import CONVERTED, convert
    from storm_pipeline.output.export.manuscript import manuscript

    name, content = export_format(name).name, manuscript(article)
    if name in CONVERTED:
        return convert(content, name, citation_style)
    made: bytes = import_module(f"storm_pipeline.output.export.{name}").write(content)
    return made


def write(article: "Article", name: str, path: Path | str, *, citation_style: str | None = None) -> Path:
    """Write an article to a file, atomically, in one of :data:`FORMATS` or :data:`TEXTS`; return its path.

    Makes its folder. Raises RunError: the file cannot be written. Other errors as for :func:`export`.
    """
    path = Path(path)
    content = as_text(article, name) if name in TEXTS else export(article, name, citation_style=citation_style)
    with write_errors_as(RunError, path, " or choose another folder (--out of storm export)"):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content)
    return path
