"""Other programs that make files: without a shell, without the user's keys, for a limited time."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from storm_pipeline.child_process import run
from storm_pipeline.errors import RunError

_SECONDS = 120
_SAID = 300  # characters of what a program says of a failure


def run_program(command: Sequence[str], given: bytes = b"", *, folder: str | None = None) -> tuple[int, bytes, str]:
    """Run a program to its end; what it exits with, what it writes, and the end of what it says of errors.

    Args:
        given: what it reads.
        folder: where it runs.

    Raises RunError: it cannot be started, or takes more than two minutes.
    """
    try:
        done = run(command, given, seconds=_SECONDS, folder=folder)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(f"{Path(command[0]).name} did not make the file: {error}; export another format") from error
    return done.returncode, done.stdout, " ".join(done.stderr.decode("utf-8", "replace").split())[-_SAID:]
