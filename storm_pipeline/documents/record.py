"""What is known of a document as a work: the entry of a bibliography."""

import re
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from storm_pipeline.documents.plain import plain_text
from storm_pipeline.files import table_beside
from storm_pipeline.text.person_names import Name, person_names
from storm_pipeline.types import NO_WORK, Work

_PATTERNS = table_beside(__file__)
_BY_PROGRAM = re.compile("".join(_PATTERNS["by_program"]), re.I)
_FILE_NAME = re.compile(r"\.(?:docx?|dotx?|odt|pptx?|xlsx?|rtf|indd|qxd|pdf|tex|dvi|ps|fm|p65)$", re.I)
_CODE = re.compile(r"^(?:pii|doi|isbn|issn)\b|^[\W\d_]*$", re.I)
_NOBODY = re.compile("".join(_PATTERNS["nobody"]), re.I)
_STEM = (
    re.compile(r"(?P<author>[^\d_-][^_\d]*?)[\s_,.(-]+(?P<year>1[5-9]\d\d|20\d\d)[a-z]?\)?[\s_,.-]+(?P<title>\S.*)"),
    re.compile(r"(?P<year>1[5-9]\d\d|20\d\d)[a-z]?[\s_,.-]+(?P<author>[^\d_-][^_\d-]*?)\s*[_-]+\s*(?P<title>\S.*)"),
)
_OTHERS = re.compile(r"\s*(?:\bet al\.?|\bu\. ?a\.?|\b(?:and|und|et) others)\s*$", re.I)


@dataclass(frozen=True)
class Record:
    """What is known of a work; what is not known is empty."""

    title: str = ""  # of the work itself, not of the book or journal that it stands in
    authors: str = ""  # joined by ``; ``, each ``Given Family`` or ``Family, Given``
    published: str = ""  # ISO date, or its year, or year and month
    container: str = ""  # the journal, the book, or the proceedings that it stands in
    publisher: str = ""  # who published it
    doi: str = ""  # in lower case, without ``https://doi.org/``
    url: str = ""  # where it is on the web
    language: str = ""  # language code
    work: Work = NO_WORK  # its kind, and what else a bibliography says

    def completed(self, other: "Record") -> "Record":
        """This record with what it lacks taken from another one of the same work."""
        work = replace(self.work, **_lacking(self.work, other.work))
        return replace(self, **_lacking(self, other), work=work)


def _lacking(own: object, other: object) -> dict[str, Any]:
    """The fields that are empty in a value, as another one of its type has them."""
    return {name: value for name, value in vars(other).items() if not getattr(own, name)}


UNKNOWN = Record()
"""Of a work of which nothing is known."""


def usable_title(value: object) -> str:
    """A title in a file's metadata; empty where a program has put a file's name or nothing of use there."""
    title = plain_text(value).strip("~ ")
    refused = _BY_PROGRAM.search(title) or _FILE_NAME.search(title) or _CODE.search(title) or len(title) < 3
    return "" if refused else title


def usable_authors(value: object) -> str:
    """The authors in a file's metadata, joined by ``; ``; empty where a machine's or an account's name stands there."""
    text = plain_text(value).strip("; ")
    if not text or _NOBODY.fullmatch(text):
        return ""
    if ";" not in text and (names := person_names(text)):
        return "; ".join(names)
    return text


def record_of_name(name: str) -> Record:
    """What a file's name says of a work: ``Helle 1994 Bergen bys historie.pdf`` or ``Helle - 1994 - Bergen.pdf``."""
    stem = plain_text(PurePath(name).stem.replace("_", " "))
    found = next((match for form in _STEM if (match := form.fullmatch(stem))), None)
    if found is None:
        return Record()
    author = _OTHERS.sub("", found["author"].strip(" -,.("))
    names = [Name(one.strip()) for one in re.split(r"\s*(?:,|&|\band\b|\bund\b)\s*", author) if one.strip()]
    if not names or not all(one.family[:1].isupper() and len(one.family.split()) <= 3 for one in names):
        return Record()
    return Record(found["title"].strip(" -,."), "; ".join(one.family for one in names), found["year"])
