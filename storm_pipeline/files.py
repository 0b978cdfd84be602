"""Files that are replaced as a whole."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

UNFINISHED = ".unfinished"
"""Ending of the hidden files that an interrupted write may leave behind."""


def write_atomically(path: Path, text: str) -> None:
    """Write UTF-8 text, on the disk before it counts: at any moment the path holds the old or the new file, whole.

    Args:
        path: of the file; its folder must be there.
        text: without lone surrogates; its line ends are kept as they are.

    Raises:
        OSError: the file cannot be written; what it held before is still there.
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
