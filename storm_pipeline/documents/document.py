"""Results of reading: a file's text, a searchable document, or why a file was skipped."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from storm_pipeline.documents.record import UNKNOWN, Record


@dataclass(frozen=True)
class FileText:
    """The text of a file."""

    title: str = ""  # the title in its metadata; may be empty
    pages: tuple[tuple[int | None, str], ...] = ()  # page number from 1 (None if unpaginated) and text, in order
    published: str | None = None  # ISO date in its metadata, if any
    problems: tuple[str, ...] = ()  # what could not be read: predicates of sentences whose subject is the file's name
    record: Record = UNKNOWN  # what the file says of itself as a work
    labels: Mapping[int, str] = field(default_factory=dict)  # page number → another number that is printed on it


@dataclass(frozen=True)
class Document:
    """A searchable document."""

    url: str  # its URL; ``file://…`` for a local file
    title: str  # may be empty
    pages: tuple[tuple[int | None, str], ...]  # page number from 1 (None: unpaginated) and text, in order; none blank
    published: str | None = None  # ISO date if known
    record: Record = UNKNOWN  # what is known of it as a work
    labels: Mapping[int, str] = field(default_factory=dict)  # as those of :class:`FileText`


@dataclass(frozen=True)
class Unreadable:
    """Why a file, or a line of one, was skipped."""

    reason: str  # a sentence that names it
    file: str = ""  # its path; empty where it is not about one file
    is_scan: bool = False  # whether the file holds pictures of pages, and no text
