"""Results of reading a file: its record, its text, a searchable document, or the reason for skipping it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from storm_pipeline.text.person_names import Name, person_names
from storm_pipeline.text.plain import FILE_ENDINGS, PROGRAMS, find_year, plain_text
from storm_pipeline.types import NO_WORK, Work

_NO_TITLES = ("untitled", "slide ", "document", "full page photo", "pii", "doi", "isbn", "issn")
_NOBODY = frozenset("user owner admin administrator author unknown anonymous microsoft windows acrobat "
    "python-docx scanner copier printer".split())  # fmt: skip
OTHERS = (" et al.", " et al", " u. a.", " u.a.", " and others", " und andere")
AND = frozenset({"and", "und", "&"})


@dataclass(frozen=True)
class Record:
    """The known data of a work; unknown fields are empty."""

    title: str = ""  # of the work itself, not of its book or journal
    authors: str = ""  # joined by ``; ``, each ``Given Family`` or ``Family, Given``
    published: str = ""  # ISO date, possibly without day or month
    container: str = ""  # journal, book or proceedings
    publisher: str = ""  # name of the publisher
    doi: str = ""  # in lower case, without ``https://doi.org/``
    accessed: str = ""  # ISO date on which its address was read
    language: str = ""  # language code
    work: Work = NO_WORK  # its kind and further bibliographic data
    origins: tuple[tuple[str, str], ...] = field(default=(), compare=False)  # known fields and where they are from

    def of(self, origin: str) -> "Record":
        """Return this record with an origin of the known fields that have none."""
        known = {name: origin for name, value in vars(self).items() if value and name not in {"work", "origins"}}
        return replace(self, origins=tuple((known | dict(self.origins)).items()))

    def part(self, origin: str) -> "Record":
        """Return the fields of an origin, with the work's further data if there are any."""
        known = {name: getattr(self, name) for name, known_from in self.origins if known_from == origin}
        return Record(**known, work=self.work).of(origin) if known else Record()

    def completed(self, other: "Record") -> "Record":
        """Return this record with empty fields filled from another record of the same work."""
        work = replace(self.work, **_lacking(self.work, other.work))
        origins = (*self.origins, *(origin for origin in other.origins if not getattr(self, origin[0])))
        return replace(self, **(_lacking(self, other) | {"work": work, "origins": origins}))


def _lacking(base: object, other: object) -> dict[str, Any]:
    """Return the fields of ``other`` that are empty in ``base``."""
    return {name: value for name, value in vars(other).items() if not getattr(base, name)}


UNKNOWN = Record()  # of an unknown work


@dataclass(frozen=True)
class FileText:
    """The text of a file."""

    title: str = ""  # the title in its metadata; may be empty
    pages: tuple[tuple[int | None, str], ...] = ()  # page number from 1 (None if unpaginated) and text, in order
    published: str | None = None  # ISO date in its metadata, if any
    problems: tuple[str, ...] = ()  # unreadable parts, as predicates of sentences about the file
    record: Record = UNKNOWN  # bibliographic data stated by the file
    labels: Mapping[int, str] = field(default_factory=dict)  # page number → printed number, if different


@dataclass(frozen=True)
class Document:
    """A searchable document."""

    url: str  # its URL; ``file://…`` for a local file
    title: str  # may be empty
    pages: tuple[tuple[int | None, str], ...]  # page number from 1 (None: unpaginated) and text, in order; none blank
    published: str | None = None  # ISO date if known
    record: Record = UNKNOWN  # its bibliographic data
    labels: Mapping[int, str] = field(default_factory=dict)  # as those of :class:`FileText`


@dataclass(frozen=True)
class Unreadable:
    """The reason why a file, or a line of one, was skipped."""

    reason: str  # the reason, in a sentence that names the file
    file: str = ""  # its path; empty if not about a single file
    is_scan: bool = False  # whether the file has pictures of pages without text


def usable_title(value: object) -> str:
    """Return a title from a file's metadata; empty if it is a file name or another default of a program."""
    title = plain_text(value).strip("~ ")
    is_no_title = title.lower().startswith((*_NO_TITLES, *(name.lower() for name in PROGRAMS)))
    is_file = PurePath(title).suffix.lower() in FILE_ENDINGS
    return title if len(title) >= 3 and any(map(str.isalpha, title)) and not is_no_title and not is_file else ""


def usable_authors(value: object) -> str:
    """Return the authors from a file's metadata, joined by ``; ``; empty for a machine's or account's name."""
    text = plain_text(value).strip("; ")
    words = text.lower().split()
    if len(text) < 2 or words[0] in _NOBODY or words[-1] in _NOBODY or not {"@", "/", "\\"}.isdisjoint(text):
        return ""
    if ";" not in text and (names := person_names(text)):
        return "; ".join(names)
    return text


def record_of_name(name: str, known_title: str = "") -> Record:
    """Return the record in a file's name: ``Helle 1994 Bergen bys historie.pdf`` or ``Helle - 1994 - Bergen.pdf``."""
    stem = plain_text(PurePath(name).stem.replace("_", " "))
    year = find_year(stem, known_title)
    before, _, title = (part.strip(" -,.()") for part in stem.partition(year)) if year else ("", "", "")
    if not before and find_year(title):  # which of several years is the date is not known
        return Record()
    author, _, title = (before, "", title) if before else title.partition(" - ")
    for others in OTHERS:
        author = author.removesuffix(others)
    people = " ".join("," if word in AND else word for word in author.split()).split(",")
    names = [Name(person.strip()) for person in people if person.strip()]
    words = [name.family.split() for name in names]
    if not names or not all(len(n) <= 3 and n[0][0].isupper() and n[-1][0].isupper() for n in words):
        return Record()
    return Record(title.strip(" -,."), "; ".join(name.family for name in names), year) if title else Record()
