"""The log of a run's events, ``events.jsonl`` in its folder."""

import os
from pathlib import Path

from storm_pipeline.errors import RunError
from storm_pipeline.files import cannot_write
from storm_pipeline.run.events import Event, JsonLinesSink
from storm_pipeline.run.integrity import EVENTS


class LogSink:
    """Appends a run's events to its ``events.jsonl``.

    Raises:
        RunError: from :meth:`emit`, when the disk is full.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / EVENTS
        try:
            unterminated = self._path.exists() and _last_byte(self._path) not in (b"", b"\n")
            self._file = self._path.open("a", encoding="utf-8")
            if unterminated:
                self._file.write("\n")
        except OSError as error:
            raise RunError(f"cannot open {self._path}: {error.strerror}") from error
        self._lines = JsonLinesSink(self._file)

    def emit(self, event: Event) -> None:
        """Write and flush one line."""
        try:
            self._lines.emit(event)
        except OSError as error:
            raise RunError(f"{cannot_write(self._path, error)}, then resume") from error

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError:  # emit has raised it already
            return


def _last_byte(path: Path) -> bytes:
    """The last byte of a file; empty if the file is."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        return file.read(1)
