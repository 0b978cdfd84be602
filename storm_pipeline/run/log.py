"""Events of runs in Python's own logging, under the logger ``storm_pipeline``; silent until a program configures it.

A record carries the event and the name of the run's folder as its attributes ``event`` and ``run``.
"""

import logging

from storm_pipeline.configuration.addresses import redacted
from storm_pipeline.run.events import (
    Degraded,
    Event,
    Failed,
    Noted,
    Retried,
    RunFinished,
    RunStarted,
    RunStopped,
    StageFinished,
    StageStarted,
)

logger = logging.getLogger("storm_pipeline")
logger.addHandler(logging.NullHandler())

_LEVELS: dict[type[Event], int] = {
    Failed: logging.ERROR,
    Degraded: logging.WARNING,
    Retried: logging.WARNING,
    RunStopped: logging.WARNING,
    RunStarted: logging.INFO,
    RunFinished: logging.INFO,
    StageStarted: logging.INFO,
    StageFinished: logging.INFO,
    Noted: logging.INFO,
}
"""Levels of events; all others are logged at DEBUG."""


class RedactingFormatter(logging.Formatter):
    """Formats records, tracebacks included, without passwords and keys."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as text."""
        return redacted(super().format(record))


class LoggingSink:
    """Logs the events of a run, each as one line: ``<run>: <event> <field>=<value> …``.

    Args:
        run: name of the run's folder.
    """

    def __init__(self, run: str) -> None:
        self._run = run

    def emit(self, event: Event) -> None:
        """Log the event."""
        level = _LEVELS.get(type(event), logging.DEBUG)
        if logger.isEnabledFor(level):
            fields = " ".join(f"{name}={value!r}" for name, value in vars(event).items())
            extra = {"run": self._run, "event": event}
            logger.log(level, "%s: %s %s", self._run, type(event).__name__, fields, extra=extra)
