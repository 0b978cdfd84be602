"""Atomic writing of files, reading of files that may be anything, and archives that are the same when made anew."""

import errno
import io
import os
import secrets
import select
import stat
import time
import tomllib
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

UNFINISHED = ".unfinished"
"""Suffix of the hidden files that an interrupted write may leave behind."""
LARGEST = 2**30
"""Bytes of a file of a run, at most."""
_LARGEST_TOML, _MOST_DOTS = 256_000, 1000  # time and memory grow by the square of a name's parts
_PATIENCE = 10.0
"""Seconds without a byte after which a pipe is given up."""
_REMEDIES = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.EROFS: "make the disk writable again",
    errno.EIO: "check the disk",
    errno.EACCES: "check the folder's permissions",
    errno.EPERM: "check the folder's permissions",
    errno.ENOENT: "restore the folder",
}


def table_beside(module: str) -> dict[str, Any]:
    """The data of a module: what ``words.toml`` holds, beside ``words.py``. ``module``: its ``__file__``."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file that may be another's.

    Raises:
        OSError: it cannot be read, or is too large.
        ValueError, RecursionError: it is not valid TOML; ValueError also: a line has so many parts of a name that
            Python would read it for minutes.
    """
    data = read_bounded(path, _LARGEST_TOML)
    if any(line.count(b".") > _MOST_DOTS for line in data.splitlines()):
        raise ValueError(f"a line has more than {_MOST_DOTS:,} full stops")
    return tomllib.loads(data.decode("utf-8-sig"))


def is_plain(path: Path) -> bool:
    """Whether a path is that of a file, not of a link, a pipe or a device."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def read_plain(path: Path, limit: int = LARGEST) -> bytes:
    """Content of a file of a folder that may be another's: no link is followed, no pipe and no device is read.

    Raises OSError: it cannot be read, is no plain file, or is larger than ``limit`` bytes.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a link, which a folder of runs never has", str(path))
    if path.is_fifo():
        raise OSError(errno.EINVAL, "it is a pipe, which a folder of runs never has", str(path))
    return read_bounded(path, limit)


def read_bounded(path: Path, limit: int) -> bytes:
    """Content of a file of at most ``limit`` bytes, or of a pipe that another program writes to.

    Raises:
        OSError: it cannot be read; it is a folder, a device or the like; it is larger; or nothing comes from the pipe.
        ValueError: the path is not valid.
    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        facts = os.fstat(descriptor)
        mode = facts.st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise OSError(errno.EINVAL, "it is neither a file nor a pipe", str(path))
        data = bytearray()
        while facts.st_size <= limit and (piece := _next_piece(descriptor, path, is_pipe=stat.S_ISFIFO(mode))):
            data += piece
            if len(data) > limit:
                break
        if max(len(data), facts.st_size) > limit:
            raise OSError(errno.EFBIG, f"it has more than {limit:,} bytes", str(path))
        return bytes(data)
    finally:
        os.close(descriptor)


def _next_piece(descriptor: int, path: Path, *, is_pipe: bool) -> bytes:
    """What comes next; empty at the end, which a pipe without a writer has reached."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return os.read(descriptor, 1 << 16)
        except BlockingIOError:
            left = end - time.monotonic()
            if not is_pipe or not select.select([descriptor], [], [], max(left, 0))[0]:
                raise TimeoutError(errno.ETIMEDOUT, f"nothing came within {_PATIENCE:g} s", str(path)) from None


def cannot_write(path: Path, error: OSError) -> str:
    """The message that a file cannot be written, why, and what helps; the caller says what to do then."""
    remedy = _REMEDIES.get(error.errno or 0, "see that the folder can be written")
    return f"cannot write {path}: {error.strerror or error}; {remedy}"


def write_atomically(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file and sync it to disk; at any moment the path holds either the old or the new file, complete.

    ``content``: bytes, or text without lone surrogates, which is written as UTF-8 with its line ends as they are.
    ``private``: whether only the user may read it.
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


def zipped(members: Iterable[tuple[str, bytes]]) -> bytes:
    """An archive of files in their order, all dated 1980-01-01."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in members:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    return made.getvalue()
