"""Reads own documents with what bibliographies beside them say, and keeps what was read."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from storm_pipeline.run.events import adapter_of
from storm_pipeline.sources.documents.bibliography import Bibliography
from storm_pipeline.sources.documents.bibliography_formats import BIBLIOGRAPHIES, Entry
from storm_pipeline.sources.documents.document import Document, Record, Unreadable
from storm_pipeline.sources.documents.file_reader import READABLE, READERS, Item, read_file
from storm_pipeline.sources.documents.isolated import NotReadError, reading, size_of
from storm_pipeline.sources.sqlite_cache import SqliteCache
from storm_pipeline.text.files import walk
from storm_pipeline.text.formatting import with_noun

SUFFIX = ".ocr.pdf"  # what a searchable copy is called: ``minutes.pdf`` becomes ``minutes.ocr.pdf``


def searchable_copy(file: Path) -> Path:
    """Return the path of a scan's searchable copy."""
    return file.with_name(file.name[: -len(file.suffix)] + SUFFIX)


_VERSION = 11  # incremented when files are read otherwise than before
FILE = "documents.sqlite"  # name of the file in the cache folder


class KeptDocuments:
    """Cache of documents by file, size and modification time."""

    def __init__(self, folder: Path) -> None:
        self._cache = SqliteCache(folder / FILE)

    def read(self, file: Path, read: Callable[[Path], list[Item]]) -> list[Item]:
        """Return the content of a file from the cache, else from ``read``, and cache it."""
        try:
            stat = file.stat()
            key = f"{_VERSION} {file.resolve()} {stat.st_size} {stat.st_mtime_ns}"
        except (OSError, ValueError, RuntimeError):  # a broken or circular link
            return read(file)
        items: list[Item] | None = _decode(list[Item], self._cache.get(key))
        if items is None:
            items = read(file)
            self._cache.put(key, adapter_of(list[Item]).dump_python(items))
        return items

    def record(self, doi: str) -> Record | None:
        """Return Crossref's cached record of a DOI; None if missing or old."""
        record: Record | None = _decode(Record, self._cache.get(f"{_VERSION} {doi}", max_age_days=180))
        return record

    def keep_record(self, doi: str, record: Record) -> None:
        """Cache Crossref's record of a DOI."""
        self._cache.put(f"{_VERSION} {doi}", adapter_of(Record).dump_python(record))


def _decode(kind: Any, value: Any) -> Any:
    try:
        return adapter_of(kind).validate_python(value)
    except ValueError:
        return None


FORMATS = frozenset({*READERS, ".jsonl", ".ndjson", ".json", *BIBLIOGRAPHIES})
"""Extensions of readable files: documents and bibliographies."""


def read_documents(
    path: Path, *, kept: KeptDocuments | None = None, deep: bool = True, known: Iterable[Entry] = ()
) -> Iterator[Document | Unreadable]:
    """Yield the documents of a file or, recursively and sorted by name, of a folder, completed by bibliographies.

    These are the bibliographies of the folder, and the entries ``known``.

    Skips hidden files and folders, lock files of word processors (``~$…``), non-regular files, and links to files
    outside the folder; does not follow links to folders, to avoid loops.

    ``path``: an existing file or folder. A file with an unknown extension is read as JSON lines. ``kept``: the cache;
    None to read every file. ``deep``: whether to read folders in the folder.
    """
    if not path.is_dir():
        yield from _completed(_read(path, kept), Bibliography(known))
        return
    problems: list[Unreadable] = []
    files = dict.fromkeys(_files(path, problems, deep=deep))
    bibliographies = {file: _read(file, kept) for file in files if _is_bibliography(file, path)}
    entries = (item for items in bibliographies.values() for item in items if isinstance(item, Entry))
    bibliography = Bibliography([*entries, *known])
    others: Counter[str] = Counter()
    for file in files:
        suffix = file.suffix.lower()
        if suffix == ".pdf" and searchable_copy(file) in files:
            continue
        if suffix not in FORMATS:
            others[suffix or "no extension"] += 1
        elif stays_below(file, path):
            yield from _completed(bibliographies[file] if file in bibliographies else _read(file, kept), bibliography)
        else:
            yield Unreadable(
                f"{_printable(file)} is a link to a file outside the folder, or to a hidden one; it was skipped: "
                "copy that file into the folder if it belongs there."
            )
    yield from problems
    if others:
        kinds = ", ".join(sorted(others))
        yield Unreadable(f"{others.total()} files of other types ({kinds}) were skipped; supported are {READABLE}.")


