"""A cache of JSON values in one SQLite file, safe for threads and processes; its errors never fail the caller."""

import contextlib
import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

_log = logging.getLogger(__name__)
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_LOCK_TIMEOUT = 30.0
_TABLE = "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, saved REAL NOT NULL)"
T = TypeVar("T")


class SqliteCache:
    """Maps text keys to JSON values. An I/O error is logged once and counts as a miss.

    A damaged file is moved aside (``….damaged-<time>``) and replaced by a new one. Each operation opens its own
    connection, so that nothing has to be closed and nothing is shared between threads.

    Args:
        path: the file; it and its folder are created at the first use.
        clock: the time in seconds since 1970.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._path = Path(path)
        self._clock = clock
        self._warned = False
        self._lock = threading.Lock()

    def get(self, key: str, max_age_days: float | None = None) -> Any:
        """The value of a key; None if there is none or it is older than ``max_age_days``."""
        oldest = float("-inf") if max_age_days is None else self._clock() - max_age_days * 86_400
        sql = "SELECT value FROM entries WHERE key = ? AND saved >= ?"
        if not self._path.exists():
            return None
        row = self._run(lambda file: file.execute(sql, (_digest(key), oldest)).fetchone())
        if row is None:
            return None
        try:
            return json.loads(row[0])
        except (ValueError, TypeError, RecursionError):
            return None

    def put(self, key: str, value: Any) -> None:
        """Store a JSON-serialisable value, replacing an earlier one."""
        row = (_digest(key), json.dumps(value), self._clock())  # ASCII, so lone surrogates survive

        def replace(file: sqlite3.Connection) -> None:
            with file:
                file.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", row)

        self._run(replace)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """The result of the work; None and a warning if it fails."""
        try:
            try:
                return self._once(work)
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode & 0xFF not in _DAMAGED:
                    raise
                self._move_aside()
                return self._once(work)
        except (sqlite3.Error, OSError) as error:
            self._warn(f"the cache {self._path} cannot be used ({error}); the run goes on without it")
            return None

    def _once(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._opened() as file:
            return work(file)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(self._path, timeout=_LOCK_TIMEOUT)) as file:
            file.execute("PRAGMA synchronous = NORMAL")
            if not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'entries'").fetchone():
                with contextlib.suppress(sqlite3.OperationalError):  # locked: another process is doing the same
                    file.execute("PRAGMA journal_mode = WAL")
                with file:
                    file.execute(_TABLE)
            yield file

    def _move_aside(self) -> None:
        """Move the file away if it is still damaged; another process may have done so already."""
        from filelock import FileLock

        with FileLock(f"{self._path}.lock", timeout=_LOCK_TIMEOUT):
            try:
                self._once(lambda file: file.execute("PRAGMA quick_check(1)").fetchone())
            except sqlite3.DatabaseError:
                aside = f"{self._path}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
                for suffix in ("-wal", "-shm", ""):
                    with contextlib.suppress(FileNotFoundError):
                        Path(f"{self._path}{suffix}").replace(aside + suffix)
                _log.warning("the cache %s was damaged and moved to %s; a new one was started", self._path, aside)

    def _warn(self, message: str) -> None:
        with self._lock:
            warned, self._warned = self._warned, True
        if not warned:
            _log.warning("%s", message)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
