"""The journal of a run: every reply, search and other look-up, saved before the run goes on.

A resumed run executes its recipe from the beginning, and repeated requests are served from the journal. So nothing is
paid for twice, and nothing stale is reused: the key of a record is its request (settings, model, prompt, parameters)
and the place in the run that made it. Records that turned out to be of no use are marked, and not served again.
"""

import errno
import hashlib
import json
import os
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self

from storm_pipeline.errors import RunError
from storm_pipeline.text.files import cannot_write, read_records


def fingerprint(*parts: object) -> str:
    """Return the hash of JSON values, 32 hexadecimal digits; the same in every process."""
    text = json.dumps(parts, ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


_REJECTED, _FORGOTTEN = "rejected", "forgotten"
"""Kinds of the records that mark one record, or all of a kind, as unusable."""
_REPLY, _CALL = "reply", "call"
"""Kind of the records of models' replies, and the item of their values that says what the call used."""
_COPIED = "copied"  # kind of the record that marks all records before it as copied from another run
_place: ContextVar[str] = ContextVar("storm_place", default="")


@contextmanager
def at_place(name: str) -> Iterator[None]:
    """Name the part of a run that a block belongs to, such as an interview.

    Concurrent parts may send equal requests, whose replies arrive in any order. The place assigns each reply to the
    same part when the run is resumed.
    """
    token = _place.set(f"{_place.get()}/{name}")
    try:
        yield
    finally:
        _place.reset(token)


def current_place() -> str:
    """Return the place of the calling context, see :func:`at_place`; tasks inherit it."""
    return _place.get()


_GONE = object()


class Journal:
    """An append-only file of records, each with a kind and a key. Thread-safe.

    A record is one line, ``{"kind", "key", "value", "sum"}``, synced to disk when :meth:`add` returns. A line that
    does not match its checksum ``sum`` is skipped and its number added to :attr:`damaged`; it is never deleted.

    ``path``: the file; None for a journal that keeps nothing. ``read_only``: write nothing, do not create the file.
    ``times``: how many times as many records as a run's it may hold.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False, times: int = 1) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._unused: dict[tuple[str, str], deque[Any]] = defaultdict(deque)
        self._rejected: deque[tuple[str, Mapping[str, str]]] = deque()
        # what each call that the run itself made in earlier sessions used, oldest first; None where that is missing.
        # Calls whose replies are taken or marked are included, those copied from another run are not
        self.own_calls: list[Any] = []
        self.is_empty = True  # whether the file held no intact record when it was opened
        self.damaged: tuple[int, ...] = ()
        self._descriptor: int | None = None
        if path is None:
            return
        if not read_only:
            self._open(path, times)
        elif path.exists():
            self._read(_lines(path, times))

    def unused(self, kind: str) -> int:
        """Return the number of records of this kind, from earlier sessions, that were not taken yet."""
        with self._lock:
            return sum(len(values) for (kind_, _), values in self._unused.items() if kind_ == kind)

    def take(self, kind: str, key: str) -> Any | None:
        """Take the oldest record of this kind and key that was not taken yet; None if there is none."""
        with self._lock:
            values = self._unused.get((kind, key))
            return values.popleft() if values else None

    def earlier(self, kind: str) -> Mapping[str, Sequence[Any]]:
        """Return key → untaken records of this kind from earlier sessions, oldest first."""
        with self._lock:
            return {key: tuple(values) for (kind_, key), values in self._unused.items() if kind_ == kind and values}

    def add(self, kind: str, key: str, value: Any) -> None:
        """Append a record.

        Raises RunError: it cannot be written: the disk is full or read-only, or the folder was deleted.
        """
        if self._descriptor is None or self._path is None:
            return
        line = _line(kind, key, value)
        with self._lock:
            try:
                if not self._path.exists():
                    raise FileNotFoundError(errno.ENOENT, "it was deleted")
                size = os.fstat(self._descriptor).st_size
                try:
                    _write_all(self._descriptor, line)
                except OSError:
                    os.ftruncate(self._descriptor, size)  # remove the partial line
                    raise
            except OSError as error:
                raise RunError(f"{cannot_write(self._path, error)}, then resume") from error

    def unparsed(self, kind: str, key: str) -> None:
        """Handle a last record that does not parse: keep it, so that a resumed run behaves alike."""

    def reject(self, kind: str, key: str, value: Any) -> None:
        """Mark a record as unusable, at :meth:`close`: later sessions do not get it, but one after a kill does."""
        self._rejected.append((key, {"kind": kind, "value": fingerprint(value)}))

    def forget(self, kind: str, **having: str) -> None:
        """Mark all records of this kind, or those whose values have such items, as unusable.

        Raises RunError: as :meth:`add`.
        """
        self.add(_FORGOTTEN, kind, having)

    def close(self) -> None:
        """Write the marks of rejected records, and close the file. Idempotent."""
        with suppress(RunError):  # on a full disk the records stay, and will be rejected again
            while self._rejected:
                self.add(_REJECTED, *self._rejected.popleft())
        with self._lock:
            descriptor, self._descriptor = self._descriptor, None
            if descriptor is not None:
                os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _open(self, path: Path, times: int) -> None:
        try:
            lines = read_records(path, times=times) if path.exists() else [b""]
            self._read(lines)
            self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            if lines[-1]:
                _write_all(self._descriptor, b"\n")
        except OSError as error:
            raise RunError(f"cannot open {path}: {error.strerror}; choose another folder with --out") from error

    def _read(self, lines: Sequence[bytes]) -> None:
        damaged = []
        found = _Found()
        for number, line in enumerate(lines, 1):
            record = _record(line)
            if record:
                self.is_empty = False
                self._apply(found, *record)
            elif line.strip():
                damaged.append(number)
        self.damaged = tuple(damaged)
        self._unused = found.left()

    def _apply(self, found: "_Found", kind: str, key: str, value: Any) -> None:
        """Add a record of an earlier session to the unused ones, or drop those that it marks."""
        if kind == _REPLY:
            self.own_calls.append(value.get(_CALL) if isinstance(value, dict) else None)
        if kind == _REJECTED:
            found.reject((value["kind"], key), value["value"])
        elif kind == _FORGOTTEN:
            found.forget(key, value)
        elif kind == _COPIED:
            self.own_calls.clear()
        else:
            found.records[kind, key].append(value)


class _Found:
    """Records by kind and key, as a journal is read; each is found once by its hash, however many are rejected."""

    def __init__(self) -> None:
        self.records: dict[tuple[str, str], list[Any]] = defaultdict(list)
        self._places: dict[tuple[str, str], dict[str, list[int]]] = {}
        self._hashed: Counter[tuple[str, str]] = Counter()

    def reject(self, own: tuple[str, str], hashed: str) -> None:
        """Drop the last record with this hash, if there is one."""
        records, places = self.records[own], self._places.setdefault(own, defaultdict(list))
        for place in range(self._hashed[own], len(records)):
            places[fingerprint(records[place])].append(place)
        self._hashed[own] = len(records)
        if places.get(hashed):
            records[places[hashed].pop()] = _GONE

    def forget(self, kind: str, having: Mapping[str, str]) -> None:
        """Drop the records of a kind, or those whose values have such items."""
        for own in [own for own in self.records if own[0] == kind]:
            self.records[own] = [one for one in self.records[own] if one is not _GONE and not _has(one, having)]
            self._places.pop(own, None)
            self._hashed.pop(own, None)

    def left(self) -> dict[tuple[str, str], deque[Any]]:
        """Return the records that were not dropped."""
        return {own: deque(one for one in records if one is not _GONE) for own, records in self.records.items()}


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


def _has(record: Any, items: Mapping[str, str]) -> bool:
    return not items or (isinstance(record, dict) and all(record.get(name) == item for name, item in items.items()))


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
    """Return whether an intact record has the form that this version reads."""
    if not isinstance(kind, str) or not isinstance(key, str):
        return False
    marks = kind in {_REJECTED, _FORGOTTEN}
    if marks and not (isinstance(value, dict) and all(isinstance(item, str) for item in value.values())):
        return False
    return kind != _REJECTED or (isinstance(value, dict) and value.keys() == {"kind", "value"})


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
    os.fsync(descriptor)
