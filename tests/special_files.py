"""What stands where a file is expected, and is none."""

import os
from pathlib import Path

SPECIAL = ("pipe", "/dev/zero", "/dev/null", "folder", "missing", "loop")


def special_file(path: Path, kind: str) -> Path:
    """Make one of :data:`SPECIAL` at a path."""
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "endless":
            path.touch()
            os.truncate(path, 2**40)
        case "loop":
            path.symlink_to(path)
        case "missing":
            pass
        case _:
            path.symlink_to(kind)
    return path
