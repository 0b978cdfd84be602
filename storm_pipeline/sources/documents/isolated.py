"""Reads foreign files in a separate process, within a budget of time and memory, so that no file ends a run."""

import errno
import json
import os
import secrets
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
PAGE_SECONDS = 0.2  # additional processor time per page of a PDF, whose layout takes about 0.05
_PAGES = range(1, 1001)  # maximum pages that add time, of a file with a kilobyte for each
_MOST, _SOON = 4, 2.0  # maximum processes; seconds of waiting for a busy one before another is started
read_for: ContextVar[str] = ContextVar("storm_read_for", default="")
"""Caller for whom files are read; a named caller uses at most one process, so that others are not delayed."""
_LEAST_ANSWERED = 200_000  # minimum limit of an answer, in bytes
_PATIENCE = 4.0 if hasattr(signal, "setitimer") else 1.0  # wall seconds per processor second; Windows has no limit
_ERRORS = {error.__name__: error for error in (CorpusError, DatasetError, MissingExtraError, PageError)}
_START = (
    "import sys; sys.path[:] = sys.argv[2:]; from storm_pipeline.sources.documents.isolated import serve; "
    "serve(int(sys.argv[1]))"
)


class NotReadError(Exception):
    """A file was not read; the message is a predicate about the file."""


