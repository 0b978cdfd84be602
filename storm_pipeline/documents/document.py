"""Results of reading: a file's text, a searchable document, or why a file was skipped."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from storm_pipeline.documents.record import UNKNOWN, Record


@dataclass(frozen=True)
class FileText:
    """The text of a file.

    Attributes:
        title: the title in its metadata; may be empty.
        pages: page number from 1 (None if unpaginated) and text, in order.
        published: ISO date in its metadata, if any.
        problems: what could not be read: predicates of sentences whose subject is the file's name.
        record: what the file says of itself as a work.
        labels: page number → the number printed on it, where that is another.
    """

    title: str = ""
    pages: tuple[tuple[int | None, str], ...] = ()
    published: str | None = None
    problems: tuple[str, ...] = ()
    record: Record = UNKNOWN
    labels: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Document:
    """A searchable document.

    Attributes:
        url: its URL; ``file://…`` for a local file.
        title: may be empty.
        pages: page number from 1 (None if unpaginated) and text, in order; no text is blank.
        published: ISO date if known.
        record: what is known of it as a work.
        labels: page number → the number printed on it, where that is another.
    """

    url: str
    title: str
    pages: tuple[tuple[int | None, str], ...]
    published: str | None = None
    record: Record = UNKNOWN
    labels: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Unreadable:
    """Why a file, or a line of one, was skipped.

    Attributes:
        reason: a sentence that names it.
        file: its path; empty where it is not about one file.
        is_scan: whether the file holds pictures of pages, and no text.
    """

    reason: str
    file: str = ""
    is_scan: bool = False
