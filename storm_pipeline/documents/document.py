"""What reading gives: a file's text, a document to search in, or why there is none."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FileText:
    """What could be read of a file.

    Attributes:
        title: the title that the file states; may be empty.
        pages: page number from 1 (None where there are none) and text, in order.
        published: ISO date that the file states, if it does.
        problems: what could not be read, each as the end of a sentence that begins with the file's name.
    """

    title: str = ""
    pages: tuple[tuple[int | None, str], ...] = ()
    published: str | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Document:
    """A document to search in.

    Attributes:
        url: its address; ``file://…`` where it is only a file here.
        title: may be empty.
        pages: page number from 1 (None where there are none) and text, in order; each text holds more than
            white space.
        published: ISO date where known.
    """

    url: str
    title: str
    pages: tuple[tuple[int | None, str], ...]
    published: str | None = None


@dataclass(frozen=True)
class Unreadable:
    """Why a file, or a line of one, was skipped: a whole sentence that names it."""

    reason: str