def read_entries(folder: Path, *, deep: bool) -> list[Entry]:
    """Return the entries of a folder's bibliographies."""
    files = (file for file in _files(folder, [], deep=deep) if _is_bibliography(file, folder))
    return [item for file in files for item in _read(file) if isinstance(item, Entry)]


def _files(path: Path, problems: list[Unreadable], *, deep: bool) -> Iterator[Path]:
    def report_error(error: OSError) -> None:
        problems.append(Unreadable(f"{error.filename} cannot be opened; check its permissions."))

    for folder, folders, files in walk(path, onerror=report_error):
        folders[:] = sorted(name for name in folders if deep and not name.startswith("."))
        yield from sorted(Path(folder, name) for name in files if not name.startswith((".", "~$")))


def _is_bibliography(file: Path, folder: Path) -> bool:
    """Return whether a file may be a bibliography by its name; ``.json`` may also be documents."""
    return file.suffix.lower() in BIBLIOGRAPHIES and stays_below(file, folder)


def _completed(items: Iterable[Item], bibliography: Bibliography) -> Iterator[Document | Unreadable]:
    for item in items:
        if not isinstance(item, Entry):
            yield bibliography.completed(item) if isinstance(item, Document) else item


def stays_below(file: Path, folder: Path) -> bool:
    """Return whether a file, after resolving links, is in a folder and not hidden there."""
    try:
        parts = file.resolve().relative_to(folder.resolve()).parts
    except (OSError, ValueError, RuntimeError):  # RuntimeError: circular links
        return False
    return not any(part.startswith(".") for part in parts)


def _printable(file: Path) -> str:
    """Return the path as text; file names may contain undecodable bytes."""
    return str(file).encode("utf-8", "replace").decode()


def _read(file: Path, kept: KeptDocuments | None = None) -> list[Item]:
    """Return the content of a file, from the cache if it has it, else read in the process for foreign files."""
    try:
        return kept.read(file, _read_there) if kept else _read_there(file)
    except NotReadError as error:
        reason = f"{_printable(file)} {error}; it was skipped: save it anew, or split it."
        return [Unreadable(reason, _printable(file))]


def _read_there(file: Path) -> list[Item]:
    is_pdf = file.suffix.lower() == ".pdf"
    return reading.read(read_file, str(file.absolute()), _printable(file), size=size_of(file), is_pdf=is_pdf)


@dataclass(frozen=True)
class Inventory:
    """The contents of a file or folder."""

    documents: tuple[Document, ...]  # readable ones
    scans: tuple[Path, ...]  # files without text, which need text recognition
    broken: int  # number of other unreadable files
    problems: tuple[str, ...]  # reasons, one sentence each

    @property
    def summary(self) -> str:
        """``3 readable, 1 scan, 1 broken; author and year known of 2``."""
        known = sum(bool(document.record.authors and document.record.published) for document in self.documents)
        scans = f", {with_noun(len(self.scans), 'scan')}" if self.scans else ""
        broken = f", {self.broken} broken" if self.broken else ""
        return f"{len(self.documents)} readable{scans}{broken}; author and year known of {known}"


def take_inventory(path: Path, cache: Path) -> Inventory:
    """Read a file or folder and count its content. ``cache``: folder of the cache."""
    items = list(read_documents(path.expanduser(), kept=KeptDocuments(cache)))
    documents = tuple(item for item in items if isinstance(item, Document))
    refused = [item for item in items if isinstance(item, Unreadable)]
    read = {unquote(urlsplit(document.url).path) for document in documents}
    lost = {i.file for i in refused if i.file and not i.is_scan and str(Path(i.file).resolve()) not in read}
    scans = tuple(Path(item.file) for item in refused if item.is_scan)
    return Inventory(documents, scans, len(lost), tuple(item.reason for item in refused))
