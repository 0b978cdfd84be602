"""Folders that one process at a time works in (runs, batches, experiments): making, holding and reading them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from storm_pipeline.errors import RunError


def new_folder(root: Path, name: str, what: str) -> Path:
    """Make a folder of this name below ``root``, with a number behind it where there is one already.

    Args:
        root: made if need be.
        name: of the folder.
        what: it is, for messages, such as ``a run folder``.

    Raises:
        RunError: it cannot be made.
    """
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


def locked(folder: Path, name: str) -> FileLock:
    """The folder's lock, held.

    Raises:
        RunError: another process holds it (the cause is a ``Timeout``), or the folder cannot be written.
    """
    lock = FileLock(folder / name, is_singleton=False)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise RunError(f"another process is writing to {folder}: wait for it, or stop it first") from error
    except OSError as error:
        raise RunError(f"cannot write to {folder}: {error.strerror}") from error
    return lock


def read_state(
    path: Path, newest: int, wanted: Mapping[str, type] | None = None, *, absent: str, remedy: str = ""
) -> dict[str, Any]:
    """What a folder's state file says.

    Args:
        path: the file.
        newest: format that this version reads.
        wanted: names that must be there, with their types.
        absent: said where there is no such file.
        remedy: said where it is damaged, such as ``; delete it``.

    Raises:
        RunError: it is absent, cannot be read, is damaged, or belongs to a newer version.
    """
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RunError(absent) from error
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is damaged: {error}{remedy}") from error
    if not isinstance(state, dict) or not isinstance(state.get("format"), int):
        raise RunError(f"{path} is damaged: it does not say which format it has{remedy}")
    if state["format"] > newest:
        raise RunError(
            f"{path.parent} was made by a newer version (format {state['format']}, this one reads {newest}): "
            "update storm-pipeline"
        )
    if wrong := [name for name, kind in (wanted or {}).items() if not isinstance(state.get(name), kind)]:
        raise RunError(f"{path} is damaged: {wrong[0]!r} is missing{remedy}")
    return state
