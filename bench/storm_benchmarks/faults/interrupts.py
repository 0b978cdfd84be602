"""Runs that a signal interrupts: they stop in order, say how to go on, and can be resumed."""

import signal
import time

from storm_benchmarks.faults.command import Ended
from storm_benchmarks.faults.disks import wrong_resumption
from storm_benchmarks.faults.kills import Whole
from storm_benchmarks.faults.lab import Lab

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_INTERRUPTED = 130


def interrupted_at(lab: Lab, run: str, number: signal.Signals, seconds: float, whole: Whole) -> list[str]:
    """Interrupt a run after ``seconds``, then resume it. Returns the violated expectations."""
    command = lab.write(run)
    time.sleep(seconds)
    command.signalled(number)
    ended = command.ended()
    folder = lab.run_folder(run)
    if folder is None or not (folder / "run.json").exists():
        return []  # before it began to write
    return wrong_interruption(ended, str(folder)) + wrong_resumption(lab, run, whole)


def interrupted_during(lab: Lab, run: str, kind: str, whole: Whole) -> list[str]:
    """Press Ctrl-C when the first call of this kind was answered, then resume. Returns the violated expectations."""
    command = lab.write(run)
    while command.running and not any(line.kind == kind for line in lab.bench.log(run)):
        time.sleep(0.005)
    command.signalled(signal.SIGINT)
    ended = command.ended()
    folder = lab.run_folder(run)
    if folder is None:
        return ["the run made no folder"]
    return wrong_interruption(ended, str(folder)) + wrong_resumption(lab, run, whole)


def wrong_interruption(ended: Ended, folder: str) -> list[str]:
    """Return faults in the end of an interrupted command: it may have finished, or must say where progress is saved."""
    if ended.code == 0:
        return []
    lines = ended.err.strip().splitlines()
    found = [f"exit code {ended.code} instead of {_INTERRUPTED}"] if ended.code != _INTERRUPTED else []
    if not lines or not lines[-1].startswith("interrupted; ") or folder not in lines[-1] or len(lines) > 2:
        found.append(f"said in {len(lines)} lines: {ended.err.strip()[-300:]}")
    return found
