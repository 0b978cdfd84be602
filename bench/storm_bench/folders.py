"""Names and folders that others may have chosen: none may lead to files elsewhere."""

from collections.abc import Iterable
from pathlib import Path

from storm_pipeline import DatasetError

_LONGEST_NAME = 250  # bytes


def is_file_name(text: str) -> bool:
    """Return whether a text can name a file of a folder: not a hidden one, and none elsewhere."""
    size = len(text.encode("utf-8", "replace"))
    return 0 < size <= _LONGEST_NAME and not text.startswith(".") and "\0" not in text and Path(text).name == text


def require_no_links(paths: Iterable[Path]) -> None:
    """Refuse links, by which files elsewhere would be read or written, and pipes, which would be waited for.

    Raises DatasetError: a path is neither a file nor a folder.
    """
    for path in paths:
        if path.is_symlink() or not (path.is_file() or path.is_dir() or not path.exists()):
            kind = "link" if path.is_symlink() else "pipe or a device"
            raise DatasetError(f"{path} is a {kind}, which cannot be read or written here: delete it, or copy the file")


def without_links(folder: Path) -> Path:
    """Return a folder, ``~`` expanded. Raises DatasetError: it holds a link or a pipe."""
    folder = Path(folder).expanduser()
    if folder.resolve() == folder.resolve().parent:
        raise DatasetError(f"{folder} is the root of a disk: name the folder of the data set")
    require_no_links(folder.rglob("*"))
    return folder


def folder_to_write(folder: Path) -> Path:
    """Return a folder to write to, ``~`` expanded.

    Raises DatasetError: it is a link, or lies below one in the current folder, which another may have made.
    """
    folder = Path(folder).expanduser()
    require_no_links([folder])
    if linked := next((path for path in folder.parents if not path.is_absolute() and path.is_symlink()), None):
        raise DatasetError(f"{linked} is a link: delete it, or give an absolute path with --out or --to")
    return folder
