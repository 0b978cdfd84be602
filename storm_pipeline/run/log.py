"""Events of runs in Python's logging, under the logger ``storm_pipeline``; silent until a program configures it.

A record carries the event and the name of the run's folder as its attributes ``event`` and ``run``.
"""

import logging
import os
from pathlib import Path

from storm_pipeline.errors import RunError
from storm_pipeline.run import events
from storm_pipeline.run.events import Event
from storm_pipeline.run.integrity import EVENTS
from storm_pipeline.run.replica import current_disk
from storm_pipeline.text.configuration.addresses import redact
from storm_pipeline.text.files import write_errors_as

logger = logging.getLogger("storm_pipeline")
logger.addHandler(logging.NullHandler())

_INFO = (events.RunStarted, events.RunFinished, events.StageStarted, events.StageFinished, events.Noted)
_WARNING = (events.Degraded, events.Retried, events.RunStopped)
_LEVELS: dict[type[Event], int] = {
    **dict.fromkeys(_INFO, logging.INFO),
    **dict.fromkeys(_WARNING, logging.WARNING),
    events.Failed: logging.ERROR,
}
"""Levels of events; all others are logged at DEBUG."""


class RedactingFormatter(logging.Formatter):
    """Formatter of records, tracebacks included, that hides passwords and keys."""

    def format(self, record: logging.LogRecord) -> str:
        """Format the record as text without passwords and keys."""
        return redact(super().format(record))


class LoggingSink:
    """Sink that logs the events of a run, each as one line: ``<run>: <event> <field>=<value> …``."""

    def __init__(self, run: str) -> None:
        self._run = run

    def emit(self, event: Event) -> None:
        """Log the event."""
        level = _LEVELS.get(type(event), logging.DEBUG)
        if logger.isEnabledFor(level):
            fields = " ".join(f"{name}={value!r}" for name, value in vars(event).items())
            extra = {"run": self._run, "event": event}
            logger.log(level, "%s: %s %s", self._run, type(event).__name__, fields, extra=extra)


class LogSink:
    """Sink that appends a run's events to its ``events.jsonl``. Raises RunError in :meth:`emit`: the disk is full."""

    def __init__(self, folder: Path) -> None:
        self._path, self._disk = folder / EVENTS, current_disk()
        with write_errors_as(RunError, self._path):
            unterminated = self._path.exists() and _last_byte(self._path) not in (b"", b"\n")
            self._disk.append(self._path, b"\n" if unterminated else b"", create=True, sync=False)

    def emit(self, event: Event) -> None:
        """Append one line."""
        with write_errors_as(RunError, self._path, ", then resume"):
            self._disk.append(self._path, events.json_line(event).encode("utf-8"), create=True, sync=False)


def _last_byte(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
        return file.read(1)
