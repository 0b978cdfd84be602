"""Progress of a run that is watched and that nobody else shows: on the terminal's standard error, or in a notebook."""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import dspy

from storm_pipeline.progress.display import stderr_console
from storm_pipeline.progress.run_progress import ProgressSink
from storm_pipeline.run.events import EventSink

_display = threading.Lock()
"""Held by the run that shows its progress: two at once would overwrite each other."""


@contextmanager
def with_progress(sinks: Sequence[EventSink], wanted: bool | None) -> Iterator[Sequence[EventSink]]:  # noqa: FBT001
    """Yield the sinks of a run, with one that shows its progress while the block runs.

    Args:
        wanted: whether to show it; None: if there are no sinks, somebody watches, and no DSPy module is the caller,
            such as one that is evaluated. Of several runs at once, the first shows its progress.
    """
    if wanted is None:
        wanted = not sinks and not dspy.settings.caller_modules and _is_watched()
    if not wanted or not _display.acquire(blocking=False):
        yield sinks
        return
    try:
        with ProgressSink() as progress:
            yield (*sinks, progress)
    finally:
        _display.release()


def _is_watched() -> bool:
    """Whether this is a notebook, or the main thread of a program whose standard error is a terminal.

    Other threads of programs are those of servers, or of work side by side.
    """
    if "IPython" in sys.modules and stderr_console().is_jupyter:
        return True
    with suppress(AttributeError, ValueError):  # there is none, or it is closed
        return threading.current_thread() is threading.main_thread() and sys.stderr.isatty()
    return False
