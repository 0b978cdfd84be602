"""Callers' documents: sets of files, which runs search instead of the server's engine."""

import asyncio
import errno
import json
import re
import shutil
import threading
import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from storm_pipeline.errors import ContradictionError, RunError, SettingsError
from storm_pipeline.interfaces.server.callers import Caller
from storm_pipeline.interfaces.server.errors import ConflictError, FullError, TooLargeError, UnknownDocumentsError
from storm_pipeline.sources.documents.document import Document, Unreadable
from storm_pipeline.sources.documents.reader import FORMATS, READERS, read_documents
from storm_pipeline.text.files import is_plain, read_plain, write_atomically

FILE_BYTES, SET_BYTES, SET_FILES, SETS = 50_000_000, 200_000_000, 100, 20
"""Bytes of a file, bytes and files of a set, and sets of a caller, at most."""
ID = "^[0-9a-f]{32}$"
_ENDINGS = "|".join("".join(f"[{c}{c.upper()}]" for c in suffix[1:]) for suffix in sorted(FORMATS))
NAME = rf"^[^/\\.~\s\x00-\x1f\x7f-\x9f][^/\\\x00-\x1f\x7f-\x9f]{{0,119}}\.({_ENDINGS})$"
"""Regular expressions for names of sets and files, for validation of requests."""
_STATE, _PART = ".set.json", ".part-"
_STALE = 3600.0  # seconds after which a partial file belongs to an earlier server
_BEGINNINGS = {".pdf": b"%PDF-", ".docx": b"PK\x03\x04", ".epub": b"PK\x03\x04"}
_DAMAGE = (OSError, ValueError, KeyError, TypeError, RecursionError)  # errors of foreign or damaged sets


@dataclass(frozen=True)
class StoredFile:
    """A file of a set."""

    name: str
    bytes: int  # its size


@dataclass(frozen=True)
class DocumentSet:
    """A set of documents in the form for callers."""

    documents: str  # its name for orders
    created: str  # ISO time (UTC)
    files: tuple[StoredFile, ...]
    runs: tuple[str, ...]  # names of the runs that use it
    caller: str  # name of its caller; empty for the owner of the server


@dataclass
class Upload:
    """An incoming file, used in ``with``; deleted unless committed. Methods block: use a thread."""

    _file: BinaryIO
    _commit: Callable[[], None]
    room: int  # maximum bytes
    size: int = 0  # received bytes

    def write(self, piece: bytes) -> None:
        """Append a piece. Raises TooLargeError, FullError: no room in the file, its set or the disk."""
        self.size += len(piece)
        if self.size > self.room:
            raise TooLargeError(f"a file may have {FILE_BYTES:,} bytes, and a set of documents {SET_BYTES:,} together")
        with _report_full_disk():
            self._file.write(piece)

    def commit(self) -> None:
        """Move the file into its set. Raises ContradictionError, ConflictError: it cannot be read, or set in use."""
        with _report_full_disk():
            self._file.close()
        self._commit()


