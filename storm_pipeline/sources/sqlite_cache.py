"""A cache of JSON values in an SQLite file, safe for threads and processes; errors count as misses."""

import contextlib
import hashlib
import json
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

_log = logging.getLogger(__name__)
_LOCK_TIMEOUT = 30.0
_TABLE = "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL, saved REAL NOT NULL)"
T = TypeVar("T")


class SqliteCache:
    """A map from text keys to JSON values in a file, created at first use.

    An error of the file, reported once, and a value that is not JSON count as misses. Each operation opens its own
    connection: threads share nothing.
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
        with contextlib.suppress(ValueError, TypeError, RecursionError):
            # entries of earlier versions have a checksum on a second line
            return None if row is None else json.loads(str(row[0]).partition("\n")[0])
        return None

    def put(self, key: str, value: Any) -> None:
        """Store a JSON-serialisable value, replacing an earlier one."""
        row = (_digest(key), json.dumps(value), time.time())  # ASCII, so lone surrogates survive
        self._run(lambda file: file.execute("INSERT OR REPLACE INTO entries VALUES (?, ?, ?)", row))

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return the result of the work; on failure, log a warning and return None."""
        try:
            with self._opened() as file:
                return work(file)
        except (sqlite3.Error, OSError, UnicodeDecodeError) as error:  # the last: sqlite3 quotes a damaged file
            self._report(
                f"the cache {self._path} cannot be used ({error}); the run goes on without it: delete the file if it "
                "is damaged"
            )
            return None

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self._path, timeout=_LOCK_TIMEOUT, isolation_level=None)  # each statement commits
        with contextlib.closing(connection) as file:
            file.execute("PRAGMA synchronous = NORMAL")
            if not file.execute("SELECT 1 FROM sqlite_master WHERE name = 'entries'").fetchone():
                with contextlib.suppress(sqlite3.OperationalError):  # locked: another process does the same
                    file.execute("PRAGMA journal_mode = WAL")
                file.execute(_TABLE)
            yield file

    def _report(self, problem: str) -> None:
        with self._lock:
            new = problem not in self._problems
            if new:
                self._problems.append(problem)
        if new:
            _log.warning("%s", problem)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
