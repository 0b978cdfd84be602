"""Atomic writing of files, safe reading of untrusted files, and reproducible archives."""

import errno
import io
import os
import secrets
import selectors
import stat
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storm_pipeline.errors import StormError

if TYPE_CHECKING:
    from filelock import BaseFileLock

UNFINISHED = ".unfinished"  # suffix of the hidden files that an interrupted write may leave behind
LARGEST = 2**27  # bytes of a file of a run, at most
_MOST_VALUES = 1_000_000  # lists and objects in it: each takes more memory than characters
_MOST_RECORDS = 100_000  # lines of a journal or of a log of events
LARGEST_STATE = 2**24  # bytes of run.json
_LARGEST_TOML = 256_000
_MOST_PARTS = 2_000_000  # most dots of a line × dots and lines of a file, with which time and memory grow
_PATIENCE = 10.0  # seconds without a byte after which a pipe is given up
_REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free some space"),
    **dict.fromkeys((errno.EACCES, errno.EPERM), "check the folder's permissions"),
    errno.EROFS: "make the disk writable again",
    errno.EIO: "check the disk",
    errno.ENOENT: "restore the folder",
}


def table_beside(module: str) -> dict[str, Any]:
    """Read the data of a module: ``words.toml`` beside ``words.py``. ``module``: its ``__file__``."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))


def read_toml(path: Path) -> dict[str, Any]:
    """Read an untrusted TOML file.

    Raises:
        OSError: it cannot be read, or is too large.
        ValueError, RecursionError: it is not valid TOML; ValueError also: a name has so many parts that parsing would
            take minutes.
    """
    data = read_bounded(path, _LARGEST_TOML)
    dots = [line.count(b".") for line in data.splitlines()]
    if max(dots, default=0) * (sum(dots) + len(dots)) > _MOST_PARTS:
        raise ValueError(f"the dots of a line, times its dots and lines, are more than {_MOST_PARTS:,}")
    return tomllib.loads(data.decode("utf-8-sig"))


def is_plain(path: Path) -> bool:
    """Return whether a path is a regular file, not a link, a pipe or a device."""
    with suppress(OSError):
        return stat.S_ISREG(path.lstat().st_mode)
    return False


def read_plain(path: Path, limit: int = LARGEST, *, times: int = 1) -> bytes:
    """Read a file of an untrusted folder, without following links or reading pipes and devices.

    Raises OSError: it cannot be read, is not a regular file, is larger than ``limit`` bytes, or as JSON has more values
    than ``times`` the maximum of a run.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a link, which a folder of runs never has", str(path))
    if path.is_fifo():
        raise OSError(errno.EINVAL, "it is a pipe, which a folder of runs never has", str(path))
    return read_json(path, limit, times=times)


def read_records(path: Path, *, times: int = 1) -> list[bytes]:
    """Read the lines of a journal or event log as :func:`read_plain`. Raises OSError: also for too many lines."""
    data = read_plain(path, times=times)
    require_few(path, lines=data.count(b"\n"), times=times)
    return data.split(b"\n")


def read_json(path: Path, limit: int = LARGEST, *, times: int = 1) -> bytes:
    """Read a file of JSON as :func:`read_bounded` does. Raises OSError: also for too many values."""
    data = read_bounded(path, limit)
    require_few(path, values=values_of(data), times=times)
    return data


def values_of(data: bytes) -> int:
    """Return the number of lists and objects that JSON may have."""
    return data.count(b"{") + data.count(b"[")


def require_few(path: Path, *, lines: int = 0, values: int = 0, times: int = 1) -> None:
    """Raise OSError if a file has more lines, or lists and objects, than ``times`` the maximum of a run."""
    for number, most, what in ((lines, _MOST_RECORDS, "lines"), (values, _MOST_VALUES, "lists and objects")):
        if number > times * most:
            raise OSError(errno.EFBIG, f"it has more than {times * most:,} {what}", str(path))


