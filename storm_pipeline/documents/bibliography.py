"""Bibliographies that lie beside documents: BibTeX, RIS and CSL-JSON, as Zotero and others export them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePath
from urllib.parse import unquote

from storm_pipeline.documents.bibliography_formats import BIBLIOGRAPHIES, Entry
from storm_pipeline.documents.decoding import decoded
from storm_pipeline.documents.document import Document, Record
from storm_pipeline.documents.plain import plain_text
from storm_pipeline.text.person_names import read_names
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Work

_SUBTITLES = (": ", ". ", "? ", "! ", "– ", "— ")
_SHORTEST_TITLE = 8
_DASHES = str.maketrans("–—", "--")


def read_bibliography(name: str, data: bytes) -> tuple[Entry, ...] | None:
    """The entries of a file; None if it is none of the formats. ``name``: its name, whose ending tells the format."""
    read = BIBLIOGRAPHIES.get(PurePath(name).suffix.lower())
    if read is None:
        return None
    try:
        return tuple(_cleaned(entry) for entry in read(decoded(data)))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  (what the libraries raise on damaged files is not declared)
        return None


def with_entry(document: Document, entries: Sequence[Entry]) -> Document:
    """The document with what its entry says, if it has one: by attached file, key, DOI, title, or author and year."""
    entry = _entry_of(document, entries)
    if entry is None:
        return document
    record = entry.record.completed(document.record)
    return replace(document, title=record.title, published=record.published or None, record=record)


def _entry_of(document: Document, entries: Sequence[Entry]) -> Entry | None:
    file = unquote(document.url.rpartition("/")[2])
    stem, doi = _bare(PurePath(file).stem), document.record.doi
    titles = {_bare(document.title), _bare(document.record.title)} - {""}
    tests: tuple[Callable[[Entry], bool], ...] = (
        lambda one: file.casefold() in {name.casefold() for name in one.files},
        lambda one: bool(one.key) and _bare(one.key) == stem,
        lambda one: bool(doi) and one.record.doi == doi,
        lambda one: any(title in titles or title in stem for title in _titles(one.record)),
        lambda one: _names_author_and_year(file, one.record),
    )
    for is_meant in tests:
        found = [one for one in entries if is_meant(one)]
        if len({one.record for one in found}) == 1:  # an entry that two files hold is one
            return found[0]
    return None


def _titles(record: Record) -> set[str]:
    """The title, and the title without what follows a colon, if they are long enough to tell works apart."""
    whole = {_bare(record.title), _bare(without_subtitle(record.title))}
    return {title for title in whole if len(title) >= _SHORTEST_TITLE}


def without_subtitle(title: str) -> str:
    """A title without what follows a colon, a dash or the end of a sentence."""
    for mark in _SUBTITLES:
        title = title.partition(mark)[0]
    return title


def _names_author_and_year(file: str, record: Record) -> bool:
    names = read_names(record.authors)
    told = f" {' '.join(folded_words(file.replace('_', ' ')))} "
    is_named = bool(names) and f" {' '.join(folded_words(names[0].family))} " in told
    return bool(is_named and record.published and record.published[:4] in file)


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _cleaned(entry: Entry) -> Entry:
    record = entry.record
    texts = {name: plain_text(value) for name, value in vars(record).items() if name != "work"}
    work = Work(**{name: plain_text(value) for name, value in vars(record.work).items()})
    work = replace(work, extent="-".join(filter(None, map(str.strip, work.extent.translate(_DASHES).split("-")))))
    return Entry(plain_text(entry.key), entry.files, replace(record, **texts, work=work))
