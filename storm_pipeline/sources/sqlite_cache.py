"""A cache of JSON values in an SQLite file, safe for threads and processes; errors count as misses."""

import contextlib
import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from storm_pipeline.text.databases import LARGEST_DATABASE, open_database
from storm_pipeline.text.files import locked_file

_log = logging.getLogger(__name__)
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT})
"""Errors of a damaged file, including SQLITE_ERROR, since the statements are fixed."""
_LOCK_TIMEOUT = 30.0
_MOST = 16 * LARGEST_DATABASE  # bytes
_SIZE = """SELECT (page_count - freelist_count) * page_size
    FROM pragma_page_count, pragma_freelist_count, pragma_page_size"""
_FORGET = "DELETE FROM entries WHERE rowid IN (SELECT rowid FROM entries ORDER BY rowid LIMIT 100)"  # the oldest
_TABLE = "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, saved REAL NOT NULL)"
T = TypeVar("T")


class _DamageError(sqlite3.DatabaseError):
    """The file is damaged."""


class SqliteCache:
    """A map from text keys to JSON values in a file, created at first use.

    A file of more than 16 GiB loses its oldest values as others come, so that no caller of a server fills the disk.
    I/O errors, reported once, and values with a wrong checksum count as misses. A damaged file is renamed to
    ``….damaged-<time>`` and replaced. Each operation opens its own connection, so that threads share nothing.
    """

    def __init__(self, path: Path) -> None:
        self._path = Path(path)
        self._problems: list[str] = []
        self._lock = threading.Lock()

    @property
    def problems(self) -> tuple[str, ...]:
        """Damage and failures so far, one sentence each; also logged as warnings."""
        with self._lock:
            return tuple(self._problems)

    def get(self, key: str, max_age_days: float | None = None) -> Any:
        """Return the value of a key; None if missing or older than ``max_age_days``."""
        oldest = float("-inf") if max_age_days is None else time.time() - max_age_days * 86_400
        sql = "SELECT value FROM entries WHERE key = ? AND saved >= ?"
        if not self._path.exists():
            return None
        row = self._run(lambda file: file.execute(sql, (_digest(key), oldest)).fetchone())
        return None if row is None else self._verify(key, row[0])

    def put(self, key: str, value: Any) -> None:
        """Store a JSON-serialisable value, replacing an earlier one."""
        text = json.dumps(value)  # one line of ASCII, so lone surrogates survive
        row = (_digest(key), f"{text}\n{_digest(key + text)}", time.time())

        def insert(file: sqlite3.Connection) -> None:
            if file.execute(_SIZE).fetchone()[0] > _MOST:
                file.execute(_FORGET)
            file.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", row)

        self._run(insert)

    def _verify(self, key: str, stored: Any) -> Any:
        """Return the value of an entry; None if it is damaged."""
        with contextlib.suppress(ValueError, AttributeError, RecursionError):
            text, _, checksum = stored.decode("ascii").partition("\n")
            if checksum == _digest(key + text):
                return json.loads(text)
        self._report(f"an entry of the cache {self._path} is damaged and is not used")
        return None

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return the result of the work; on failure, log a warning and return None."""
        try:
            with contextlib.suppress(_DamageError):
                return self._once(work)
            with locked_file(self._path.with_name(f"{self._path.name}.lock"), timeout=_LOCK_TIMEOUT):
                with contextlib.suppress(_DamageError):  # if another process has replaced the file
                    return self._once(work)
                self._replace()
                return self._once(work)
        except (sqlite3.Error, OSError) as error:
            self._report(f"the cache {self._path} cannot be used ({error}); the run goes on without it")
            return None

    def _once(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with contextlib.closing(open_database(self._path, _TABLE)) as file:
                file.text_factory = bytes
                file.execute("PRAGMA synchronous = NORMAL")
                return work(file)
        except UnicodeDecodeError as error:  # raised by sqlite3 if a message quotes a damaged schema
            raise _DamageError(f"damaged schema: {error}") from error
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF in _DAMAGED:
                raise _DamageError(str(error)) from error
            raise

    def _replace(self) -> None:
        """Move a damaged file aside, so that a new one is made."""
        aside = f"{self._path}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        for suffix in ("-wal", "-shm", ""):
            with contextlib.suppress(FileNotFoundError):
                Path(f"{self._path}{suffix}").replace(aside + suffix)
        self._report(f"the cache {self._path} was damaged and moved to {aside}; a new one was started")

    def _report(self, problem: str) -> None:
        with self._lock:
            new = problem not in self._problems
            if new:
                self._problems.append(problem)
        if new:
            _log.warning("%s", problem)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
