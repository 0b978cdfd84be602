"""How a command is stopped: the first Ctrl-C or SIGTERM ends it in order, the second at once."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Protocol

import typer

from storm_pipeline.cli.guard import INTERRUPTED


class Stoppable(Protocol):
    """What can be asked to end in order."""

    @property
    def running(self) -> bool: ...  # noqa: D102

    def stop(self) -> None: ...  # noqa: D102


@contextmanager
def stopping(work: Stoppable) -> Iterator[None]:
    """While the block runs, an interruption stops ``work`` in order; one more ends the process.

    Before anything runs that would be lost (while a model is downloaded or loaded), the first one ends the command.
    """

    def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of a signal's handler
        if not work.running:
            raise KeyboardInterrupt
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, _end)
        work.stop()
        typer.echo("finishing what is in flight, then saving; once more ends it now", err=True)

    before = {one: signal.signal(one, handle) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signature of a signal's handler
    end_now()


def end_now() -> None:
    """Leave without waiting for threads, which may wait for a model for minutes."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # its reader has gone
            continue
    os._exit(INTERRUPTED)
