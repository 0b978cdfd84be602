"""Folders that one process at a time may write to (runs, batches, experiments): creating, locking, reading state."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import BaseFileLock, Timeout

from storm_pipeline.errors import RunError
from storm_pipeline.text.files import LARGEST_STATE, is_plain, locked_file, read_plain, walk
from storm_pipeline.text.words import encodable_values

_MOST_DIGITS = 30  # of a number; Python does not format numbers of more than 4300 digits


def new_folder(root: Path, name: str, what: str) -> Path:
    """Make a folder of this name below ``root``, with a number appended if the name is taken.

    ``what``: noun for error messages, such as ``a run folder``. Raises RunError: it cannot be made, or would lie below
    a link in the current folder, which another may have made.
    """
    if linked := next((p for p in (root, *root.parents) if not root.is_absolute() and p.is_symlink()), None):
        raise RunError(f"{linked} is a link: delete it, or give an absolute path with --out")
    for attempt in range(100):
        folder = root / (name if attempt == 0 else f"{name}-{attempt + 1}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise RunError(f"cannot make {what} in {root}: {error.strerror}; choose another with --out") from error
        return folder
    raise RunError(f"cannot find a free name for {name} in {root}; choose another folder with --out")


def lock_folder(folder: Path, name: str) -> BaseFileLock:
    """Acquire the folder's lock.

    Raises RunError: another process holds it (the cause is a ``Timeout``), the folder cannot be written, the lock file
    has content, or the folder contains a link, a pipe, a device or an unreadable folder, by which a foreign folder
    could reach other files.
    """
    _require_regular_files(_below(folder))
    return _acquire(folder, name)


def is_held(folder: Path, name: str) -> bool:
    """Return whether a process holds the folder's lock; False if that cannot be determined. Makes no lock file."""
    try:
        if not is_plain(folder / name):
            return False
        _acquire(folder, name).release()
    except RunError as error:
        return isinstance(error.__cause__, Timeout)
    return False


def _below(folder: Path) -> Iterator[Path]:
    """Yield the content of a folder at any depth, not following links. Raises RunError: a folder can't be listed."""

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):  # another process may have renamed it
            raise RunError(f"cannot look into {error.filename}: {error.strerror}") from error

    for parent, folders, files in walk(folder, onerror=refuse):
        yield from (Path(parent, name) for name in (*folders, *files))


def _acquire(folder: Path, name: str) -> BaseFileLock:
    try:
        return locked_file(folder / name, timeout=0)
    except Timeout as error:
        raise RunError(f"another process is writing to {folder}: wait for it, or stop it first") from error
    except OSError as error:
        raise RunError(f"cannot write to {folder}: {error.strerror}") from error


def _require_regular_files(paths: Iterable[Path]) -> None:
    for path in paths:
        if path.is_symlink():
            raise RunError(f"{path} is a link, which a folder of runs never has: delete it, or copy the file")
        # checked for existence last: another process may have renamed it
        if not is_plain(path) and not path.is_dir() and path.exists():
            raise RunError(f"{path} is neither a file nor a folder: delete it")


def _number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number has {len(digits):,} digits")
    return int(digits)


def read_state(
    path: Path, newest: int, required: Mapping[str, type] | None = None, *, absent: str, remedy: str = ""
) -> dict[str, Any]:
    """Return the content of a folder's state file.

    Args:
        absent: error message if there is no such file.
        remedy: end of the error message if it is damaged, such as ``; delete it``.

    Raises RunError: it is absent, unreadable, damaged, or of a newer version.
    """
    try:
        text = read_plain(path, LARGEST_STATE).decode("utf-8")
        state = encodable_values(json.loads(text, parse_int=_number))
    except FileNotFoundError as error:
        raise RunError(absent) from error
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is damaged: {error}{remedy}") from error
    if not isinstance(state, dict) or not isinstance(state.get("format"), int):
        raise RunError(f"{path} is damaged: it states no format{remedy}")
    if state["format"] > newest:
        raise RunError(
            f"{path.parent} was made by a newer version (format {state['format']}, this one reads {newest}): "
            "update storm-pipeline"
        )
    if wrong := [name for name, kind in (required or {}).items() if not isinstance(state.get(name), kind)]:
        raise RunError(f"{path} is damaged: {wrong[0]!r} is missing{remedy}")
    return state
