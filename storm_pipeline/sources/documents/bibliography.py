"""Bibliographies beside documents, as Zotero and others export them.

BibTeX and BibLaTeX are read by pybtex, RIS by rispy, CSL-JSON here.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import chain, islice
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

from storm_pipeline.sources.documents.decoding import decode
from storm_pipeline.sources.documents.document import Document, Record
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.person_names import read_names
from storm_pipeline.text.plain import find_doi, plain_text
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Work

_DATE = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")
_ATTACHED = re.compile(r"(?<![^/\\:;{}])[^/\\:;{}]+\.(?:pdf|docx|epub|html?|txt|md)(?=[:;}]|$)", re.I)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_FORMATS = table_beside(__file__)
_OF_WORK = {field.name for field in fields(Work)}
_KNOWN = (_OF_WORK | {field.name for field in fields(Record)}) - {"kind", "work", "origins", "stated_by"}


@dataclass(frozen=True)
class Entry:
    """An entry of a bibliography: its key, the names of its attached files, and its record."""

    key: str
    files: tuple[str, ...]
    record: Record


def _record(
    form: str, kind: str, field: Callable[..., str], people: Callable[..., str], more: Mapping[str, str]
) -> Record:
    """Return the record of an entry: ``more``, else by the first matching name in the format's table."""
    names = _FORMATS[form]
    values: dict[str, Any] = {name: field(*names["fields"].get(name, [name])) for name in _KNOWN}
    values |= {role: people(*known) for role, known in names["people"].items()}
    values |= {"doi": find_doi(values["doi"]), "language": _language(values["language"]), **more}
    values["accessed"] = _date(values["accessed"])
    work = {name: values.pop(name) for name in _OF_WORK & values.keys()}
    return Record(
        **values, work=Work(kind=next((w for w, known in names["kinds"].items() if kind in known), ""), **work)
    )


def _bibtex_entry(key: str, entry: Any) -> Entry:
    def field(*names: str) -> str:
        name = next((name for name in names if name in entry.fields), "")
        text = entry.fields.get(name, "")
        return text.replace("\\", "") if name in {"url", "doi"} else _without_latex(text)

    def titled(*names: str) -> str:
        return ": ".join(filter(None, map(field, names)))

    def people(role: str) -> str:
        return "; ".join(map(_person, entry.persons.get(role, ())))

    month = field("month")[:3].lower()
    number = f"-{_MONTHS.index(month) + 1:02d}" if month in _MONTHS else ""
    more = {
        "title": titled("title", "subtitle"),
        "published": _date(field("date")) or (_date(field("year")) and field("year")[:4] + number),
    }
    if "booktitle" in entry.fields and not field("journaltitle", "journal"):
        more["container"] = titled("booktitle", "booksubtitle")
    files = _ATTACHED.findall(entry.fields.get("file", "").replace("\\:", ""))
    return Entry(key, tuple(files), _record("bibtex", entry.type.lower(), field, people, more))


def _person(person: Any) -> str:
    family = [*person.prelast_names, *person.last_names], [*person.first_names, *person.middle_names]
    return _name(*(_without_latex(" ".join(names)) for names in family))


def _name(family: str, given: str) -> str:
    """Return ``Family, Given``; an institution that :func:`read_names` would split ends with a comma, as in RIS."""
    is_split = not given and any(name.given for name in read_names(family))
    return f"{family}," if is_split else ", ".join(filter(None, (family, given)))


def _without_latex(text: str) -> str:
    from pybtex.richtext import Text

    for accent in "'`^\"~=":  # of a letter without its dot, which pybtex does not know
        text = text.replace(f"\\{accent}{{\\i}}", f"\\{accent}{{i}}").replace(f"\\{accent}\\i", f"\\{accent}{{i}}")
    try:
        return str(Text.from_latex(text))
    except Exception:  # noqa: BLE001  (unbalanced braces, unknown macros: what it raises is not declared)
        return text.replace("{", "").replace("}", "")


def _ris_entry(entry: Mapping[str, Any]) -> Entry:
    def field(*names: str) -> str:
        return next((str(entry[name]) for name in names if entry.get(name)), "")

    def people(*names: str) -> str:
        return "; ".join(map(str, next((entry[name] for name in names if entry.get(name)), ())))

    kind = field("type_of_reference")
    more = {
        "published": _date(field("date")) or _date(field("year", "publication_year")),
        "url": next(iter(map(str, _items(entry.get("urls")))), ""),
        "extent": "-".join(filter(None, (field("start_page"), field("end_page")))),
        "isbn": field("issn") if kind in {"BOOK", "CHAP", "EDBOOK"} else "",
    }
    links = [str(link) for name in ("file_attachments1", "file_attachments2") for link in _items(entry.get(name))]
    files = tuple(PurePath(unquote(link).replace("\\", "/")).name for link in links)
    return Entry(field("id"), files, _record("ris", kind, field, people, more))


def csl_record(item: Mapping[str, Any]) -> Record:
    """Return the record of a CSL-JSON item; fields of other types are left out."""

    def field(name: str) -> str:
        value = item.get(name)
        return str(value) if isinstance(value, str | int) else ""

    def people(role: str) -> str:
        return "; ".join(filter(None, map(_csl_name, _items(item.get(role)))))

    dates = {"published": _csl_date(item.get("issued")), "accessed": _csl_date(item.get("accessed"))}
    return _record("csl", field("type"), field, people, dates)


