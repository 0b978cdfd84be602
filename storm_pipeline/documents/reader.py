"""Reads own documents: finds the files, and gives what bibliographies beside them say."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from storm_pipeline.documents.bibliography import Bibliography
from storm_pipeline.documents.bibliography_formats import BIBLIOGRAPHIES, Entry
from storm_pipeline.documents.document import Document, Unreadable
from storm_pipeline.documents.file_reader import READABLE, READERS, read_entries, read_file
from storm_pipeline.documents.isolated import NotReadError, reading, size_of
from storm_pipeline.documents.kept import KeptDocuments
from storm_pipeline.documents.recognition import searchable_copy
from storm_pipeline.errors import CorpusError

_JSON_LINES = frozenset({".jsonl", ".ndjson", ".json"})
_MAX_BIBLIOGRAPHY = 50_000_000

FORMATS = frozenset({*READERS, *_JSON_LINES, *BIBLIOGRAPHIES})
"""Extensions of the files that are read: documents, and bibliographies beside them."""


def read_documents(
    path: Path, *, linked: bool = False, kept: KeptDocuments | None = None
) -> Iterator[Document | Unreadable]:
    """All documents of a file or, recursively and sorted by name, of a folder, with what bibliographies there say.

    Hidden files and folders are skipped, and so are the lock files of word processors (``~$…``), whatever is no
    regular file, and links to files outside the folder; links to folders are not followed, to avoid loops.

    Args:
        path: an existing file or folder. A file with an unknown extension is read as JSON lines.
        linked: whether to read files outside the folder, and hidden ones, that links in the folder point to.
        kept: what was read before; None to read every file anew.
    """

    def read(file: Path) -> Iterator[Document | Unreadable]:
        try:
            yield from kept.read(file, _read_there) if kept else _read_there(file)
        except NotReadError as error:
            yield _not_read(file, error)

    if not path.is_dir():
        yield from read(path)
        return
    others: Counter[str] = Counter()
    refused: list[OSError] = []
    texts: dict[Path, None] = {}
    entries: list[Entry] = []
    problems: list[Unreadable] = []
    for file in _files(path, refused):
        found = _bibliography(file) if linked or stays_below(file, path) else None
        if isinstance(found, Unreadable):
            problems.append(found)
        elif found is None:
            texts[file] = None
        else:
            entries += found
    bibliography = Bibliography(entries)
    for file in texts:
        suffix = file.suffix.lower()
        if suffix == ".pdf" and searchable_copy(file) in texts:
            continue
        if suffix not in READERS and suffix not in _JSON_LINES:
            others[suffix or "no extension"] += 1
        elif linked or stays_below(file, path):
            yield from (bibliography.completed(one) if isinstance(one, Document) else one for one in read(file))
        else:
            yield Unreadable(
                f"{_printable(file)} is a link to a file outside the folder, or to a hidden one; it was skipped: "
                "copy that file into the folder if it belongs there."
            )
    yield from problems
    yield from (Unreadable(f"{error.filename} cannot be opened; check its permissions.") for error in refused)
    if others:
        kinds = ", ".join(sorted(others))
        yield Unreadable(f"{others.total()} files of other types ({kinds}) were skipped; supported are {READABLE}.")


def _files(path: Path, refused: list[OSError]) -> Iterator[Path]:
    for folder, folders, files in os.walk(path, onerror=refused.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from sorted(Path(folder, name) for name in files if not name.startswith((".", "~$")))


def _bibliography(file: Path) -> tuple[Entry, ...] | Unreadable | None:
    """The entries of a bibliography, or why it cannot be read; None if a file is none."""
    suffix = file.suffix.lower()
    if suffix not in BIBLIOGRAPHIES:
        return None
    try:
        is_small = file.is_file() and (size := size_of(file)) <= _MAX_BIBLIOGRAPHY
        entries = tuple(reading.read(read_entries, str(file.absolute()), size=size)) if is_small else None
    except NotReadError as error:
        return _not_read(file, error)
    except (OSError, CorpusError):
        entries = None
    if entries is None and suffix != ".json":
        why = f"{_printable(file)} cannot be read as a bibliography; export it again"
        return Unreadable(f"{why}, smaller than {_MAX_BIBLIOGRAPHY:,} bytes.")
    return entries


def stays_below(file: Path, folder: Path) -> bool:
    """Whether a file, its links resolved, lies in a folder and is not hidden there."""
    try:
        parts = file.resolve().relative_to(folder.resolve()).parts
    except (OSError, ValueError, RuntimeError):  # RuntimeError: a loop of links
        return False
    return not any(part.startswith(".") for part in parts)


def _printable(file: Path) -> str:
    """The path as text; file names may contain undecodable bytes."""
    return str(file).encode("utf-8", "replace").decode()


def _not_read(file: Path, error: NotReadError) -> Unreadable:
    return Unreadable(f"{_printable(file)} {error}; it was skipped: save it anew, or split it.", _printable(file))


def _read_there(file: Path) -> Iterator[Document | Unreadable]:
    """What a file holds, read in the process for foreign files. Raises NotReadError."""
    is_pdf = file.suffix.lower() == ".pdf"
    yield from reading.read(read_file, str(file.absolute()), _printable(file), size=size_of(file), is_pdf=is_pdf)
