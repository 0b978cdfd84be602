"""Work for the tests of executors: workers of other processes import it."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from storm_pipeline.interfaces.batch.executors import job_halt
from storm_pipeline.run.concurrency import parallel_map


@dataclass(frozen=True)
class Job:
    """What is done (see :func:`work`), with a number, in a folder of notes."""

    act: str
    number: int = 0
    notes: str = ""


@dataclass(frozen=True)
class Done:
    """What came of it."""

    number: int
    how: str
    folder: str


def work(job: Job) -> Done:
    """Do what the job says."""
    match job.act:
        case "raise":
            raise ValueError(f"no luck\nwith {job.number}")
        case "die once" if not _note(job, "died"):
            os.kill(os.getpid(), signal.SIGKILL)
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "wait":
            _note(job, "begun")
            (halted,) = parallel_map(lambda _: job_halt().wait(30), [1], workers=1)  # as an article's own threads do
            _note(job, "ended")
            return Done(job.number, "halted" if halted else "ran out", str(Path.cwd()))
        case _:
            time.sleep(0.01 * (job.number % 3))
    return Done(job.number**2, job.act, str(Path.cwd()))


def pid(job: Job) -> int:
    """The process that does it."""
    return os.getpid()


def _note(job: Job, word: str) -> bool:
    """Leave a note; tells whether it was there before."""
    path = Path(job.notes) / f"{job.number} {word}"
    known = path.exists()
    path.touch()
    return known
