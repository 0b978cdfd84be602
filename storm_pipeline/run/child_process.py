"""Child processes without the user's keys: to run to completion, or kept for several requests.

A kept process answers one request after another; it is killed and replaced if it takes too long.
"""

import subprocess
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any, TypeVar, cast

from storm_pipeline.text.configuration.variables import child_environment

T = TypeVar("T")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # each thread of a library reserves memory


def run(
    command: Sequence[str], given: bytes = b"", *, seconds: float, folder: str | None = None
) -> "subprocess.CompletedProcess[bytes]":
    """Run a program to completion without a shell; return its output and exit status.

    Args:
        given: its standard input.
        seconds: time limit, > 0.
        folder: its working directory.

    Raises OSError: it cannot be started; subprocess.TimeoutExpired: it takes longer.
    """
    environment = child_environment()
    return subprocess.run(  # noqa: S603 - the caller's own command
        list(command), input=given, capture_output=True, timeout=seconds, check=False, cwd=folder, env=environment
    )


class EndedError(Exception):
    """Error of a process that ended or was killed before it answered.

    Attributes:
        code: its exit status, as :attr:`subprocess.Popen.returncode` has it.
        was_new: whether this was its first request.
    """

    def __init__(self, code: int, *, was_new: bool) -> None:
        super().__init__(f"the process ended ({code})")
        self.code, self.was_new = code, was_new


class KeptProcess:
    """A process that answers requests on its standard input by lines on its standard output. Thread-safe.

    It is started at the first request without keys in its environment, ignores Ctrl-C, and is killed with this object
    or the interpreter. It should exit at the end of its input, which means that this process was killed.

    ``command``: returns the command that starts it.
    """

    def __init__(self, command: Callable[[], Sequence[str]]) -> None:
        self._command = command
        self.forget()

    def forget(self) -> None:
        """Drop the process without killing it, as a forked process must."""
        self._lock = threading.Lock()
        self._running: subprocess.Popen[bytes] | None = None
        self._kill: Any = None

    def ask(self, talk: Callable[[IO[bytes], IO[bytes]], T], seconds: float) -> T:
        """Send a request, one caller after another; return the result of ``talk``.

        ``talk``: writes a request to the first stream and reads the answer from the second one; raises an error if the
        answer is missing or damaged. ``seconds``: time limit of the answer, > 0.

        Raises EndedError: no answer in time, or a damaged one; the next request starts another process.
        """
        with self._lock:
            known = self._running
            process = known if known is not None and known.poll() is None else self._start()
            alarm = threading.Timer(seconds, process.kill)
            alarm.daemon = True
            alarm.start()
            try:
                return talk(cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout))
            except BaseException as error:  # after Ctrl-C too: its next answer would belong to this request
                code = self._end()
                if isinstance(error, Exception):
                    raise EndedError(code, was_new=process is not known) from error
                raise
            finally:
                alarm.cancel()

    def end(self) -> None:
        """Kill the process, if it runs; a later request starts another."""
        with self._lock:
            self._end()

    def _end(self) -> int:
        code = self._kill() if self._kill else None
        self._running = self._kill = None
        return code or 0

    def _start(self) -> "subprocess.Popen[bytes]":
        self._end()
        self._running = process = subprocess.Popen(  # noqa: S603 - the caller's own command
            self._command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=child_environment() | _ONE_THREAD,
            start_new_session=True,  # Ctrl-C is for the run only
        )
        self._kill = weakref.finalize(self, _kill, process)
        return process


def _kill(process: "subprocess.Popen[bytes]") -> int:
    """Kill a process, close its pipes, and return its exit status."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()
    return process.wait()
