"""Runs whose disk is full, whose folder may not be written, or whose folder goes away."""

import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.faults.command import Command, Ended
from benchmarks.faults.kills import Whole, read_article
from benchmarks.faults.lab import Lab, damage

_PLENTY = "64m"


def short_of_space(lab: Lab, run: str, size: int, whole: Whole) -> list[str]:
    """Write an article to a disk of so many bytes; then free some space and go on. What is wrong, if anything."""
    with small_disk(lab.folder / run / "runs", size) as more:
        ended = lab.write(run).ended()
        if not ended.code:
            return [f"{size} bytes were enough"]
        said = badly_said(ended, "No space left on device")
        more()
        return said + _goes_on(lab, run, whole)


def over_quota(lab: Lab, run: str, size: int, whole: Whole) -> list[str]:
    """Write an article while no file may grow beyond ``size`` bytes; then lift that and go on."""
    ended = lab.write(run, quota=size).ended()
    return badly_said(ended, "File too large") + _goes_on(lab, run, whole)


def read_only_from_the_start(lab: Lab, run: str) -> list[str]:
    """Write an article into a folder that may not be written."""
    out = lab.folder / run / "closed"
    out.mkdir(parents=True)
    with _closed(out):
        return badly_said(lab.write(run, out=out, modes=True).ended(), "Permission denied")


def read_only_from(lab: Lab, run: str, seconds: float, whole: Whole) -> list[str]:
    """Forbid writing to a run's folder after so many seconds; then allow it and go on."""
    command = lab.write(run, modes=True)
    folder = _after(command, lab, run, seconds)
    with _closed(folder):
        ended = command.ended()
    return badly_said(ended, "Permission denied") + _goes_on(lab, run, whole)


def deleted_after(lab: Lab, run: str, seconds: float) -> list[str]:
    """Delete a run's folder after so many seconds."""
    command = lab.write(run)
    folder = _after(command, lab, run, seconds)
    _delete(folder)
    said = badly_said(command.ended(), "")
    return said + badly_said(lab.resume(run, folder).ended(), "is not a run's folder")


def badly_said(ended: Ended, reason: str) -> list[str]:
    """What is wrong with how a command failed: exit code 1 and one line that says why are right."""
    lines = ended.err.strip().splitlines()
    found = [f"exit code {ended.code} instead of 1"] if ended.code != 1 else []
    if len(lines) != 1 or not lines[0].startswith("error: ") or "unexpected" in lines[0]:
        found.append(f"said in {len(lines)} lines: {ended.err.strip()[-300:]}")
    elif reason not in lines[0]:
        found.append(f"does not say {reason!r}: {lines[0]}")
    return found


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Callable[[], None]]:
    """A file system of so many bytes at a folder (Linux, as root); gives what makes it larger.

    Raises:
        OSError: this machine does not let us mount one.
    """
    folder.mkdir(parents=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder))
    try:
        yield lambda: _mount("-o", f"remount,size={_PLENTY}", str(folder))
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def can_mount(folder: Path) -> bool:
    """Whether :func:`small_disk` works here."""
    try:
        with small_disk(folder / "trial", 1 << 16):
            return True
    except OSError:
        return False


def sizes(number: int, most: int, seed: int = 0) -> list[int]:
    """Random numbers of bytes, one in each of as many equal parts of ``most``, none below a block."""
    chance = random.Random(seed)
    return [max(4096, int(most / number * (position + chance.random()))) for position in range(number)]


def _mount(*arguments: str) -> None:
    try:
        subprocess.run(["mount", *arguments], check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        raise OSError(error.stderr.strip()) from error


def _goes_on(lab: Lab, run: str, whole: Whole) -> list[str]:
    """What is wrong with the folder of a run that failed, and with its going on."""
    folder = lab.made(run)
    if folder is None:
        return []
    found = damage(folder)
    ended = lab.resume(run, folder).ended()
    if ended.code and "not a run's folder" in ended.err and not (folder / "run.json").exists():
        return found  # it failed before anything was bought
    if ended.code:
        return [*found, f"resumed: exit code {ended.code}: {ended.err.strip()}"]
    article, text = read_article(folder)
    return found + ["another article than without the fault"] * ((article, text) != (whole.article, whole.text))


def _after(command: Command, lab: Lab, run: str, seconds: float) -> Path:
    """The run's folder, when it is there and so many seconds have passed."""
    time.sleep(seconds)
    while (folder := lab.made(run)) is None and command.running:
        time.sleep(0.01)
    if folder is None:
        raise RuntimeError(f"the run made no folder: {command.ended().err}")
    return folder


@contextmanager
def _closed(folder: Path) -> Iterator[None]:
    """The folder and those in it may not be written within the block."""
    inside = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for path in inside:
        path.chmod(0o555)
    try:
        yield
    finally:
        for path in inside:
            path.chmod(0o755)


def _delete(folder: Path) -> None:
    """Delete a folder in which files are being made."""
    grave = folder.with_name("deleted")
    folder.rename(grave)
    shutil.rmtree(grave)
