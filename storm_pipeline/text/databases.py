"""Opens SQLite files that may be hostile: nothing in them deletes files, runs code or loops for ever."""

import errno
import sqlite3
import stat
import time
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from storm_pipeline.text.files import LARGEST

_LOCK_TIMEOUT = 30.0
_OPENING = 30.0  # seconds: a schema can be made that takes years to read
_OPS = 100_000  # steps of SQLite between two looks at the clock
LARGEST_DATABASE = 2**30


def open_database(path: Path, schema: str, *, largest: int | None = None) -> sqlite3.Connection:
    """Open an SQLite file of these tables and indexes; a new one gets them, and is the user's. Each statement commits.

    ``largest``: bytes of the file, at most. Raises OSError: it, or a file that SQLite keeps beside it, is a link, a
    folder, a pipe or too large; sqlite3.Error: also, something in it is not of the schema, such as a trigger.
    """
    Path(f"{path}-journal").unlink(missing_ok=True)  # names a file that SQLite deletes; in WAL mode there is none
    for end, most in (("", largest), ("-wal", LARGEST_DATABASE), ("-shm", LARGEST_DATABASE)):
        beside = Path(f"{path}{end}")
        with suppress(FileNotFoundError):  # also one that another connection removes now
            status = beside.lstat()
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "it is a link, a folder, a pipe or a device", str(beside))
            if most and status.st_size > most:
                raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(beside))
    with suppress(FileExistsError):
        path.touch(0o600, exist_ok=False)  # SQLite's would be for all to read
    db = sqlite3.connect(path, timeout=_LOCK_TIMEOUT, isolation_level=None, check_same_thread=False)
    try:
        _make_safe(db, schema)
    except BaseException:
        db.close()
        raise
    return db


def _make_safe(db: sqlite3.Connection, schema: str) -> None:
    db.execute("PRAGMA trusted_schema = OFF")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
    db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    end = time.monotonic() + _OPENING
    db.set_progress_handler(lambda: time.monotonic() > end, _OPS)
    parts = _parts(db)
    db.set_progress_handler(None, 0)
    if foreign := parts - _expected(schema):
        raise sqlite3.DatabaseError(f"it has what this program does not make: {min(foreign)[:100]!r}")
    if not parts:
        with suppress(sqlite3.OperationalError):  # locked: another process does the same
            db.execute("PRAGMA journal_mode = WAL")
        db.executescript(schema)


@cache
def _expected(schema: str) -> set[str]:
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(schema)
        return _parts(made)


def _parts(db: sqlite3.Connection) -> set[str]:
    """Return the tables, indexes, views and triggers, as they were written."""
    rows = db.execute("SELECT CAST(sql AS BLOB) FROM sqlite_master WHERE sql IS NOT NULL")
    return {bytes(sql).decode(errors="replace") for (sql,) in rows}
