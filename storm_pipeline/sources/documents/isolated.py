"""Reads foreign files in a kept process, within a budget of time and memory: no file stops or ends a run."""

import errno
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import fields
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar, Union, get_args, get_type_hints

import storm_pipeline
from storm_pipeline.errors import CorpusError, DatasetError, MissingExtraError, PageError
from storm_pipeline.run.child_process import EndedError, KeptProcess

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")
PAGE_SECONDS = 0.2
"""Processor time that each page of a PDF adds once it is read; finding the layout of one takes about 0.05 s."""
_PAGES = range(1, 1001)  # the pages that add it
_MOST, _SOON = 4, 2.0  # processes; seconds that a file waits for one that is busy until another is started
read_for: ContextVar[str] = ContextVar("storm_read_for", default="")
"""Caller for whom files are read; one that is named holds at most one process, so that its files delay no others."""
_LEAST_ANSWERED = 200_000  # bytes that the smallest file may hold
_PATIENCE = 4.0 if hasattr(signal, "setitimer") else 1.0  # seconds for one of processor time; Windows has no limit
_ERRORS = {one.__name__: one for one in (CorpusError, DatasetError, MissingExtraError, PageError)}
_START = (
    "import sys; sys.path[:] = sys.argv[2:]; from storm_pipeline.sources.documents.isolated import serve; "
    "serve(int(sys.argv[1]))"
)


class NotReadError(Exception):
    """Error of a file that was not read; the message is a predicate whose subject is the file."""


