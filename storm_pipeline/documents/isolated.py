"""Reads foreign files in one kept process, within a budget of time and memory: no file stops or ends a run."""

import errno
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import is_dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any, TypeVar

from storm_pipeline import errors
from storm_pipeline.child_process import EndedError, KeptProcess

T = TypeVar("T")
PAGE_SECONDS = 0.2
"""Processor time that each page of a PDF adds once it is read; finding the layout of one takes about 0.05 s."""
_PAGES = range(1, 1001)  # the pages that add it
_ITEM, _END = "item", "end"  # parts of an answer; another name is that of the error that ends it
_START = (
    "import sys; sys.path[:] = sys.argv[2:]; from storm_pipeline.documents.isolated import serve; "
    "serve(int(sys.argv[1]))"
)


class NotReadError(Exception):
    """A file was not read; the message is the predicate of a sentence whose subject is the file."""


class ReadingProcess:
    """A process in which files are read, one after the other. Thread-safe.

    Args:
        seconds: processor time for a file, > 0; a second more for each megabyte.
        megabytes: memory beside the file's own bytes, where the system can limit it (Linux); some 200 are always used.
        patience: seconds that may pass for one of processor time, on a busy machine or a slow disk, >= 1; 1 where the
            system does not limit processor time (Windows).
    """

    def __init__(self, seconds: float = 5.0, megabytes: int = 500, patience: float = 4.0) -> None:
        self._seconds, self._megabytes = seconds, megabytes
        self._patience = patience if hasattr(signal, "setitimer") else 1.0
        self._process = KeptProcess(self._command)
        self.end, self.forget = self._process.end, self._process.forget

    def read(self, read: Callable[..., Iterable[T]], *arguments: object, size: int, is_pdf: bool = False) -> list[T]:
        """The values that a function yields, called there.

        Args:
            read: a function of a module, which yields frozen values of this package, or values of Python's own types.
            arguments: of the function; a path must be absolute.
            size: bytes of the file.
            is_pdf: whether :func:`allow_page` may give its pages time.

        Raises:
            NotReadError: the budget did not do, or the function raised what no code foresaw.
            StormError: as the function.
        """
        seconds = self._seconds + size / 1e6
        most_bytes = self._megabytes * 1_000_000 + size
        request = pickle.dumps((read.__module__, read.__name__, arguments, seconds, most_bytes))
        values, kind, text = self._asked(partial(_answered, request), seconds, PAGE_SECONDS * len(_PAGES) * is_pdf)
        if kind == _END:
            return values
        known = getattr(errors, kind, None)
        raise known(text) if known else NotReadError(f"is damaged ({text or kind})")

    def _asked(self, talk: Callable[[IO[bytes], IO[bytes]], T], seconds: float, more: float) -> T:
        try:
            return self._process.ask(talk, self._seconds + self._patience * (seconds + more))
        except EndedError as error:
            if error.code != errno.ENOMEM:
                raise NotReadError(f"takes more than {seconds:.0f} s to read, or ends what reads it") from error
            if error.was_new:
                raise NotReadError(f"takes more than {self._megabytes} MB of memory to read") from error
        return self._asked(talk, seconds, more)  # in all of the memory: other files had left less

    def _command(self) -> list[str]:
        # -P, and no empty entry: no module of the current folder is imported
        path = [*filter(None, sys.path), str(Path(errors.__file__).parents[1])]
        return [sys.executable, "-P", "-c", _START, str(os.getpid()), *path]


def size_of(file: Path) -> int:
    """The bytes of a regular file; 0 for what is none, or cannot be looked at."""
    try:
        return file.stat().st_size if file.is_file() else 0
    except (OSError, ValueError):
        return 0


class _Values(pickle.Unpickler):
    """Reads plain values and frozen ones of this package; what a process says can name no other code."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if module.startswith("storm_pipeline.") else None
        if not isinstance(found, type) or not is_dataclass(found):
            raise pickle.UnpicklingError(f"{module}.{name} is no value")
        return found


def _answered(request: bytes, requests: IO[bytes], answers: IO[bytes]) -> tuple[list[Any], str, str]:
    """The values that are answered, and how the answer ends."""
    requests.write(request)
    requests.flush()
    values: list[Any] = []
    while True:
        kind, value = _Values(answers).load()
        if kind != _ITEM:
            return values, kind, value
        values.append(value)


def serve(parent: int) -> None:
    """Answer requests in this process until standard input ends, or the process that asks. ``parent``: its id."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):  # libraries print what they find
        os.dup2(nowhere, stream)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    with suppress(EOFError):
        while True:
            module, name, arguments, seconds, most_bytes = pickle.load(sys.stdin.buffer)  # noqa: S301 - the parent's own words
            read = getattr(import_module(module), name)
            _limit_memory(most_bytes)
            _end_after(seconds)
            _answer(read, arguments, answers)
            _end_after(0)
            answers.flush()


def _answer(read: Callable[..., Iterable[object]], arguments: tuple[object, ...], answers: IO[bytes]) -> None:
    try:
        for value in read(*arguments):
            pickle.dump((_ITEM, value), answers)
        pickle.dump((_END, ""), answers)
    except MemoryError:
        os._exit(errno.ENOMEM)
    except Exception as error:  # noqa: BLE001 - what libraries raise on damaged files is not declared
        pickle.dump((type(error).__name__, str(error)), answers)


def _end_with(parent: int) -> None:
    """End this process with its parent, even while it reads."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


def _end_after(seconds: float) -> None:
    """Have the system end this process after so much processor time, where it can; 0 for never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def allow_page(number: int) -> None:
    """Give this process the time for another page, if its time is limited; ``number``: of the page that was read."""
    if number in _PAGES and hasattr(signal, "setitimer") and (left := signal.getitimer(signal.ITIMER_PROF)[0]):
        _end_after(left + PAGE_SECONDS)


def _limit_memory(most_bytes: int) -> None:
    with suppress(ImportError):  # on Windows
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes if hard < 0 else min(most_bytes, hard), hard))


reading = ReadingProcess()
"""The process of this interpreter; started where the first file is read."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=reading.forget)
