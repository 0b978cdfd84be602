"""Runs on a full disk, or whose folder is read-only or deleted."""

import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from storm_benchmarks.faults.command import Command, Ended
from storm_benchmarks.faults.kills import Whole, wrong_resumption
from storm_benchmarks.faults.lab import Lab

_PLENTY = "64m"
FILES = ("run.json", "settings.json", "journal.jsonl", "events.jsonl", "run.lock", "outline.md", "references.json")
"""Files of a run that a resume reads."""
_FULL = "/dev/full"  # a device of Linux that no byte can be written to


def short_of_space(lab: Lab, run: str, size: int, whole: Whole) -> list[str]:
    """Write an article to a disk of ``size`` bytes; then add space and resume. Returns the violated expectations."""
    with small_disk(lab.folder / run / "runs", size) as more:
        ended = lab.write(run).ended()
        if not ended.code:
            return [f"{size} bytes were enough"]
        problems = wrong_failure(ended, "No space left on device")
        more()
        return problems + wrong_resumption(lab, run, whole)


def over_quota(lab: Lab, run: str, size: int, whole: Whole) -> list[str]:
    """Write an article with a file size limit of ``size`` bytes; then lift it and resume."""
    ended = lab.write(run, quota=size).ended()
    return wrong_failure(ended, "File too large") + wrong_resumption(lab, run, whole)


def output_full(lab: Lab, run: str, whole: Whole) -> list[str]:
    """Write an article with standard output on a full disk; then print its paths elsewhere."""
    said = lab.folder / run / "said"
    said.mkdir(parents=True)
    (said / "out").symlink_to(_FULL)
    problems = wrong_failure(lab.write(run).ended(), "No space left on device")
    (said / "out").unlink()
    return problems + wrong_resumption(lab, run, whole)


def read_only_from_the_start(lab: Lab, run: str) -> list[str]:
    """Write an article to a read-only folder."""
    out = lab.folder / run / "closed"
    out.mkdir(parents=True)
    with _read_only(out):
        return wrong_failure(lab.write(run, out=out, modes=True).ended(), "Permission denied")


def read_only_from(lab: Lab, run: str, seconds: float, whole: Whole) -> list[str]:
    """Make a run's folder read-only after ``seconds``; then writable again and resume."""
    command = lab.write(run, modes=True)
    folder = _after(command, lab, run, seconds)
    with _read_only(folder):
        ended = command.ended()
    return wrong_failure(ended, "Permission denied") + wrong_resumption(lab, run, whole)


def unreadable(lab: Lab, run: str, whole: Whole, names: Sequence[str] = FILES) -> list[str]:
    """Make one file after the other of a finished run unreadable and resume; then readable again."""
    lab.write(run).ended()
    folder = lab.run_folder(run)
    if folder is None:
        return ["the run made no folder"]
    (folder / "article.md").unlink()  # so that it has something to do
    problems = []
    for name in names:
        (folder / name).chmod(0)
        ended = lab.resume(run, folder, modes=True).ended()
        (folder / name).chmod(0o644)
        problems += [f"{name}: {problem}" for problem in wrong_failure(ended, "Permission denied")]
        problems += [f"{name} is not named: {ended.err}"] * (name not in ended.err and name != "run.lock")
    return problems + wrong_resumption(lab, run, whole)


def deleted_after(lab: Lab, run: str, calls: int) -> list[str]:
    """Delete a run's folder after so many calls, whatever time they take."""
    command = lab.write(run)
    while command.running and len(lab.bench.log(run)) < calls:
        time.sleep(0.005)
    _delete(folder := _after(command, lab, run, 0.0))
    return wrong_failure(command.ended(), "") + wrong_failure(lab.resume(run, folder).ended(), "is not a run's folder")


def wrong_failure(ended: Ended, reason: str) -> list[str]:
    """Return faults in a command's failure: expected are exit code 1 and one line with the reason."""
    lines = ended.err.strip().splitlines()
    found = [f"exit code {ended.code} instead of 1"] if ended.code != 1 else []
    if len(lines) != 1 or not lines[0].startswith("error: ") or "unexpected" in lines[0]:
        found.append(f"said in {len(lines)} lines: {ended.err.strip()[-300:]}")
    elif reason not in lines[0]:
        found.append(f"does not say {reason!r}: {lines[0]}")
    return found


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Callable[[], None]]:
    """Mount a file system of ``size`` bytes at a folder (Linux, as root); yields a function that enlarges it.

    Raises OSError: mounting is not permitted.
    """
    folder.mkdir(parents=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        yield lambda: _mount("-o", f"remount,size={_PLENTY}", str(folder))
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def can_mount(folder: Path) -> bool:
    """Return whether :func:`small_disk` works here."""
    try:
        with small_disk(folder / "trial", 1 << 16):
            return True
    except OSError:
        return False


def sizes(number: int, most: int, seed: int = 0) -> list[int]:
    """Return random sizes, one from each of ``number`` equal parts of ``most`` bytes, at least one block each."""
    chance = random.Random(seed)
    return [max(4096, int(most / number * (position + chance.random()))) for position in range(number)]


def _mount(*arguments: str) -> None:
    try:
        subprocess.run(["mount", *arguments], check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        raise OSError(error.stderr.strip()) from error


def _after(command: Command, lab: Lab, run: str, seconds: float) -> Path:
    """Return the run's folder, once it exists and ``seconds`` have passed."""
    time.sleep(seconds)
    while (folder := lab.run_folder(run)) is None and command.running:
        time.sleep(0.01)
    if folder is None:
        raise RuntimeError(f"the run made no folder: {command.ended().err}")
    return folder


@contextmanager
def _read_only(folder: Path) -> Iterator[None]:
    """Make a folder and its subfolders read-only within the block."""
    inside = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for path in inside:
        path.chmod(0o555)
    try:
        yield
    finally:
        for path in inside:
            path.chmod(0o755)


def _delete(folder: Path) -> None:
    """Delete a folder in which files are being created."""
    renamed = folder.with_name("deleted")
    folder.rename(renamed)
    shutil.rmtree(renamed)