class ReadingProcess:
    """A process that reads files one after another; a second one is started if files wait. Thread-safe.

    ``seconds``: processor time per file, > 0, plus a second per megabyte. ``megabytes``: memory in addition to the
    file's size, limited on Linux only; about 200 are always used.
    """

    def __init__(self, seconds: float = 5.0, megabytes: int = 500) -> None:
        self._seconds, self._megabytes = seconds, megabytes
        self._all = [KeptProcess(self._command) for _ in range(_MOST)]
        self._share()

    def _share(self) -> None:
        self._idle, self._spare = self._all[:1], self._all[1:]
        self._returned, self._held = threading.Condition(), Counter[str]()

    def end(self) -> None:
        """End the processes after their current answers; a later file starts another."""
        for process in self._all:
            process.end()

    def forget(self) -> None:
        """Drop the processes without killing them, as a forked process must."""
        for process in self._all:
            process.forget()
        self._share()

    def read(self, read: Callable[..., Iterable[T]], *arguments: object, size: int, is_pdf: bool = False) -> list[T]:
        """Return the values yielded by a function in the process.

        ``read``: a module's function, whose annotation is the type of the values: frozen dataclasses or built-in types.
        ``arguments``: of the function, as JSON, bytes last; paths must be absolute. ``size``: bytes of the file.
        ``is_pdf``: whether :func:`allow_page` may add time per page. Raises NotReadError: the budget was exceeded, or
        the function raised an unforeseen error; StormError: as the function.
        """
        seconds, most_bytes = self._seconds + size / 1e6, self._megabytes * 1_000_000 + size
        data = [argument for argument in arguments if isinstance(argument, bytes)]
        head = (read.__module__, read.__name__, arguments[: -len(data) or None], [*map(len, data)], seconds, most_bytes)
        request = b"".join((json.dumps(head).encode(), b"\n", *data))
        # Lists and objects of JSON take up to 25 times their text, and many small files may expand.
        most_answered = min(most_bytes // 32, _LEAST_ANSWERED + 36 * size) + 4 * size
        talk = partial(_read_answer, request, _line_type(read), most_answered)
        with self._free_process() as process:
            values, error = self._ask(process, talk, seconds, PAGE_SECONDS * len(_PAGES[: size // 1000]) * is_pdf)
            with suppress(EndedError):  # a file may write more than its answer: another process reads the next one
                process.ask(_require_end, _PATIENCE * seconds)
        if not error:
            return values
        kind, text = error[0], error[1][:1000]
        raise _ERRORS[kind](text) if kind in _ERRORS else NotReadError(f"is damaged ({text or kind[:100]})")

    @contextmanager
    def _free_process(self) -> Iterator[KeptProcess]:
        """Yield a process for a file, after waiting for a free one."""
        whose = read_for.get()
        with self._returned:
            while not self._returned.wait_for(
                lambda: self._idle and not (whose and self._held[whose]), _SOON if self._spare else None
            ):
                if not self._idle and self._spare:  # other threads may have waited as long
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

    def _ask(self, process: KeptProcess, talk: Callable[[IO[bytes], IO[bytes]], T], seconds: float, more: float) -> T:
        try:
            return process.ask(talk, self._seconds + _PATIENCE * (seconds + more))
        except EndedError as error:
            if error.code != errno.ENOMEM:
                why = f"takes more than {seconds:.0f} s to read, holds too much, or ends what reads it"
                raise NotReadError(why) from error
            if error.was_new:
                raise NotReadError(f"takes more than {self._megabytes} MB of memory to read") from error
        return self._ask(process, talk, seconds, more)  # with all of the memory: earlier files had used some

    def _command(self) -> list[str]:
        # -P and no empty entry: never import from the current folder
        path = [*filter(None, sys.path), str(Path(storm_pipeline.__file__).parents[1])]
        return [sys.executable, "-P", "-c", _START, str(os.getpid()), *path]


def size_of(file: Path) -> int:
    """Return the size of a regular file in bytes; 0 for anything else."""
    with suppress(OSError, ValueError):
        return file.stat().st_size if file.is_file() else 0
    return 0


@cache
def _line_type(read: Callable[..., object]) -> "TypeAdapter[Any]":
    """Return the type of a line of an answer: a declared value, an error's name and text, or the end."""
    from pydantic import TypeAdapter

    (value,) = get_args(get_type_hints(read)["return"])
    return TypeAdapter(Union[tuple[value], tuple[str, str], tuple[()]])  # type: ignore[valid-type,arg-type]  # noqa: UP007


def _read_answer(
    request: bytes, line_type: "TypeAdapter[Any]", most: int, requests: IO[bytes], answers: IO[bytes]
) -> tuple[list[Any], tuple[str, str] | tuple[()]]:
    """Return the values of an answer of at most ``most`` bytes, and the error that ends it. Raises ValueError."""
    requests.write(request)
    requests.flush()
    values: list[Any] = []
    while True:
        line = answers.readline(most)
        most -= len(line)
        value = line_type.validate_python(json.loads(line))  # pydantic's own parser takes up to 130 times the text
        if len(value) != 1:
            return values, value
        values += value


def _require_end(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Let the process repeat a new word, which no file knows. Raises ValueError: its answer goes on before."""
    word = f'"{secrets.token_hex()}"\n'.encode()
    requests.write(word)
    requests.flush()
    if answers.readline(len(word)) != word:
        raise ValueError("the answer goes on after its end")


def serve(parent: int) -> None:
    """Answer requests in this process until standard input or the parent process ends. ``parent``: its id."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):  # libraries may print to standard output
        os.dup2(nowhere, stream)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    while line := sys.stdin.buffer.readline():
        if line.startswith(b'"'):
            answers.write(line)
        else:
            module, name, arguments, lengths, seconds, most_bytes = json.loads(line)
            _limit_memory(most_bytes)
            _end_after(seconds)
            _answer(getattr(import_module(module), name), arguments, lengths, answers)
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

    def given_fields(value: Any) -> dict[str, Any]:  # without defaults
        return {field.name: part for field in fields(value) if (part := getattr(value, field.name)) != field.default}

    return json.dumps(part, ensure_ascii=False, default=given_fields).encode("utf-8", "replace") + b"\n"


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


def _end_after(seconds: float) -> None:
    """Limit this process's processor time, if the system can; 0: no limit."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def allow_page(number: int, size: int) -> None:
    """Add time for another page if it is limited; ``number``: of the finished page, ``size``: bytes of the file."""
    if number in _PAGES[: size // 1000] and hasattr(signal, "setitimer"):
        left, _ = signal.getitimer(signal.ITIMER_PROF)
        _end_after(left and left + PAGE_SECONDS)


def _limit_memory(most_bytes: int) -> None:
    with suppress(ImportError):  # on Windows
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes if hard < 0 else min(most_bytes, hard), hard))


reading = ReadingProcess()  # the shared process of this interpreter, started for the first file
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=reading.forget)
