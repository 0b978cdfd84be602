"""Reads own documents with what bibliographies beside them say, and keeps what was read."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from storm_pipeline.errors import CorpusError
from storm_pipeline.run.events import adapter_of
from storm_pipeline.sources.documents.bibliography import Bibliography
from storm_pipeline.sources.documents.bibliography_formats import BIBLIOGRAPHIES, Entry
from storm_pipeline.sources.documents.document import Document, Record, Unreadable
from storm_pipeline.sources.documents.file_reader import READABLE, READERS, read_entries, read_file
from storm_pipeline.sources.documents.isolated import NotReadError, reading, size_of
from storm_pipeline.sources.sqlite_cache import SqliteCache
from storm_pipeline.text.files import walk
from storm_pipeline.text.formatting import with_noun

SUFFIX = ".ocr.pdf"  # what a searchable copy is called: ``minutes.pdf`` becomes ``minutes.ocr.pdf``


def searchable_copy(file: Path) -> Path:
    """Return the path of a scan's searchable copy."""
    return file.with_name(file.name[: -len(file.suffix)] + SUFFIX)


_VERSION = 10  # incremented when files are read otherwise than before
FILE = "documents.sqlite"  # name of the file in the cache folder


class KeptDocuments:
    """Cache of documents by file, size and modification time."""

    def __init__(self, folder: Path) -> None:
        self._cache = SqliteCache(folder / FILE)

    def read(self, file: Path, read: Callable[[Path], Iterator[Document | Unreadable]]) -> list[Document | Unreadable]:
        """Return the content of a file from the cache, else from ``read``, and cache it."""
        try:
            stat = file.stat()
            key = f"{_VERSION} {file.resolve()} {stat.st_size} {stat.st_mtime_ns}"
        except (OSError, ValueError, RuntimeError):  # a broken or circular link
            return list(read(file))
        documents: list[Document | Unreadable] | None = _decode(list[Document | Unreadable], self._cache.get(key))
        if documents is None:
            documents = list(read(file))
            self._cache.put(key, adapter_of(list[Document | Unreadable]).dump_python(documents))
        return documents

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


_JSON_LINES = frozenset({".jsonl", ".ndjson", ".json"})
_MAX_BIBLIOGRAPHY = 50_000_000

FORMATS = frozenset({*READERS, *_JSON_LINES, *BIBLIOGRAPHIES})
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

    def read(file: Path) -> Iterator[Document | Unreadable]:
        try:
            items = kept.read(file, _read_there) if kept else _read_there(file)
            yield from (bibliography.completed(item) if isinstance(item, Document) else item for item in items)
        except NotReadError as error:
            yield _failure_of(file, error)

    if not path.is_dir():
        bibliography = Bibliography(known)
        yield from read(path)
        return
    entries, texts, problems = read_bibliographies(path, deep=deep)
    bibliography = Bibliography([*entries, *known])
    others: Counter[str] = Counter()
    for file in texts:
        suffix = file.suffix.lower()
        if suffix == ".pdf" and searchable_copy(file) in texts:
            continue
        if suffix not in READERS and suffix not in _JSON_LINES:
            others[suffix or "no extension"] += 1
        elif stays_below(file, path):
            yield from read(file)
        else:
            yield Unreadable(
                f"{_printable(file)} is a link to a file outside the folder, or to a hidden one; it was skipped: "
                "copy that file into the folder if it belongs there."
            )
    yield from problems
    if others:
        kinds = ", ".join(sorted(others))
        yield Unreadable(f"{others.total()} files of other types ({kinds}) were skipped; supported are {READABLE}.")


def read_bibliographies(folder: Path, *, deep: bool = True) -> tuple[list[Entry], dict[Path, None], list[Unreadable]]:
    """Return the entries of a folder's bibliographies, its other files in order, and what was not read."""
    entries: list[Entry] = []
    others: dict[Path, None] = {}
    problems: list[Unreadable] = []
    for file in _files(folder, problems, deep=deep):
        parsed = _bibliography(file) if stays_below(file, folder) else None
        if isinstance(parsed, Unreadable):
            problems.append(parsed)
        elif parsed is None:
            others[file] = None
        else:
            entries += (item for item in parsed if isinstance(item, Entry))
            problems += (Unreadable(f"{_printable(file)}: {item}.") for item in parsed if isinstance(item, str))
    return entries, others, problems


def _files(path: Path, problems: list[Unreadable], *, deep: bool) -> Iterator[Path]:
    def report_error(error: OSError) -> None:
        problems.append(Unreadable(f"{error.filename} cannot be opened; check its permissions."))

    for folder, folders, files in walk(path, onerror=report_error):
        folders[:] = sorted(name for name in folders if deep and not name.startswith("."))
        yield from sorted(Path(folder, name) for name in files if not name.startswith((".", "~$")))


def _bibliography(file: Path) -> tuple[Entry | str, ...] | Unreadable | None:
    """Return the entries of a bibliography and its faults, or why it cannot be read; None for other files."""
    suffix = file.suffix.lower()
    if suffix not in BIBLIOGRAPHIES:
        return None
    try:
        is_small = file.is_file() and (size := size_of(file)) <= _MAX_BIBLIOGRAPHY
        entries = tuple(reading.read(read_entries, str(file.absolute()), size=size)) if is_small else None
    except NotReadError as error:
        return _failure_of(file, error)
    except (OSError, CorpusError):
        entries = None
    if entries is None and suffix != ".json":
        why = f"{_printable(file)} cannot be read as a bibliography; export it again"
        return Unreadable(f"{why}, smaller than {_MAX_BIBLIOGRAPHY:,} bytes.")
    return entries


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


def _failure_of(file: Path, error: NotReadError) -> Unreadable:
    return Unreadable(f"{_printable(file)} {error}; it was skipped: save it anew, or split it.", _printable(file))


def _read_there(file: Path) -> Iterator[Document | Unreadable]:
    """Yield the content of a file, read in the process for foreign files. Raises NotReadError."""
    is_pdf = file.suffix.lower() == ".pdf"
    yield from reading.read(read_file, str(file.absolute()), _printable(file), size=size_of(file), is_pdf=is_pdf)


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
