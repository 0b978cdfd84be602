"""A batch's folder: its topics and their status; locked by one process at a time."""

import json
import math
import re
import shutil
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.interfaces.batch.topics import TopicStatus
from storm_pipeline.run.folder import slug
from storm_pipeline.run.locking import lock_folder, new_folder, read_state
from storm_pipeline.text.files import LARGEST_STATE, write_atomically, write_errors_as
from storm_pipeline.types import is_plausible

FORMAT = 1  # version of the folder's format; incremented when an older reader would misread it
_STATE, _LOCK = "batch.json", "batch.lock"
_ROWS = TypeAdapter(list[TopicStatus])
_json = partial(json.dumps, default=to_jsonable_python, ensure_ascii=False)
_FOLDER_NAME = re.compile(r"(?!\.\.?$)[^/\\\x00-\x1f]{0,255}")  # names of runs' folders, without separators


class BatchStore(AbstractContextManager["BatchStore"]):
    """The folder of a batch. Use it in ``with``. Not thread-safe: callers must serialise changes.

    ``batch.json`` has the format, the settings of the batch, and a row per topic with the folder of its run. It is
    written atomically at every change.
    """

    def __init__(self, folder: Path, state: Mapping[str, Any] | None = None) -> None:
        self.folder = folder
        self._lock = lock_folder(folder, _LOCK)
        try:
            state = state or read_batch(folder)
        except BaseException:
            self._lock.release()
            raise
        self._state = {name: value for name, value in state.items() if name != "topics"}
        self.rows: list[TopicStatus] = list(state["topics"])
        self.settings: dict[str, Any] = self._state["settings"]  # explicit ones, as JSON values
        self.outline: str | None = self._state.get("outline")  # the user's headings of every article, if any
        self.max_cost: float | None = self._state.get("max_cost")  # cap on the dollars of all topics
        self.to: str | None = self._state.get("to")  # where finished articles are copied
        self.repeated: int = self._state["repeated"]  # number of duplicate requests dropped
        self._lines: list[str] = []  # of the file, a row each
        self._closed = self._discarded = False
        self.is_new = False  # whether this object made the folder

    @classmethod
    def create(cls, root: Path, name: str, rows: Sequence[TopicStatus], **facts: Any) -> "BatchStore":
        """Make a new folder ``<name>-<time>`` below ``root``; ``facts``: ``settings``, ``repeated`` and the like.

        Raises RunError: it cannot be made or written; SettingsError: it would be too large to read.
        """
        folder = new_folder(root, f"{slug(name)}-{time.strftime('%Y%m%d-%H%M%S')}", "a batch's folder")
        store = cls(folder, {"format": FORMAT, "created": round(time.time(), 3), **facts, "topics": []})
        store.rows, store.is_new = list(rows), True
        store.save(status="waiting")
        if (folder / _STATE).stat().st_size > LARGEST_STATE // 4:  # rows grow, and the file must remain readable
            store.discard()
            store.close()
            raise SettingsError(f"{len(rows):,} topics are too much for one batch: split the list")
        return store

    @classmethod
    def open(cls, folder: Path) -> "BatchStore":
        """Open the folder of an existing batch.

        Raises RunError: not a batch's folder, damaged, of a newer version, or locked by another process.
        """
        read_batch(folder)  # before it is locked, which would make a file in any folder
        return cls(folder)

    def put(self, row: TopicStatus) -> None:
        """Save the status of a topic. Raises RunError: it cannot be written."""
        if not self._closed:
            self.rows[row.number - 1], self._lines[row.number - 1] = row, _json(row)
            self._write()

    def save(self, **facts: Any) -> None:
        """Write all rows, with totals of the batch. Raises RunError: ``batch.json`` cannot be written."""
        self._state |= facts
        self._lines = [*map(_json, self.rows)]
        self._write()

    def _write(self) -> None:
        rows = ",\n  ".join(self._lines)
        with write_errors_as(RunError, path := self.folder / _STATE, ", then resume"):
            write_atomically(path, f'{_json(self._state)[:-1]},\n "topics": [\n  {rows}\n ]\n}}\n')

    def discard(self) -> None:
        """Delete the folder on closing, if no topic could begin."""
        self._discarded = True

    def close(self) -> None:
        """Release the folder. Idempotent."""
        self._closed = True
        self._lock.release()
        if self._discarded:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __exit__(self, *error: object) -> None:
        self.close()


def is_batch(folder: Path) -> bool:
    """Return whether a folder is a batch's."""
    return (folder / _STATE).is_file()


def read_batch(folder: Path) -> dict[str, Any]:
    """Return the content of ``batch.json``, with ``topics`` as rows.

    Raises RunError: it is missing, damaged, or of a newer version.
    """
    path = folder / _STATE
    required = {"settings": dict, "repeated": int, "topics": list}
    state = read_state(path, FORMAT, required, absent=f"{folder} is not a batch's folder: it has no {_STATE}")
    try:
        rows = _ROWS.validate_python(state["topics"])
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RunError(f"{path} is damaged: topics.{where}: {first['msg'].lower()}") from error
    if [row.number for row in rows] != list(range(1, len(rows) + 1)):
        raise RunError(f"{path} is damaged: its topics are not numbered from 1 on")
    if max(Counter(row.folder for row in rows if row.folder).values(), default=1) > 1:  # each costs time
        raise RunError(f"{path} is damaged: two topics have one folder: restore the file")
    cap = state.get("max_cost")
    if cap is not None and not (isinstance(cap, int | float) and 0 < cap < math.inf):
        raise RunError(f"{path} is damaged: max_cost is not a number above 0: restore the file")
    if not isinstance(state.get("to"), str | None):
        raise RunError(f"{path} is damaged: to is not an address: restore the file")
    for row in rows:
        if not _FOLDER_NAME.fullmatch(row.folder) or not is_plausible(row):  # another folder, or impossible counts
            what = f"the folder or the usage of topic {row.number} cannot be"
            raise RunError(f"{path} is damaged: {what}: restore the file")
    return state | {"topics": rows}
