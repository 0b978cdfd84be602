"""Error handling of commands: one line on standard error, and an exit code."""

import logging
import traceback
import warnings
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import typer

from storm_pipeline.cli.output import tell
from storm_pipeline.configuration.addresses import redacted
from storm_pipeline.errors import DamagedRunError, SettingsError, StoppedError, StormError, unforeseen
from storm_pipeline.run.events import Event, RunStarted, RunStopped
from storm_pipeline.text.formatting import printable

INTERRUPTED = 130


class Guard:
    """A context manager and event sink around a command's work.

    As a sink it records the run's folder, for messages. As a context manager it silences libraries' warnings and logs
    unless ``debug``, and turns an error into one line on standard error and an exit code: 2 for a setting, 130 when
    interrupted, 1 for everything else.
    """

    def __init__(self, *, debug: bool = False) -> None:
        self._debug = debug
        self._silenced = ExitStack()
        self.folder: Path | None = None

    def emit(self, event: Event) -> None:
        """Record the run's folder, as long as there is one."""
        if isinstance(event, RunStarted) and event.folder:
            self.folder = Path(event.folder)
        if isinstance(event, RunStopped) and not event.kept:
            self.folder = None

    def __enter__(self) -> Self:
        if not self._debug:
            self._silenced.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            self._silenced.callback(logging.disable, logging.root.manager.disable)
            logging.disable(logging.ERROR)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._silenced.close()
        if error is None or isinstance(error, typer.Exit):
            return
        code, message = self._exit_code_and_message(error)
        if self._debug:
            tell(redacted("".join(traceback.format_exception(error))), nl=False)
        tell(printable(redacted(message)))
        raise typer.Exit(code) from error

    def _exit_code_and_message(self, error: BaseException) -> tuple[int, str]:
        saved = f"progress is saved in {self.folder}; resume with: storm resume {self.folder}" if self.folder else ""
        match error:
            case KeyboardInterrupt() | StoppedError() | typer.Abort():
                return INTERRUPTED, f"interrupted; {saved}" if saved else "interrupted"
            case SettingsError():
                return 2, f"error: {error}"
            case DamagedRunError():
                return 1, f"error: {error}"
            case StormError():
                return 1, f"error: {error} ({saved})" if saved else f"error: {error}"
            case _:
                remedy = "" if self._debug else "; run again with --debug for the traceback"
                return 1, f"error: {unforeseen(error)}{remedy}"