def read_bounded(path: Path, limit: int) -> bytes:
    """Read a file of at most ``limit`` bytes, or a pipe that another program writes to.

    Raises OSError: it is unreadable, a folder, a device or larger, or the pipe is silent; ValueError: a bad path.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(path, "rb", buffering=0, opener=lambda name, _: os.open(name, flags)) as file:
        facts = os.fstat(file.fileno())
        if not (stat.S_ISREG(facts.st_mode) or stat.S_ISFIFO(facts.st_mode)):
            raise OSError(errno.EINVAL, "it is neither a file nor a pipe", str(path))
        data = bytearray()
        while max(len(data), facts.st_size) <= limit and (piece := _next_piece(file, path)):
            data += piece
        if max(len(data), facts.st_size) > limit:
            raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes", str(path))
        return bytes(data)


def _next_piece(file: io.FileIO, path: Path) -> bytes:
    """Read the next bytes; empty at the end of the file, or if a pipe has no writer."""
    end = time.monotonic() + _PATIENCE
    while (piece := file.read(1 << 16)) is None:  # of a pipe
        with selectors.DefaultSelector() as waiting:  # select() takes no file beyond the first 1,024 of a process
            waiting.register(file, selectors.EVENT_READ)
            if not waiting.select(max(end - time.monotonic(), 0)):
                raise TimeoutError(errno.ETIMEDOUT, f"nothing came within {_PATIENCE:g} s", str(path))
    return piece


def walk(
    folder: Path, onerror: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield as ``os.walk``. Raises StormError: the folders are nested too deeply for it."""
    try:
        yield from os.walk(folder, onerror=onerror)
    except RecursionError as error:
        raise StormError(f"{folder} has folders nested too deeply: move or delete the innermost ones") from error


def cannot_write(path: Path, error: OSError) -> str:
    """Return the message for a file that cannot be written, with the reason and a remedy."""
    remedy = _REMEDIES.get(error.errno or 0, "see that the folder can be written")
    return f"cannot write {path}: {error.strerror or error}; {remedy}"


@contextmanager
def write_errors_as(kind: Callable[[str], StormError], path: Path, advice: str = "") -> Iterator[None]:
    """Raise an error of a kind if the block cannot write a file; ``advice``: the end of the error's message."""
    try:
        yield
    except OSError as error:
        raise kind(cannot_write(path, error) + advice) from error


def write_atomically(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file and sync it to disk; at any moment the path holds either the old or the new file, complete.

    ``content``: bytes, or text without lone surrogates; ``private``: whether only the user may read it.
    Raises OSError: the file cannot be written; its old content is unchanged.
    """
    scratch = path.with_name(f".{secrets.token_hex(8)}{UNFINISHED}")
    try:
        data = content.encode("utf-8") if isinstance(content, str) else content
        scratch.touch(0o600 if private else 0o666, exist_ok=False)
        with scratch.open("r+b") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise


def locked_file(path: Path, timeout: float = -1) -> "BaseFileLock":
    """Acquire the lock whose file is at a path; the file is made if there is none.

    A file with content is refused, since locking would empty it. ``timeout``: seconds; below 0 without limit. Raises
    filelock.Timeout: another process holds it; OSError: the file is a link, has content, or cannot be made.
    """
    from filelock import FileLock

    with suppress(FileNotFoundError):  # also one that its holder removes now
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.ELOOP, f"{path.name} is a link or no file, which a lock never is: delete it", str(path))
        if status.st_size:
            raise OSError(errno.EEXIST, f"{path.name} holds something, which a lock never does: delete it", str(path))
    lock = FileLock(path, mode=0o600, is_singleton=False, thread_local=False)  # who can open a lock can hold it
    lock.acquire(timeout=timeout)
    return lock


def zip_files(members: Iterable[tuple[str, bytes]]) -> bytes:
    """Make an archive of files in their order, all dated 1980-01-01."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in members:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return made.getvalue()