def _csl_entry(item: Mapping[str, Any]) -> Entry:
    attached = (attachment for attachment in _items(item.get("attachments")) if isinstance(attachment, dict))
    files = (str(attachment.get("path") or attachment.get("title") or "").replace("\\", "/") for attachment in attached)
    key = str(item.get("citation-key") or item.get("id") or "")
    return Entry(key, tuple(PurePath(file).name for file in files), csl_record(item))


def _csl_name(name: Any) -> str:
    if not isinstance(name, Mapping):
        return ""
    particle = str(name.get("non-dropping-particle") or name.get("dropping-particle") or "")
    names = f"{particle} {name.get('family') or ''}".strip(), str(name.get("given") or "")
    return _name(*names) or _name(str(name.get("literal") or ""), "")


def _csl_date(issued: Any) -> str:
    issued = issued if isinstance(issued, Mapping) else {}
    parts = next(iter(_items(issued.get("date-parts"))), None)
    stated = "-".join(str(part) for part in _items(parts)[:3]) or str(issued.get("raw") or issued.get("literal") or "")
    return _date(stated)


def _date(text: str) -> str:
    """Return an ISO date with the precision of the text; empty for other texts."""
    match = _DATE.match(text.strip())
    return "-".join(part.zfill(2) for part in match.groups() if part) if match else ""


def _language(text: str) -> str:
    code, _, region = text.partition("-")
    return text if len(code) == 2 and code.islower() and (region.isalpha() or code == text) else ""


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _from_bibtex(text: str, problems: list[str]) -> Iterable[Entry]:
    from pybtex import errors
    from pybtex.database.input.bibtex import Parser

    with errors.capture() as captured:  # a duplicate entry, an undefined macro
        library = Parser().parse_string(text)
    problems += map(str, captured)
    problems += (f"{key} is broken: it has no fields" for key, entry in library.entries.items() if not entry.fields)
    done: set[str] = set()
    for key in library.entries:
        _inherit(key, library.entries, problems, done)
    return [_bibtex_entry(key, entry) for key, entry in library.entries.items() if entry.type.lower() != "xdata"]


def _inherit(key: str, entries: Any, problems: list[str], done: set[str]) -> None:
    """Add the missing fields of ``xdata`` and ``crossref`` to an entry, by the rules of BibLaTeX and of BibTeX.

    A parent's title becomes that of the book, the volumes or the journal, unless the parent has a ``booktitle``.
    """
    if key.lower() in done:
        return
    done.add(key.lower())
    entry = entries[key]
    filled = {*map(str.lower, entry.fields), "file"}
    filled |= {"date", "year"} if filled & {"date", "year"} else set()
    named = {role: entry.fields.get(role, "").split(",") for role in ("xdata", "crossref")}
    for role, name in ((role, name.strip()) for role, names in named.items() for name in names if name.strip()):
        if name not in entries:
            problems.append(f"{key} refers to {name}, which is missing")
            continue
        _inherit(name, entries, problems, done)
        parent = entries[name]
        prefix = _prefix(parent.type.lower(), entry.type.lower()) if role == "crossref" else ""
        fields = {field.lower(): value for field, value in parent.fields.items()}
        titles = {prefix + field: fields.pop(field) for field in ("title", "subtitle") if field in fields}
        for field, value in (titles | fields).items():
            if field not in filled:
                entry.fields[field] = value
                filled.add(field)
        for people, names in parent.persons.items():
            entry.persons.setdefault(people, names)


def _prefix(parent: str, child: str) -> str:
    """Return what the name of a parent's title begins with in a child: ``book`` of a chapter."""
    prefix = "journal" if parent == "periodical" else "book" if child.startswith(("in", "supp", "bookin")) else ""
    return "" if parent == child else "main" if parent.startswith("mv") else prefix


def _from_ris(text: str, _: list[str]) -> Iterable[Entry]:
    import rispy

    return map(_ris_entry, rispy.loads(text))


def _from_csl(text: str, _: list[str]) -> Iterable[Entry]:
    items = json.loads(text)
    items = items.get("items") if isinstance(items, dict) else items
    if not isinstance(items, list) or not all(isinstance(item, dict) and "type" in item for item in items):
        raise ValueError("no list of items that have a type")
    return map(_csl_entry, items)


BIBLIOGRAPHIES: dict[str, Callable[[str, list[str]], Iterable[Entry]]] = {
    ".bib": _from_bibtex,
    ".ris": _from_ris,
    ".json": _from_csl,
}
"""File suffix → parser of its entries; a ``.json`` without such items is read as JSON lines."""


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
    short = title
    for mark in _SUBTITLES:
        short = short.partition(mark)[0]
    return tuple(form for form in (title, short) if len(_bare(form)) >= _SHORTEST_TITLE)


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _cleaned(entry: Entry) -> Entry:
    record = entry.record
    texts: dict[str, Any] = {name: plain_text(value) for name, value in vars(record).items() if isinstance(value, str)}
    work = Work(**{name: plain_text(value) for name, value in vars(record.work).items()})
    extent = "-".join(filter(None, map(str.strip, work.extent.translate(_DASHES).split("-"))))
    work = replace(work, extent=extent, stated_by="bibliography" if work.kind else "")
    return Entry(plain_text(entry.key), entry.files, replace(record, **texts, work=work).of("bibliography"))
