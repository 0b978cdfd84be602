"""What a run has bought: every reply, search and page, written down before the run goes on.

A run that is resumed is run again from its beginning, and whatever it would ask for a second time is taken from here.
So nothing is bought twice, and nothing stale is reused: a record is found by the very request that it answered, in
which the settings, the model, the prompt and everything before it take part, and by the place that asked.
"""

import hashlib
import json
import os
import threading
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self

from storm_pipeline.errors import RunError


def fingerprint(*parts: object) -> str:
    """32 hexadecimal digits of what JSON can hold; equal for equal parts, in every process."""
    text = json.dumps(parts, ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


_place: ContextVar[str] = ContextVar("storm_place", default="")


@contextmanager
def at_place(name: str) -> Iterator[None]:
    """Name the part of a run that a block is, such as an interview: parts side by side may ask the very same thing.

    Of two equal requests that are in flight together, chance decides which is answered first. The place says which of
    the answers is whose when the run is resumed.
    """
    token = _place.set(f"{_place.get()}/{name}")
    try:
        yield
    finally:
        _place.reset(token)


def current_place() -> str:
    """Where the caller is, see :func:`at_place`; tasks are where they were started."""
    return _place.get()


class Journal:
    """An append-only file of records, each under a kind and a key. Safe for threads.

    A record is one line, ``{"kind", "key", "value", "sum"}``, on the disk when :meth:`add` returns. A line that is
    torn or damaged does not check against its ``sum``: it is left out, told in :attr:`damaged`, and never deleted.

    Args:
        path: the file; None keeps nothing.
        as_it_is: read what is there and write nothing, not even a file that is absent.
    """

    def __init__(self, path: Path | None, *, as_it_is: bool = False) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[tuple[str, str], deque[Any]] = defaultdict(deque)
        self.damaged: tuple[int, ...] = ()
        self._descriptor: int | None = None
        if path is None:
            return
        if not as_it_is:
            self._open(path)
        elif path.exists():
            self._read(path.read_bytes())

    def left(self, kind: str) -> int:
        """How many records of this kind, of earlier sessions, were not taken yet."""
        with self._lock:
            return sum(len(waiting) for (own, _), waiting in self._known.items() if own == kind)

    def take(self, kind: str, key: str) -> Any | None:
        """The oldest record of this kind and key that was not taken yet; None if there is none."""
        with self._lock:
            waiting = self._known.get((kind, key))
            return waiting.popleft() if waiting else None

    def earlier(self, kind: str) -> Mapping[str, Sequence[Any]]:
        """Key → records of a kind that earlier sessions wrote, oldest first."""
        with self._lock:
            return {key: tuple(waiting) for (own, key), waiting in self._known.items() if own == kind and waiting}

    def add(self, kind: str, key: str, value: Any) -> None:
        """Write a record down.

        Raises:
            RunError: it cannot be written: the disk is full, or the folder has gone.
        """
        if self._descriptor is None:
            return
        line = _line(kind, key, value)
        with self._lock:
            try:
                if not self._path or not self._path.exists():
                    raise FileNotFoundError(2, "it was deleted")
                size = os.fstat(self._descriptor).st_size
                try:
                    _write_whole(self._descriptor, line)
                except OSError:
                    os.ftruncate(self._descriptor, size)  # else the next record would join what was written of this one
                    raise
            except OSError as error:
                raise RunError(
                    f"cannot write {self._path}: {error.strerror}; free some space or restore the folder, then resume"
                ) from error

    def reject(self, kind: str, key: str) -> None:
        """Hear that the last record of this kind and key was of no use; it stays, so that a run is told again alike."""

    def close(self) -> None:
        """Close the file. May be called again."""
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _open(self, path: Path) -> None:
        try:
            text = path.read_bytes() if path.exists() else b""
            self._read(text)
            self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            if text and not text.endswith(b"\n"):
                _write_whole(self._descriptor, b"\n")
        except OSError as error:
            raise RunError(f"cannot open {path}: {error.strerror}; choose another folder with --out") from error

    def _read(self, text: bytes) -> None:
        damaged = []
        for number, line in enumerate(text.splitlines(), 1):
            record = _record(line)
            if record:
                self._known[record[0], record[1]].append(record[2])
            elif line.strip():
                damaged.append(number)
        self.damaged = tuple(damaged)


def copy_records(source: Path, target: Path, *, without: str) -> None:
    """Write a new journal with the records of another one, in their order, but for those of one kind.

    Lines that are torn or damaged are left out.

    Raises:
        RunError: the other one cannot be read, or the new one not be written.
    """
    try:
        records = [record for line in source.read_bytes().splitlines() if (record := _record(line))]
        target.write_bytes(b"".join(_line(*record) for record in records if record[0] != without))
    except OSError as error:
        raise RunError(f"cannot go on from {source.parent}: {error.strerror}") from error


def _line(kind: str, key: str, value: Any) -> bytes:
    checked = fingerprint(kind, key, value)
    record = {"kind": kind, "key": key, "value": value, "sum": checked}
    return json.dumps(record, ensure_ascii=True, default=str).encode("ascii") + b"\n"


def _record(line: bytes) -> tuple[str, str, Any] | None:
    """Kind, key and value of a line; None where it is not whole."""
    try:
        record = json.loads(line)
        kind, key, value = record["kind"], record["key"], record["value"]
        whole = record["sum"] == fingerprint(kind, key, value)
    except (ValueError, RecursionError, KeyError, TypeError):
        return None
    return (kind, key, value) if whole else None


def _write_whole(descriptor: int, data: bytes) -> None:
    """Write all of it and wait until the disk has it."""
    while data:
        data = data[os.write(descriptor, data) :]
    os.fsync(descriptor)
