"""Bibliographies beside documents: BibTeX, RIS and CSL-JSON, as Zotero and others export them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

from storm_pipeline.sources.documents.bibliography_formats import BIBLIOGRAPHIES, Entry
from storm_pipeline.sources.documents.decoding import decode
from storm_pipeline.sources.documents.document import Document, Record
from storm_pipeline.text.person_names import read_names
from storm_pipeline.text.plain import plain_text
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Work

_SUBTITLES = (": ", ". ", "? ", "! ", "– ", "— ")
_SHORTEST_TITLE = 8
_LONGEST_NAME = 255  # characters of a file's name
_LONGEST_FAMILY = 12  # words of an author's name
_DASHES = str.maketrans("–—", "--")


def read_bibliography(name: str, data: bytes, problems: list[str] | None = None) -> tuple[Entry, ...] | None:
    """Return a file's entries, and add its faults to ``problems``; None for another format or a damaged file."""
    read = BIBLIOGRAPHIES.get(PurePath(name).suffix.lower())
    if read is None:
        return None
    try:
        return tuple(_cleaned(entry) for entry in read(decode(data), [] if problems is None else problems))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  (what the libraries raise on damaged files is not declared)
        return None


class Bibliography:
    """An index of entries for matching documents in constant time."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._by: dict[str, dict[str, dict[Record, Entry]]] = {}
        self._lengths: dict[str, set[int]] = {}  # lengths of titles by their first characters
        self._families: set[str] = set()
        for entry in entries:
            families = {" ".join(folded_words(name.family)) for name in read_names(entry.record.authors)[:1]}
            titles = set(map(_bare, identifying_titles(entry.record.title)))
            self._families |= families
            for title in (title for title in titles if len(title) <= _LONGEST_NAME):
                self._lengths.setdefault(title[:_SHORTEST_TITLE], set()).add(len(title))
            keys = {
                "file": {name.casefold() for name in entry.files},
                "key": {_bare(entry.key)} - {""},
                "doi": {entry.record.doi} - {""},
                "title": titles,
                "author": {family + entry.record.published[:4] for family in families},
            }
            for kind, terms in keys.items():
                # equal entries of two files count as one; of three that differ, two are ambiguous too
                for term in terms:
                    same = self._by.setdefault(kind, {}).setdefault(term, {})
                    if len(same) < 2:
                        same.setdefault(entry.record, entry)

    def entry_of(self, document: Document) -> Entry | None:
        """Return a document's only entry by attached file, key, DOI, title, or author and year; else None.

        Looks up at most 1000 titles, and pairs of author and year, of a file's name.
        """
        file = unquote(document.url.rpartition("/")[2])[:_LONGEST_NAME]
        stem = _bare(PurePath(file).stem)
        kinds: dict[str, Callable[[], Iterable[str]]] = {
            "file": lambda: [file.casefold()],
            "key": lambda: [stem],
            "doi": lambda: [document.record.doi],
            "title": lambda: chain(map(_bare, (document.title, document.record.title)), self._titles_in(stem)),
            "author": lambda: self._authors_and_years_in(file),
        }
        for kind, keys in kinds.items():
            known = self._by.get(kind, {})
            common = {key for key in islice(keys(), 4 * _LONGEST_NAME) if key in known} if known else ()
            entries = {record: entry for key in common for record, entry in known[key].items()}
            if len(entries) == 1:
                return next(iter(entries.values()))
        return None

    def _titles_in(self, stem: str) -> Iterator[str]:
        """Yield the parts of a file's name with the first characters and the length of a known title."""
        for at in range(len(stem)):
            for length in self._lengths.get(stem[at : at + _SHORTEST_TITLE], ()):
                yield stem[at : at + length]

    def _authors_and_years_in(self, file: str) -> Iterator[str]:
        words = folded_words(file.replace("_", " "))
        named = {" ".join(words[at : at + count]) for at in range(len(words)) for count in range(1, _LONGEST_FAMILY)}
        years = {year for at in range(len(file) - 3) if (year := file[at : at + 4]).isdecimal()}
        return (family + year for family in sorted(named & self._families) for year in sorted(years))

    def completed(self, document: Document) -> Document:
        """Return the document completed by its entry, if any."""
        entry = self.entry_of(document)
        if entry is None:
            return document
        record = entry.record.completed(document.record)
        return replace(document, title=record.title, published=record.published or None, record=record)


def identifying_titles(title: str) -> tuple[str, ...]:
    """Return a title with and without its subtitle, each if long enough to identify a work."""
    return tuple(form for form in (title, without_subtitle(title)) if len(_bare(form)) >= _SHORTEST_TITLE)


def without_subtitle(title: str) -> str:
    """Return a title without the text after a colon, a dash or the end of a sentence."""
    for mark in _SUBTITLES:
        title = title.partition(mark)[0]
    return title


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _cleaned(entry: Entry) -> Entry:
    record = entry.record
    texts: dict[str, Any] = {name: plain_text(value) for name, value in vars(record).items() if isinstance(value, str)}
    work = Work(**{name: plain_text(value) for name, value in vars(record.work).items()})
    work = replace(work, extent="-".join(filter(None, map(str.strip, work.extent.translate(_DASHES).split("-")))))
    return Entry(plain_text(entry.key), entry.files, replace(record, **texts, work=work).of("bibliography"))
