"""A server's records of its runs, kept in the user's own folder, as the folder of runs may be somebody else's."""

import hashlib
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.text.configuration.variables import server_data
from storm_pipeline.text.files import write_atomically, write_errors_as


def records_folder(out: Path) -> Path:
    """Make and return the folder of the records of the servers of a folder of runs, for the user alone.

    It has the tokens, budgets and documents of callers, and the records of runs. Raises SettingsError: it cannot be
    made.
    """
    folder = server_data() / hashlib.sha256(os.fsencode(out.resolve())).hexdigest()[:32]
    with write_errors_as(SettingsError, folder):
        folder.mkdir(0o700, parents=True, exist_ok=True)
    return folder


class RunRecord(BaseModel, frozen=True, extra="forbid", strict=True):
    """The record of a run; without one, it is the owner's."""

    caller: str = ""  # name of its caller's token; empty for the owner
    documents: str | None = None  # name of the set of documents that it searches
    shared: str = ""  # hash of the key of its read-only link; empty without one
    services: dict[str, Any] = {}  # models and engines that its caller chose


class RunRecords:
    """The records of the runs in a folder, a file for each. Thread-safe."""

    def __init__(self, out: Path) -> None:
        self._folder = records_folder(out) / "runs"
        self._lock, self._finding = threading.Lock(), threading.Lock()
        self._shared, self._read_at = dict[str, str](), -1

    def get(self, run: str) -> RunRecord:
        """Return the record of a run; that of the owner's runs if there is none, or it is damaged."""
        with suppress(RunError):
            return self._read(run)
        return RunRecord()

    def has(self, run: str) -> bool:
        """Return whether a server recorded a run; another may be anybody's."""
        return os.path.isfile(self._path(run))  # noqa: PTH113 - a name may be too long for a record

    def shared(self, key: str) -> str:
        """Return the name of the run whose link has a key of this hash; empty if none has.

        The records are read where the folder changed, not for each of the keys that anybody may try.
        """
        with self._finding, suppress(OSError):
            if (changed := self._folder.stat().st_mtime_ns) != self._read_at:
                self._read_at = changed  # before reading, so that later changes are seen
                self._shared = {self.get(path.stem).shared: path.stem for path in self._folder.glob("*.json")}
        name = self._shared.get(key, "")
        return name if name and self.get(name).shared == key else ""

    def put(self, run: str, record: RunRecord) -> None:
        """Save the record of a new run. Raises RunError: it cannot be written."""
        path = self._path(run)
        with write_errors_as(RunError, path):
            self._folder.mkdir(0o700, exist_ok=True)
            write_atomically(path, record.model_dump_json() + "\n", private=True)
            self._read_at = -1  # the clock of files may not have moved on

    def update(self, run: str, **fields: Any) -> None:
        """Change fields of a record. Raises RunError: it is damaged, and stays as it is, or cannot be written."""
        with self._lock:
            self.put(run, self._read(run).model_copy(update=fields))

    def delete(self, run: str) -> None:
        """Delete the record of a run; no effect if there is none. Raises OSError: it cannot be deleted."""
        if self.has(run):
            self._path(run).unlink(missing_ok=True)

    def _path(self, run: str) -> Path:
        return self._folder / f"{run}.json"

    def _read(self, run: str) -> RunRecord:
        try:
            return RunRecord.model_validate_json(self._path(run).read_bytes())
        except FileNotFoundError:
            return RunRecord()
        except (OSError, ValueError) as error:
            raise RunError(f"the record of the run, {self._path(run)}, cannot be read: restore or delete it") from error