class ReadingProcess:
    """A process that reads files, one after the other; a second one where one waits for seconds. Thread-safe.

    ``seconds``: processor time for a file, > 0; a second more for each megabyte. ``megabytes``: memory beside the
    file's own bytes, where the system can limit it (Linux); some 200 are always used.
    """

    def __init__(self, seconds: float = 5.0, megabytes: int = 500) -> None:
        self._seconds, self._megabytes = seconds, megabytes
        self._all = [KeptProcess(self._command) for _ in range(_MOST)]
        self._share()

    def _share(self) -> None:
        self._idle, self._spare = self._all[:1], self._all[1:]
        self._returned, self._held = threading.Condition(), Counter[str]()

    def end(self) -> None:
        """End the processes once they have answered; a later file starts another."""
        for one in self._all:
            one.end()

    def forget(self) -> None:
        """Drop the processes without ending them, as a forked process does with its parent's."""
        for one in self._all:
            one.forget()
        self._share()

    def read(self, read: Callable[..., Iterable[T]], *arguments: object, size: int, is_pdf: bool = False) -> list[T]:
        """Return the values that a function yields in the process.

        ``read``: a function of a module, whose annotation says what it yields: frozen values, or Python's own types.
        ``arguments``: of the function, as JSON, bytes last; a path must be absolute. ``size``: bytes of the file.
        ``is_pdf``: whether :func:`allow_page` may give its pages time. Raises NotReadError: the budget was not enough,
        or the function raised what no code foresaw; StormError: as the function.
        """
        seconds, most_bytes = self._seconds + size / 1e6, self._megabytes * 1_000_000 + size
        data = [one for one in arguments if isinstance(one, bytes)]
        head = (read.__module__, read.__name__, arguments[: -len(data) or None], [*map(len, data)], seconds, most_bytes)
        request = b"".join((json.dumps(head).encode(), b"\n", *data))
        # Lists and objects of JSON take up to 25 times their text here, and many small files may unpack.
        most_answered = min(most_bytes // 32, _LEAST_ANSWERED + 36 * size) + 4 * size
        talk = partial(_answered, request, _line_type(read), most_answered)
        with self._taken() as process:
            values, error = self._asked(process, talk, seconds, PAGE_SECONDS * len(_PAGES) * is_pdf)
        if not error:
            return values
        kind, text = error[0], error[1][:1000]
        raise _ERRORS[kind](text) if kind in _ERRORS else NotReadError(f"is damaged ({text or kind[:100]})")

    @contextmanager
    def _taken(self) -> Iterator[KeptProcess]:
        """Yield a process for one file; wait until one is free."""
        whose = read_for.get()
        with self._returned:
            while not self._returned.wait_for(
                lambda: self._idle and not (whose and self._held[whose]), _SOON if self._spare else None
            ):
                if not self._idle:
                    self._idle.append(self._spare.pop())
            process = self._idle.pop()
            self._held[whose] += 1
        try:
            yield process
        finally:
            with self._returned:
                self._held[whose] -= 1
                self._idle.append(process)
                self._returned.notify_all()

    def _asked(self, process: KeptProcess, talk: Callable[[IO[bytes], IO[bytes]], T], seconds: float, more: float) -> T:
        try:
            return process.ask(talk, self._seconds + _PATIENCE * (seconds + more))
        except EndedError as error:
            if error.code != errno.ENOMEM:
                why = f"takes more than {seconds:.0f} s to read, holds too much, or ends what reads it"
                raise NotReadError(why) from error
            if error.was_new:
                raise NotReadError(f"takes more than {self._megabytes} MB of memory to read") from error
        return self._asked(process, talk, seconds, more)  # in all of the memory: other files had left less

    def _command(self) -> list[str]:
        # -P, and no empty entry: no module of the current folder is imported
        path = [*filter(None, sys.path), str(Path(storm_pipeline.__file__).parents[1])]
        return [sys.executable, "-P", "-c", _START, str(os.getpid()), *path]


def size_of(file: Path) -> int:
    """Return the size of a regular file in bytes; 0 for anything else."""
    try:
        return file.stat().st_size if file.is_file() else 0
    except (OSError, ValueError):
        return 0


@cache
def _line_type(read: Callable[..., object]) -> "TypeAdapter[Any]":
    """Return the type of a line of an answer: a value as declared, an error's name and text, or the end."""
    from pydantic import TypeAdapter

    (value,) = get_args(get_type_hints(read)["return"])
    return TypeAdapter(Union[tuple[value], tuple[str, str], tuple[()]])  # type: ignore[valid-type,arg-type]  # noqa: UP007


def _answered(
    request: bytes, line_type: "TypeAdapter[Any]", most: int, requests: IO[bytes], answers: IO[bytes]
) -> tuple[list[Any], tuple[str, str] | tuple[()]]:
    """Return the values of an answer, and the error that ends it, in ``most`` bytes. Raises ValueError."""
    requests.write(request)
    requests.flush()
    values: list[Any] = []
    while True:
        line = answers.readline(most)
        most -= len(line)
        found = line_type.validate_python(json.loads(line))  # pydantic's own parser takes up to 130 times the text
        if len(found) != 1:
            return values, found
        values += found


def serve(parent: int) -> None:
    """Answer requests in this process until standard input or the process that asks ends. ``parent``: its id."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):  # libraries print what they find
        os.dup2(nowhere, stream)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    while line := sys.stdin.buffer.readline():
        module, name, arguments, lengths, seconds, most_bytes = json.loads(line)
        read = getattr(import_module(module), name)
        _limit_memory(most_bytes)
        _end_after(seconds)
        _answer(read, arguments, lengths, answers)
        _end_after(0)
        answers.flush()


def _answer(
    read: Callable[..., Iterable[object]], arguments: list[Any], lengths: list[int], answers: IO[bytes]
) -> None:
    try:
        for value in read(*arguments, *map(sys.stdin.buffer.read, lengths)):
            answers.write(_line((value,)))
        answers.write(_line(()))
    except MemoryError:
        os._exit(errno.ENOMEM)
    except Exception as error:  # noqa: BLE001 - what libraries raise on damaged files is not declared
        answers.write(_line((type(error).__name__, str(error)[:1000])))


def _line(part: tuple[object, ...]) -> bytes:
    """Return a part of an answer as a line of JSON; lone surrogates become question marks."""

    def stated(value: Any) -> dict[str, Any]:  # defaults are left out
        return {one.name: own for one in fields(value) if (own := getattr(value, one.name)) != one.default}

    return json.dumps(part, ensure_ascii=False, default=stated).encode("utf-8", "replace") + b"\n"


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


def _end_after(seconds: float) -> None:
    """Let the system end this process after so many seconds of processor time, where it can; 0: never."""
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


reading = ReadingProcess()  # the process of this interpreter; started where the first file is read
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=reading.forget)