@dataclass
class DocumentSets:
    """The sets of documents in a server's folder. Thread-safe.

    A set is immutable once a run uses it, for repeatable resumption. It is deleted with its last run, or by its caller.
    ``root``: the folder, made at first use.
    """

    root: Path
    # held for a caller's name while a file of his is read: else he takes the threads of others
    reading: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _arriving: dict[Path, tuple[str, int]] = field(default_factory=dict)  # partial files → set and reserved bytes

    def __post_init__(self) -> None:
        """Delete partial files of earlier servers."""
        for part in self.root.glob(f"*/{_PART}*"):
            with suppress(OSError):
                if time.time() - part.stat().st_mtime > _STALE:
                    part.unlink()

    def create(self, caller: Caller) -> DocumentSet:
        """Make an empty set. Raises ConflictError, FullError: the caller has the maximum, or the disk is full."""
        with self._lock, _report_full_disk():
            if sum(document_set.caller == caller.name for document_set in self._all()) >= SETS:
                raise ConflictError(f"there are {SETS} sets of documents, as many as a caller may have: delete one")
            folder = self.root / uuid4().hex
            folder.mkdir(parents=True)
            try:
                self._save(folder, caller.name, datetime.now(UTC).isoformat(timespec="seconds"), ())
            except OSError:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            return _read(folder)

    def views(self, caller: Caller) -> tuple[DocumentSet, ...]:
        """Return a caller's sets, oldest first."""
        return tuple(sorted((d for d in self._all() if caller.has_access(d.caller)), key=lambda d: d.created))

    def view(self, caller: Caller, name: str) -> DocumentSet:
        """Return a caller's set by name. Raises UnknownDocumentsError: unknown name."""
        if re.fullmatch(ID, name) and not (self.root / name).is_symlink():
            with suppress(*_DAMAGE):
                match = _read(self.root / name)
                if caller.has_access(match.caller):
                    return match
        raise UnknownDocumentsError("there is no set of documents of this name")

    @contextmanager
    def upload(self, caller: Caller, name: str, file: str, announced: int | None) -> Iterator[Upload]:
        """Receive a file into a set, replacing one of the same name. ``announced``: its size, if known.

        Raises:
            UnknownDocumentsError, ConflictError: unknown set, or a run uses it.
            SettingsError: the file's name or format cannot be used.
            TooLargeError, FullError: no room for it.
        """
        file = require_valid_name(file)
        with self._lock:
            folder, room = self.root / name, self._room(caller, name, file)
            if announced is not None and announced > room:
                raise TooLargeError(f"a set of documents has at most {SET_BYTES:,} bytes: there is room for {room:,}")
            part = folder / f"{_PART}{uuid4().hex}{Path(file).suffix}"
            self._arriving[part] = (name, room if announced is None else announced)

        def commit() -> None:
            _require_readable(part, file)
            with self._lock:
                self._require_unused(self.view(caller, name))
                part.replace(folder / file)

        try:
            with _report_full_disk(), part.open("xb") as opened:
                yield Upload(opened, commit, room if announced is None else min(room, announced))
        finally:
            with self._lock:
                del self._arriving[part]
            with suppress(OSError):
                part.unlink(missing_ok=True)

    def delete(self, caller: Caller, name: str, is_running: Callable[[str], bool]) -> None:
        """Delete a set. Raises UnknownDocumentsError, ConflictError: unknown, or used by an active run."""
        with self._lock:
            if any(map(is_running, self.view(caller, name).runs)):
                raise ConflictError("a run that uses the documents waits or is under way: stop it first")
            self._remove(name)

    def use(self, caller: Caller, name: str, run: str) -> None:
        """Record that a run uses a set, which becomes immutable. Errors as for :meth:`path`."""
        with self._lock:
            self.path(caller, name)
            document_set = self.view(caller, name)
            with _report_full_disk():
                self._save(self.root / name, document_set.caller, document_set.created, (*document_set.runs, run))

    def path(self, caller: Caller, name: str) -> Path:
        """Return the folder of a set with files. Raises UnknownDocumentsError, ConflictError: unknown or empty."""
        if not self.view(caller, name).files:
            raise ConflictError("the set of documents is empty: PUT a file to /documents/SET/NAME first")
        return (self.root / name).absolute()

    def forget(self, run: str) -> None:
        """Delete the sets used only by this deleted run. Raises FullError, RunError."""
        with self._lock, _report_full_disk():
            for stored in tuple(self._all()):
                if run in stored.runs and len(stored.runs) == 1:
                    self._remove(stored.documents)
                elif run in stored.runs:
                    rest = tuple(other_run for other_run in stored.runs if other_run != run)
                    self._save(self.root / stored.documents, stored.caller, stored.created, rest)

    def _room(self, caller: Caller, name: str, file: str) -> int:
        """Return the maximum bytes of a file in a set; the lock must be held."""
        document_set = self.view(caller, name)
        self._require_unused(document_set)
        arriving = [size for of, size in self._arriving.values() if of == name]
        kept = [stored.bytes for stored in document_set.files if stored.name != file]
        if len(kept) + len(arriving) >= SET_FILES:
            raise TooLargeError(f"a set of documents has at most {SET_FILES} files")
        return min(FILE_BYTES, SET_BYTES - sum(kept) - sum(arriving))

    def _require_unused(self, document_set: DocumentSet) -> None:
        if document_set.runs:
            raise ConflictError("a run uses these documents, so they stay as they are: make another set")

    def _all(self) -> Iterator[DocumentSet]:
        for folder in sorted(self.root.glob("*/")) if self.root.is_dir() else ():
            if not folder.is_symlink():
                with suppress(*_DAMAGE):
                    yield _read(folder)

    def _remove(self, name: str) -> None:
        try:
            shutil.rmtree(self.root / name)
        except OSError as error:
            raise RunError(f"the documents cannot be deleted: {error.strerror}") from error

    def _save(self, folder: Path, caller: str, created: str, runs: tuple[str, ...]) -> None:
        record = {"caller": caller, "created": created, "runs": runs}
        write_atomically(folder / _STATE, json.dumps(record) + "\n")


def require_valid_name(name: str) -> str:
    """Return the stored name of a file. Raises SettingsError: invalid name, or unsupported format."""
    name = unicodedata.normalize("NFC", name)
    if not re.fullmatch(NAME, name) or len(name.encode("utf-8", "replace")) > 250 or name != Path(name).name:
        raise SettingsError(
            "a file is named by up to 250 bytes without slashes and control characters, and by the ending of a format "
            f"that is read: {', '.join(sorted(FORMATS))}"
        )
    return name


def _require_readable(part: Path, file: str) -> None:
    beginning = _BEGINNINGS.get(suffix := Path(file).suffix.lower(), b"")
    with part.open("rb") as opened:
        if beginning not in opened.read(1024):
            raise ContradictionError(f"{file} was not added: it is not {suffix}, whatever its name says; save it anew")
    items = list(read_documents(part)) if suffix in READERS else []
    unread = [item for item in items if isinstance(item, Unreadable)]
    if unread and not any(isinstance(item, Document) for item in items):
        reason = unread[0].reason.replace(str(part), "it").partition(": ocrmypdf")[0].rstrip(".")
        raise ContradictionError(f"{file} was not added: {reason}")


def _read(folder: Path) -> DocumentSet:
    record = json.loads(read_plain(folder / _STATE, 1 << 20))
    files = [path for path in folder.iterdir() if not path.name.startswith(".") and is_plain(path)]
    stored = tuple(StoredFile(path.name, path.stat().st_size) for path in sorted(files))
    runs = tuple(map(str, record["runs"]))
    return DocumentSet(folder.name, str(record["created"]), stored, runs, str(record["caller"]))


@contextmanager
def _report_full_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FullError("the server's disk is full: try again later, or ask its owner") from error
        raise RunError(f"the documents cannot be saved: {error.strerror}") from error
