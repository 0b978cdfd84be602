"""The formats of bibliographies: BibTeX and BibLaTeX by pybtex, RIS by rispy, CSL-JSON."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote

from storm_pipeline.documents.pdf_record import found_doi
from storm_pipeline.documents.record import Record
from storm_pipeline.files import table_beside
from storm_pipeline.types import Work

_DATE = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")
_ATTACHED = re.compile(r"[^:;{}]*?([^/\\:;{}]+\.(?:pdf|docx|epub|html?|txt|md))(?=[:;}]|$)", re.I)
_KINDS = table_beside(__file__)


@dataclass(frozen=True)
class Entry:
    """An entry of a bibliography: its key, the names of the files attached to it, and what it says."""

    key: str
    files: tuple[str, ...]
    record: Record


def _from_bibtex(text: str) -> Iterable[Entry]:
    from pybtex import errors
    from pybtex.database.input.bibtex import Parser

    with errors.capture():  # an entry that is there twice, a macro that is not defined
        library = Parser().parse_string(text)
    return [_bibtex_entry(key, one) for key, one in library.entries.items()]


def _bibtex_entry(key: str, entry: Any) -> Entry:
    def field(*names: str) -> str:
        return next((_without_latex(entry.fields[name]) for name in names if name in entry.fields), "")

    def people(role: str) -> str:
        return "; ".join(map(_person, entry.persons.get(role, ())))

    month = field("month")[:3].lower()
    number = f"-{_MONTHS.index(month) + 1:02d}" if month in _MONTHS else ""
    title = ": ".join(filter(None, (field("title"), field("subtitle"))))
    record = Record(
        title=title,
        authors=people("author"),
        published=_date(field("date")) or (_date(field("year")) and field("year")[:4] + number),
        container=field("journaltitle", "journal", "booktitle", "maintitle"),
        publisher=field("publisher", "school", "institution", "organization"),
        doi=found_doi(field("doi")),
        url=field("url"),
        language=_language(field("langid", "language")),
        work=Work(
            kind=_KINDS["bibtex"].get(entry.type.lower(), ""),
            volume=field("volume"),
            issue=field("number", "issue"),
            extent=field("pages").replace("--", "-"),
            editors=people("editor"),
            place=field("address", "location"),
            isbn=field("isbn"),
            edition=field("edition"),
        ),
    )
    return Entry(key, tuple(_ATTACHED.findall(entry.fields.get("file", "").replace("\\:", ""))), record)


_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def _person(person: Any) -> str:
    family = _without_latex(" ".join([*person.prelast_names, *person.last_names]))
    given = _without_latex(" ".join([*person.first_names, *person.middle_names]))
    return f"{family}, {given}" if family and given else family or given


def _without_latex(text: str) -> str:
    from pybtex.richtext import Text

    try:
        return str(Text.from_latex(text))
    except Exception:  # noqa: BLE001  (unbalanced braces, unknown macros: what it raises is not declared)
        return re.sub(r"[{}]", "", text)


def _from_ris(text: str) -> Iterable[Entry]:
    import rispy

    return [_ris_entry(one) for one in rispy.loads(text)]


def _ris_entry(fields: Mapping[str, Any]) -> Entry:
    def field(*names: str) -> str:
        return next((str(fields[name]) for name in names if fields.get(name)), "")

    def people(*names: str) -> str:
        return "; ".join(map(str, next((fields[name] for name in names if fields.get(name)), ())))

    pages = [page for page in (field("start_page"), field("end_page")) if page]
    links = [str(link) for name in ("file_attachments1", "file_attachments2") for link in _listed(fields.get(name))]
    record = Record(
        title=field("title", "primary_title"),
        authors=people("authors", "first_authors"),
        published=_date(field("date")) or _date(field("year", "publication_year")),
        container=field("secondary_title", "journal_name", "alternate_title3", "alternate_title1", "alternate_title2"),
        publisher=field("publisher"),
        doi=found_doi(field("doi")),
        url=next(iter(map(str, _listed(fields.get("urls")))), ""),
        language=_language(field("language")),
        work=Work(
            kind=_KINDS["ris"].get(field("type_of_reference"), ""),
            volume=field("volume"),
            issue=field("number"),
            extent="-".join(pages),
            editors=people("secondary_authors", "tertiary_authors"),
            place=field("place_published"),
            isbn=field("issn") if field("type_of_reference") in {"BOOK", "CHAP", "EDBOOK"} else "",
            edition=field("edition"),
        ),
    )
    return Entry(field("id"), tuple(PurePath(unquote(link).replace("\\", "/")).name for link in links), record)


def _from_csl(text: str) -> Iterable[Entry]:
    items = json.loads(text)
    items = items.get("items") if isinstance(items, dict) else items
    if not isinstance(items, list) or not all(isinstance(one, dict) and "type" in one for one in items):
        raise ValueError("no list of items that have a type")
    return [_csl_entry(one) for one in items]


def csl_record(item: Mapping[str, Any]) -> Record:
    """What a CSL-JSON item says; fields of other types are left out."""

    def field(name: str) -> str:
        value = item.get(name)
        return str(value) if isinstance(value, str | int) else ""

    def people(role: str) -> str:
        return "; ".join(filter(None, map(_csl_name, _listed(item.get(role)))))

    return Record(
        title=field("title"),
        authors=people("author"),
        published=_csl_date(item.get("issued")),
        container=field("container-title"),
        publisher=field("publisher"),
        doi=found_doi(field("DOI")),
        url=field("URL"),
        language=_language(field("language")),
        work=Work(
            kind=_KINDS["csl"].get(field("type"), ""),
            volume=field("volume"),
            issue=field("issue"),
            extent=field("page"),
            editors=people("editor"),
            place=field("publisher-place"),
            isbn=field("ISBN"),
            edition=field("edition"),
        ),
    )


def _csl_entry(item: Mapping[str, Any]) -> Entry:
    attached = (one for one in _listed(item.get("attachments")) if isinstance(one, dict))
    files = (str(one.get("path") or one.get("title") or "").replace("\\", "/") for one in attached)
    key = str(item.get("citation-key") or item.get("id") or "")
    return Entry(key, tuple(PurePath(one).name for one in files), csl_record(item))


def _csl_name(name: Any) -> str:
    if not isinstance(name, Mapping):
        return ""
    particle = str(name.get("non-dropping-particle") or name.get("dropping-particle") or "")
    family, given = f"{particle} {name.get('family') or ''}".strip(), str(name.get("given") or "")
    return f"{family}, {given}" if family and given else family or given or str(name.get("literal") or "")


def _csl_date(issued: Any) -> str:
    if not isinstance(issued, Mapping):
        return ""
    parts = next(iter(_listed(issued.get("date-parts"))), None)
    stated = "-".join(str(part) for part in _listed(parts)[:3]) or str(issued.get("raw") or issued.get("literal") or "")
    return _date(stated)


def _date(text: str) -> str:
    """An ISO date, as precise as the text states it; empty for anything else."""
    found = _DATE.match(text.strip())
    return "-".join(part.zfill(2) for part in found.groups() if part) if found else ""


def _language(text: str) -> str:
    """A language code; a language's name, which bibliographies have too, is none."""
    return text if re.fullmatch(r"[a-z]{2}(?:-[A-Za-z]+)?", text) else ""


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


BIBLIOGRAPHIES: dict[str, Callable[[str], Iterable[Entry]]] = {
    ".bib": _from_bibtex,
    ".ris": _from_ris,
    ".json": _from_csl,
}
"""Ending of a file → what reads its entries; a ``.json`` that holds no such items is read as JSON lines."""
