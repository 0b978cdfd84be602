"""Reads own documents: finds the files, counts them, and gives what bibliographies beside them say."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from storm_pipeline.errors import CorpusError
from storm_pipeline.sources.documents.bibliography import Bibliography
from storm_pipeline.sources.documents.bibliography_formats import BIBLIOGRAPHIES, Entry
from storm_pipeline.sources.documents.document import Document, Unreadable
from storm_pipeline.sources.documents.file_reader import READABLE, READERS, read_entries, read_file
from storm_pipeline.sources.documents.isolated import NotReadError, reading, size_of
from storm_pipeline.sources.documents.kept import KeptDocuments
from storm_pipeline.sources.documents.recognition import searchable_copy
from storm_pipeline.text.formatting import counted

_JSON_LINES = frozenset({".jsonl", ".ndjson", ".json"})
_MAX_BIBLIOGRAPHY = 50_000_000

FORMATS = frozenset({*READERS, *_JSON_LINES, *BIBLIOGRAPHIES})
"""Extensions of the files that are read: documents, and bibliographies beside them."""


def read_documents(
    path: Path, *, linked: bool = False, kept: KeptDocuments | None = None
) -> Iterator[Document | Unreadable]:
    """Yield the documents of a file or, recursively and sorted by name, of a folder, with what bibliographies say.

    Hidden files and folders are skipped, and so are the lock files of word processors (``~$…``), whatever is no
    regular file, and links to files outside the folder; links to folders are not followed, to avoid loops.

    ``path``: an existing file or folder. A file with an unknown extension is read as JSON lines. ``linked``: whether to
    read files outside the folder, and hidden ones, that links in the folder point to. ``kept``: what was read before;
    None to read every file anew.
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
    texts: dict[Path, None] = {}
    entries: list[Entry] = []
    problems: list[Unreadable] = []

    for file in _files(path, problems):
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
    if others:
        kinds = ", ".join(sorted(others))
        yield Unreadable(f"{others.total()} files of other types ({kinds}) were skipped; supported are {READABLE}.")


def _files(path: Path, problems: list[Unreadable]) -> Iterator[Path]:
    def refused(error: OSError) -> None:
        problems.append(Unreadable(f"{error.filename} cannot be opened; check its permissions."))

    for folder, folders, files in os.walk(path, onerror=refused):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from sorted(Path(folder, name) for name in files if not name.startswith((".", "~$")))


def _bibliography(file: Path) -> tuple[Entry, ...] | Unreadable | None:
    """Return the entries of a bibliography, or why it cannot be read; None if a file is not one."""
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
    """Return whether a file, its links resolved, is in a folder and is not hidden there."""
    try:
        parts = file.resolve().relative_to(folder.resolve()).parts
    except (OSError, ValueError, RuntimeError):  # RuntimeError: a loop of links
        return False
    return not any(part.startswith(".") for part in parts)


def _printable(file: Path) -> str:
    """Return the path as text; file names may contain undecodable bytes."""
    return str(file).encode("utf-8", "replace").decode()


def _not_read(file: Path, error: NotReadError) -> Unreadable:
    return Unreadable(f"{_printable(file)} {error}; it was skipped: save it anew, or split it.", _printable(file))


def _read_there(file: Path) -> Iterator[Document | Unreadable]:
    """Yield what a file holds, read in the process for foreign files. Raises NotReadError."""
    is_pdf = file.suffix.lower() == ".pdf"
    yield from reading.read(read_file, str(file.absolute()), _printable(file), size=size_of(file), is_pdf=is_pdf)


@dataclass(frozen=True)
class Inventory:
    """The contents of a file or folder."""

    documents: tuple[Document, ...]  # those that can be read
    scans: tuple[Path, ...]  # files without text, of which text recognition makes copies that can be read
    broken: int  # number of files that cannot be read for another reason
    problems: tuple[str, ...]  # why, one sentence each

    @property
    def summary(self) -> str:
        """``3 readable, 1 scan, 1 broken; author and year known of 2``."""
        known = sum(bool(one.record.authors and one.record.published) for one in self.documents)
        scans = f", {counted(len(self.scans), 'scan')}" if self.scans else ""
        broken = f", {self.broken} broken" if self.broken else ""
        return f"{len(self.documents)} readable{scans}{broken}; author and year known of {known}"


def take_inventory(path: Path, cache: Path) -> Inventory:
    """Read a file or folder, and count what it holds. ``cache``: folder that keeps what was read."""
    found = list(read_documents(path.expanduser(), kept=KeptDocuments(cache)))
    documents = tuple(one for one in found if isinstance(one, Document))
    refused = [one for one in found if isinstance(one, Unreadable)]
    read = {unquote(urlsplit(one.url).path) for one in documents}
    lost = {one.file for one in refused if one.file and not one.is_scan and str(Path(one.file).resolve()) not in read}
    scans = tuple(Path(one.file) for one in refused if one.is_scan)
    return Inventory(documents, scans, len(lost), tuple(one.reason for one in refused))
