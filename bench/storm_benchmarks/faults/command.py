"""The command ``storm`` in a separate process, which can be killed or limited in disk space.

The process is forked from one with the imports done, so that kills can be timed within a run. It uses a hashing
embedder and looks up no encyclopedia; everything else is the installed command.
"""

import ctypes
import multiprocessing
import os
import resource
import signal
import sys
import time
from dataclasses import dataclass
from functools import cache
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

_STREAMS = ("out", "err")
_LOADED = (
    *("bm25s", "click", "dspy", "dspy.clients.execution", "faiss", "httpcore", "jinja2", "openai", "requests"),
    *("storm_pipeline.interfaces.cli", "storm_pipeline.interfaces.progress", "storm_pipeline.models.transport"),
    *("storm_pipeline.storm", "wikipediaapi"),
)  # modules preloaded into every process
_CAPABILITY_VERSION = 0x20080522


@dataclass(frozen=True)
class Ended:
    """Result of a command: exit code (negative: the signal), standard output and error, seconds."""

    code: int
    out: str
    err: str
    seconds: float


class Command:
    """A running ``storm`` process.

    Args:
        quota: maximum file size in bytes; None for no limit.
        obeys_modes: whether root drops the capabilities that bypass file permissions.
    """

    def __init__(
        self, arguments: list[str], output: Path, *, quota: int | None = None, obeys_modes: bool = False
    ) -> None:
        output.mkdir(parents=True, exist_ok=True)
        self._said = output
        self._start = time.monotonic()
        self._process: BaseProcess = _context().Process(target=_run, args=(arguments, output, quota, obeys_modes))
        self._process.start()

    @property
    def running(self) -> bool:
        """Whether it is still running."""
        return self._process.is_alive()

    def signalled(self, number: signal.Signals) -> None:
        """Send it a signal, if it is still running."""
        if self._process.pid and self._process.is_alive():
            os.kill(self._process.pid, number)

    def ended(self, timeout: float = 60.0) -> Ended:
        """Wait for its end; kill it after ``timeout`` seconds."""
        self._process.join(timeout)
        return self.killed()

    def killed(self) -> Ended:
        """Send SIGKILL, unless it has ended."""
        self._process.kill()
        self._process.join()
        out, err = (
            (self._said / name).read_text("utf-8") if (self._said / name).is_file() else "" for name in _STREAMS
        )
        return Ended(self._process.exitcode or 0, out, err, time.monotonic() - self._start)


@cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__, *_LOADED])
    return context


def _run(arguments: list[str], output: Path, quota: int | None, obeys_modes: bool) -> None:  # noqa: FBT001 - pickled
    for number, name in enumerate(_STREAMS, 1):
        os.dup2(os.open(output / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    from storm_pipeline.evidence.retrieval import embedder
    from storm_pipeline.interfaces.cli import main
    from storm_pipeline.method import session
    from storm_pipeline.sources.search.base import NoContents

    vars(embedder)["open_embedder"] = lambda *_, **__: embedder.HashingEmbedder()
    vars(session)["WikipediaContents"] = lambda _: NoContents()
    if quota is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (quota, quota))
    if obeys_modes and os.geteuid() == 0:
        _drop_capabilities()
    sys.argv = ["storm", *arguments]
    main()


def _drop_capabilities() -> None:
    """Make root subject to file permissions (Linux: capset(2) with empty sets)."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None, use_errno=True).capset(header, sets):
        raise OSError(ctypes.get_errno(), "capset")
