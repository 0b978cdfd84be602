"""A cache of JSON values in one SQLite file, for many threads and processes; never the reason for a failure."""

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
_SECONDS_TO_WAIT = 30.0
_TABLE = "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, saved REAL NOT NULL)"
T = TypeVar("T")


class SqliteCache:
    """Keeps JSON values by text keys. What cannot be read or written is only warned of, once, and counts as absent.

    A damaged file is moved aside (``….damaged-<time>``), and a new one begun. Each operation opens the file for
    itself, so that nothing has to be closed and nothing is shared between threads.

    Args:
        path: the file; it and its folder are made when something is first put.
        clock: the time in seconds since 1970.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._path = Path(path)
        self._clock = clock
        self._told = False
        self._lock = threading.Lock()

    def get(self, key: str, max_age_days: float | None = None) -> Any:
        """The value of a key; None where there is none, or it is older than so many days."""
        oldest = float("-inf") if max_age_days is None else self._clock() - max_age_days * 86_400
        sql = "SELECT value FROM entries WHERE key = ? AND saved >= ?"
        if not self._path.exists():
            return None
        row = self._done(lambda file: file.execute(sql, (_digest(key), oldest)).fetchone())
        if row is None:
            return None
        try:
            return json.loads(row[0])
        except (ValueError, TypeError, RecursionError):
            return None

    def put(self, key: str, value: Any) -> None:
        """Keep a value that JSON can hold, in place of an earlier one."""
        row = (_digest(key), json.dumps(value), self._clock())  # ASCII: halves of surrogate pairs survive

        def replace(file: sqlite3.Connection) -> None:
            with file:
                file.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", row)

        self._done(replace)

    def _done(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """The result of the work; None, and a warning, where it could not be done."""
        try:
            try:
                return self._once(work)
            except sqlite3.DatabaseError as error:
                if error.sqlite_errorcode & 0xFF not in _DAMAGED:
                    raise
                self._move_aside()
                return self._once(work)
        except (sqlite3.Error, OSError) as error:
            self._tell(f"the cache {self._path} cannot be used ({error}); the run goes on without it")
            return None

    def _once(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._opened() as file:
            return work(file)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(self._path, timeout=_SECONDS_TO_WAIT)) as file:
            file.execute("PRAGMA synchronous = NORMAL")
            if not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'entries'").fetchone():
                with contextlib.suppress(sqlite3.OperationalError):  # locked: another is doing the same
                    file.execute("PRAGMA journal_mode = WAL")
                with file:
                    file.execute(_TABLE)
            yield file

    def _move_aside(self) -> None:
        """Move the file away if it is damaged still: another process may have been faster."""
        from filelock import FileLock

        with FileLock(f"{self._path}.lock", timeout=_SECONDS_TO_WAIT):
            try:
                self._once(lambda file: file.execute("PRAGMA quick_check(1)").fetchone())
            except sqlite3.DatabaseError:
                aside = f"{self._path}.damaged-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
                for ending in ("-wal", "-shm", ""):
                    with contextlib.suppress(FileNotFoundError):
                        Path(f"{self._path}{ending}").replace(aside + ending)
                _log.warning("the cache %s was damaged and is now %s; a new one was begun", self._path, aside)

    def _tell(self, message: str) -> None:
        with self._lock:
            told, self._told = self._told, True
        if not told:
            _log.warning("%s", message)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
