"""The journal of a run: every reply, search and other look-up, saved before the run continues.

A resumed run executes its recipe from the beginning, and repeated requests are served from the journal. So nothing is
paid for twice, and nothing stale is reused: the key of a record is its request (settings, model, prompt, parameters)
and the scope of the call in the run. Unusable records are marked and not served again.
"""

import hashlib
import json
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self

from storm_pipeline.errors import RunError
from storm_pipeline.run.concurrency import within_block
from storm_pipeline.run.replica import current_disk
from storm_pipeline.text.files import read_records, write_errors_as


def fingerprint(*parts: object) -> str:
    """Return the hash of JSON values, 32 hexadecimal digits; the same in every process."""
    text = json.dumps(parts, ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


_REJECTED, _FORGOTTEN = "rejected", "forgotten"
"""Kinds of the records that mark one record, or all of a kind, as unusable."""
UNREAD = "unread"  # kind of the records of replies that were billed and could not be read
_REPLY, _CALL = "reply", "call"
"""Kind of the records of models' replies, and the key of a call's usage in their values."""
_COPIED = "copied"  # kind of the record that marks all records before it as copied from another run
_place: ContextVar[str] = ContextVar("storm_place", default="")


def call_scope(name: str) -> AbstractContextManager[None]:
    """Name the part of a run for a block, such as an interview.

    Concurrent parts may send equal requests, whose replies arrive in any order. The scope assigns each reply to the
    same part when the run is resumed.
    """
    return within_block(_place, f"{_place.get()}/{name}")


def current_scope() -> str:
    """Return the scope of the calling context, see :func:`call_scope`; tasks inherit it."""
    return _place.get()


class Journal:
    """An append-only file of records, each with a kind and a key. Thread-safe.

    A record is one line, ``{"kind", "key", "value", "sum"}``, synced to disk when :meth:`add` returns. A line that
    does not match its checksum ``sum`` is skipped and its number added to :attr:`damaged`; it is never deleted.

    ``path``: the file; None for a journal that keeps nothing. ``read_only``: write nothing, do not create the file.
    ``times``: factor on the maximum number of records.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False, times: int = 1) -> None:
        self._path = path
        self._lock, self._writing = threading.Lock(), threading.Lock()
        self._unwritten: list[bytes] = []  # lines of threads that wait for their turn to write
        self._unused: dict[tuple[str, str], deque[Any]] = defaultdict(deque)
        self._rejected: deque[tuple[str, Mapping[str, str]]] = deque()
        # usage of each call of the run's earlier sessions, oldest first; None if missing.
        # Includes calls whose replies are taken or marked, but not those copied from another run
        self.own_calls: list[Any] = []
        self.is_empty = True  # whether the file held no intact record when it was opened
        self.damaged: tuple[int, ...] = ()
        self._disk, self._is_open = current_disk(), False
        self._failure: RunError | None = None
        if path is None:
            return
        if not read_only:
            self._open(path, times)
        elif path.exists():
            self._read(_lines(path, times))

    def unused(self, kind: str) -> int:
        """Return the number of untaken records of this kind from earlier sessions."""
        with self._lock:
            return sum(len(values) for (kind_, _), values in self._unused.items() if kind_ == kind)

    def take(self, kind: str, key: str) -> Any | None:
        """Take the oldest untaken record of this kind and key; None if there is none. Errors as :meth:`check`."""
        self.check()
        with self._lock:
            values = self._unused.get((kind, key))
            return values.popleft() if values else None

    def earlier(self, kind: str) -> Mapping[str, Sequence[Any]]:
        """Return key → untaken records of this kind from earlier sessions, oldest first."""
        with self._lock:
            return {key: tuple(values) for (kind_, key), values in self._unused.items() if kind_ == kind and values}

    def add(self, kind: str, key: str, value: Any) -> None:
        """Append a record. One thread writes the records of all that wait, since each sync takes milliseconds.

        Raises RunError: the disk is full or read-only, or the folder was deleted.
        """
        if not self._is_open or self._path is None:
            return
        line = _line(kind, key, value)
        with self._lock:
            self._unwritten.append(line)
        with self._writing:
            with self._lock:
                lines, self._unwritten = self._unwritten, []
            try:
                with write_errors_as(RunError, self._path, ", then resume"):
                    if lines:
                        self._disk.append(self._path, b"".join(lines))
            except RunError as error:  # also of the driver's disk
                with self._lock:
                    self._unwritten += [other for other in lines if other is not line]  # for their own threads to try
                self._failure = error
                raise

    def check(self) -> None:
        """Raise RunError if a record could not be added, so that nothing more is bought that would be lost."""
        if self._failure is not None:
            raise RunError(str(self._failure)) from self._failure

    def unparsed(self, kind: str, key: str) -> None:
        """Handle a last record that does not parse: keep it, so that a resumed run behaves in the same way."""

    def reject(self, kind: str, key: str, value: Any) -> None:
        """Mark a record as unusable. :meth:`close` saves the mark, so a killed session leaves the record usable."""
        self._rejected.append((key, {"kind": kind, "value": fingerprint(value)}))

    def forget(self, kind: str, **having: str) -> None:
        """Mark all records of this kind, or those whose values have this item, as unusable.

        Raises RunError: as :meth:`add`.
        """
        self.add(_FORGOTTEN, kind, having)

    def close(self) -> None:
        """Write the marks of rejected records, and close the file. Idempotent."""
        with suppress(RunError):  # on a full disk the records remain and will be rejected again
            while self._rejected:
                self.add(_REJECTED, *self._rejected.popleft())
        self._is_open = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _open(self, path: Path, times: int) -> None:
        try:
            lines = read_records(path, times=times) if path.exists() else [b""]
            self._read(lines)
            self._disk.append(path, b"\n" if lines[-1] else b"", create=True)
            self._is_open = True
        except OSError as error:
            raise RunError(f"cannot open {path}: {error.strerror}; choose another folder with --out") from error

    def _read(self, lines: Sequence[bytes]) -> None:
        damaged = []
        reading = _Records()
        for number, line in enumerate(lines, 1):
            record = _record(line)
            if record:
                self.is_empty = False
                self._apply(reading, *record)
            elif line.strip():
                damaged.append(number)
        self.damaged = tuple(damaged)
        self._unused = reading.left()

    def _apply(self, reading: "_Records", kind: str, key: str, value: Any) -> None:
        """Add a record of an earlier session to the unused ones, or drop the records that it marks."""
        if kind in {_REPLY, UNREAD}:
            self.own_calls.append(value.get(_CALL) if isinstance(value, dict) else None)
        if kind == _REJECTED:
            reading.reject((value["kind"], key), value["value"])
        elif kind == _FORGOTTEN:
            reading.forget(key, value)
        elif kind == _COPIED:
            self.own_calls.clear()
        else:
            reading.add((kind, key), value)


class _Records:
    """Records by kind and key, as a journal is read; each is hashed once, however many marks there are."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str], list[tuple[int, Any]]] = defaultdict(list)
        self._read = 0
        self._places: dict[tuple[str, str], dict[str, list[int]]] = {}
        self._hashed: Counter[tuple[str, str]] = Counter()
        # kind → item, None for all records → number of records that were read before its last mark
        self._forgotten: dict[str, dict[tuple[str, str] | None, int]] = defaultdict(dict)

    def add(self, key: tuple[str, str], value: Any) -> None:
        self._records[key].append((self._read, value))
        self._read += 1

    def reject(self, key: tuple[str, str], hashed: str) -> None:
        """Drop the last record with this hash, if there is one."""
        records, places = self._records[key], self._places.setdefault(key, defaultdict(list))
        for place in range(self._hashed[key], len(records)):
            places[fingerprint(records[place][1])].append(place)
        self._hashed[key] = len(records)
        if places.get(hashed):
            records[places[hashed].pop()] = (-1, None)

    def forget(self, kind: str, having: Mapping[str, str]) -> None:
        """Drop the records of a kind, or those whose values have such an item."""
        self._forgotten[kind][next(iter(having.items()), None)] = self._read

    def left(self) -> dict[tuple[str, str], deque[Any]]:
        """Return the records that were not dropped."""
        return {
            key: deque(value for read, value in records if read >= 0 and not self._is_forgotten(key[0], read, value))
            for key, records in self._records.items()
        }

    def _is_forgotten(self, kind: str, read: int, value: Any) -> bool:
        forgotten = self._forgotten.get(kind, {})
        items = value.items() if forgotten and isinstance(value, dict) else ()
        texts = (item for item in items if isinstance(item[1], str))
        return any(read < forgotten.get(item, 0) for item in (None, *texts))


def copy_records(source: Path, target: Path, *, without: Collection[str]) -> None:
    """Copy a journal except the records of some kinds; damaged lines are skipped.

    Raises RunError: the source cannot be read, or the target cannot be written.
    """
    try:
        records = [record for line in read_records(source) if (record := _record(line))]
        copied = b"".join(_line(*record) for record in records if record[0] not in without)
        target.write_bytes(copied + _line(_COPIED, "", source.parent.name))
    except OSError as error:
        raise RunError(f"cannot copy {source} to {target}: {error.strerror}") from error


def _lines(path: Path, times: int) -> list[bytes]:
    try:
        return read_records(path, times=times)
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error


def _line(kind: str, key: str, value: Any) -> bytes:
    record = {"kind": kind, "key": key, "value": value, "sum": fingerprint(kind, key, value)}
    return json.dumps(record, ensure_ascii=True, default=str).encode("ascii") + b"\n"


def _record(line: bytes) -> tuple[str, str, Any] | None:
    try:
        record = json.loads(line)
        kind, key, value = record["kind"], record["key"], record["value"]
        intact = record["sum"] == fingerprint(kind, key, value)
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    return (kind, key, value) if intact and _is_readable(kind, key, value) else None


def _is_readable(kind: object, key: object, value: object) -> bool:
    """Return whether an intact record has a form known to this version."""
    if not isinstance(kind, str) or not isinstance(key, str):
        return False
    if kind not in {_REJECTED, _FORGOTTEN}:
        return True
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        return False
    return value.keys() == {"kind", "value"} if kind == _REJECTED else len(value) <= 1
