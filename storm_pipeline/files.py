"""Atomic writing of files."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

UNFINISHED = ".unfinished"
"""Suffix of the hidden files that an interrupted write may leave behind."""


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file and sync it to disk; at any moment the path holds either the old or the new file, complete.

    Args:
        path: the file to write; its folder must exist.
        content: bytes, or text without lone surrogates, which is written as UTF-8 with its line ends as they are.

    Raises:
        OSError: the file cannot be written; its old content is unchanged.
    """
    scratch = path.with_name(f".{secrets.token_hex(8)}{UNFINISHED}")
    try:
        data = content.encode("utf-8") if isinstance(content, str) else content
        with scratch.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise
