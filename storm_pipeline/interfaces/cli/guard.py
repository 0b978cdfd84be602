"""Ends of commands: one line on standard error and an exit code for errors, graceful stops for interruptions.

The first Ctrl-C, SIGTERM or SIGHUP stops a command gracefully, the second ends it at once.
"""

import _thread
import functools
import inspect
import logging
import os
import shlex
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Protocol, Self

import typer

from storm_pipeline.errors import DamagedRunError, SettingsError, StoppedError, StormError, unforeseen
from storm_pipeline.interfaces.cli.output import tell
from storm_pipeline.run.events import Event, RunStarted, RunStopped
from storm_pipeline.text.configuration.addresses import redact
from storm_pipeline.text.formatting import printable

INTERRUPTED = 130
_Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks, and warnings and logs of libraries.")]
_STOPPING = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)  # no SIGHUP on Windows
)


class Guard:
    """A context manager and event sink around a command's work.

    As a sink it records the run's folder for messages. As a context manager it silences libraries' warnings and logs
    unless ``debug``, and turns an error into one line on standard error and an exit
    code: 2 for a setting, 130 when interrupted, 1 for everything else.
    """

    def __init__(self, *, debug: bool = False, options: Mapping[str, Any] | None = None) -> None:
        self._debug = debug
        self._options = options or {}  # settings from the command's options
        self._silenced = ExitStack()
        self.folder: Path | None = None
        self.copied_to: str | None = None

    def emit(self, event: Event) -> None:
        """Record the run's folder, if it exists."""
        if isinstance(event, RunStarted) and event.folder:
            self.folder = Path(event.folder)
        if isinstance(event, RunStopped) and not event.kept:
            self.folder = None

    @property
    def resume_command(self) -> str:
        """The command that resumes the run, with the options that must be given again."""
        from storm_pipeline.method.saved_settings import as_options

        copy = f"--to {shlex.quote(self.copied_to)}" if self.copied_to else ""
        return " ".join(filter(None, [f"storm resume {self.folder}", as_options(self._options), copy]))

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
            tell(redact("".join(traceback.format_exception(error))), nl=False)
        tell(printable(redact(message)))
        raise typer.Exit(code) from error

    def _exit_code_and_message(self, error: BaseException) -> tuple[int, str]:
        saved = f"progress is saved in {self.folder}; resume with: {self.resume_command}" if self.folder else ""
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


def with_guard(command: Callable[..., None]) -> Callable[..., None]:
    """Add the option ``--debug`` to a command and run it in a :class:`Guard`, its argument ``guard`` if it has one."""
    parameters = dict(inspect.signature(command).parameters)
    takes_guard = parameters.pop("guard", None) is not None

    @functools.wraps(command)
    def run(*, debug: bool = False, **given: Any) -> None:
        with Guard(debug=debug, options=given["ctx"].obj if "ctx" in given else None) as guard:
            command(**given, **({"guard": guard} if takes_guard else {}))

    parameters["debug"] = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_Debug)
    vars(run)["__signature__"] = inspect.Signature(list(parameters.values()))
    run.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
    return run


class Stoppable(Protocol):
    """Work that can be stopped gracefully."""

    @property
    def running(self) -> bool: ...  # noqa: D102

    def stop(self) -> None: ...  # noqa: D102


@contextmanager
def stop_on_interrupt(work: Stoppable) -> Iterator[None]:
    """Stop ``work`` gracefully at the first interruption in the block, and end the process at the second.

    While ``work`` is not ``running`` (a model is downloaded or loaded), the first one ends the command. Signals ignored
    at the start, such as SIGHUP with ``nohup``, stay ignored.
    """
    numbers = [number for number in _STOPPING if signal.getsignal(number) is not signal.SIG_IGN]
    opened = ExitStack()

    def handle(*_: object) -> None:
        if not work.running:
            raise KeyboardInterrupt
        begins, ends = os.pipe()  # the next handler might wait until the main thread wakes
        opened.callback(os.close, ends)
        os.set_blocking(ends, False)
        signal.set_wakeup_fd(ends)
        opened.callback(signal.set_wakeup_fd, -1)
        _thread.start_new_thread(_end_when_told, (begins,))
        for signum in numbers:
            signal.signal(signum, lambda *_: end_now())
        _thread.start_new_thread(work.stop, ())  # it may take a lock that the interrupted code holds
        tell("finishing work in flight and saving; interrupt again to end at once")

    previous = {signum: signal.signal(signum, handle) for signum in numbers}
    try:
        yield
    finally:
        opened.close()
        for signum, handler in previous.items():
            signal.signal(signum, handler)


def _end_when_told(pipe: int) -> None:
    if os.read(pipe, 1):
        end_now()


def end_now() -> None:
    """Exit without waiting for threads, which may be waiting for a model."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # closed pipe
            stream.flush()
    os._exit(INTERRUPTED)
