"""The command ``storm`` in a process of its own, which can be killed or kept short of disk space.

The process is forked from one that has loaded what the command needs, so that moments within a run can be met. Its
embedder takes no time, and no encyclopedia is looked up; all else is the command as it is installed.
"""

import ctypes
import multiprocessing
import os
import resource
import sys
import time
from dataclasses import dataclass
from functools import cache
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

_STREAMS = ("out", "err")
_LOADED = (
    *("storm_pipeline.cli", "storm_pipeline.storm", "storm_pipeline.progress.run_progress"),
    *("bm25s", "dspy", "dspy.clients.execution", "faiss", "jinja2", "pysbd", "requests"),
)
"""Loaded once, and part of every process from its beginning."""
_CAPABILITY_VERSION = 0x20080522


class NoContents:
    """No encyclopedia to look up."""

    def __init__(self, *_: object) -> None: ...

    def table_of_contents(self, title: str) -> None:
        """Know no article."""


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code (negative: the signal), standard output and error, seconds."""

    code: int
    out: str
    err: str
    seconds: float


class Command:
    """``storm`` with these arguments, started.

    Args:
        arguments: of the command line.
        said: folder for what it says.
        quota: bytes that a file may have; None for any number.
        obeys_modes: whether a user who may do anything is one who may not, as far as files are concerned.
    """

    def __init__(
        self, arguments: list[str], said: Path, *, quota: int | None = None, obeys_modes: bool = False
    ) -> None:
        said.mkdir(parents=True, exist_ok=True)
        self._said = said
        self._start = time.monotonic()
        self._process: BaseProcess = _context().Process(target=_run, args=(arguments, said, quota, obeys_modes))
        self._process.start()

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.is_alive()

    def ended(self, patience: float = 60.0) -> Ended:
        """Wait for its end; one that outlasts ``patience`` (seconds) is killed."""
        self._process.join(patience)
        return self.killed()

    def killed(self) -> Ended:
        """Kill it, unless it has ended, with the signal that no process can refuse."""
        self._process.kill()
        self._process.join()
        out, err = ((self._said / name).read_text("utf-8") if (self._said / name).exists() else "" for name in _STREAMS)
        return Ended(self._process.exitcode or 0, out, err, time.monotonic() - self._start)


@cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__, *_LOADED])
    return context


def _run(arguments: list[str], said: Path, quota: int | None, obeys_modes: bool) -> None:  # noqa: FBT001 - pickled
    for number, name in enumerate(_STREAMS, 1):
        os.dup2(os.open(said / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    from storm_pipeline.cli import main
    from storm_pipeline.retrieval import embedder
    from storm_pipeline.run import session

    embedder.open_embedder = lambda *_: embedder.HashingEmbedder()
    session.WikipediaContents = NoContents  # type: ignore[misc, assignment]
    if quota is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (quota, quota))
    if obeys_modes and os.geteuid() == 0:
        _give_up_capabilities()
    sys.argv = ["storm", *arguments]
    main()


def _give_up_capabilities() -> None:
    """Make root obey the modes of files, as others must (Linux: capset(2) with empty sets)."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None, use_errno=True).capset(header, sets):
        raise OSError(ctypes.get_errno(), "capset")
