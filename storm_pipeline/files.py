"""Atomic writing of files."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

UNFINISHED = ".unfinished"
"""Suffix of the hidden files that an interrupted write may leave behind."""


def write_atomically(path: Path, text: str) -> None:
    """Write UTF-8 text and sync it to disk; at any moment the path holds either the old or the new file, complete.

    Args:
        path: the file to write; its folder must exist.
        text: without lone surrogates; its line ends are kept as they are.

    Raises:
        OSError: the file cannot be written; its old content is unchanged.
    """
    scratch = path.with_name(f".{secrets.token_hex(8)}{UNFINISHED}")
    try:
        with scratch.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise
