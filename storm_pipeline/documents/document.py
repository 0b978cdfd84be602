"""Results of reading: a file's text, a searchable document, or why a file was skipped."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FileText:
    """The text of a file.

    Attributes:
        title: the title in its metadata; may be empty.
        pages: page number from 1 (None if unpaginated) and text, in order.
        published: ISO date in its metadata, if any.
        problems: what could not be read: predicates of sentences whose subject is the file's name.
    """

    title: str = ""
    pages: tuple[tuple[int | None, str], ...] = ()
    published: str | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Document:
    """A searchable document.

    Attributes:
        url: its URL; ``file://…`` for a local file.
        title: may be empty.
        pages: page number from 1 (None if unpaginated) and text, in order; no text is blank.
        published: ISO date if known.
    """

    url: str
    title: str
    pages: tuple[tuple[int | None, str], ...]
    published: str | None = None


@dataclass(frozen=True)
class Unreadable:
    """Why a file, or a line of one, was skipped: a sentence that names it."""

    reason: str
