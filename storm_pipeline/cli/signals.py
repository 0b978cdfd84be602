"""Signal handling: the first Ctrl-C, SIGTERM or SIGHUP stops a command gracefully, the second ends it at once."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from storm_pipeline.cli.guard import INTERRUPTED
from storm_pipeline.cli.output import tell

_STOPPING = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)  # no SIGHUP on Windows
)


class Stoppable(Protocol):
    """Work that can be stopped gracefully."""

    @property
    def running(self) -> bool: ...  # noqa: D102

    def stop(self) -> None: ...  # noqa: D102


@contextmanager
def stopping(work: Stoppable) -> Iterator[None]:
    """While the block runs, the first interruption stops ``work`` gracefully, and the second ends the process.

    While ``work`` is not ``running`` (a model is downloaded or loaded), the first one ends the command. A signal that
    the command was started to ignore, as ``nohup`` does with SIGHUP, stays ignored.
    """
    numbers = [number for number in _STOPPING if signal.getsignal(number) is not signal.SIG_IGN]

    def handle(*_: object) -> None:
        if not work.running:
            raise KeyboardInterrupt
        for signum in numbers:
            signal.signal(signum, lambda *_: end_now())
        work.stop()
        tell("finishing work in flight and saving; interrupt again to end at once")

    previous = {signum: signal.signal(signum, handle) for signum in numbers}
    try:
        yield
    finally:
        for signum, handler in previous.items():
            signal.signal(signum, handler)


def end_now() -> None:
    """Exit without waiting for threads, which may wait for a model for minutes."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # closed pipe
            continue
    os._exit(INTERRUPTED)
