"""Runs that are killed or interrupted, and resumed: which calls are repeated, and what an interrupted run says."""

import json
import math
import random
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from storm_benchmarks.faults.command import Command, Ended
from storm_benchmarks.faults.lab import Lab, damage
from storm_benchmarks.faults.server import Line
from storm_pipeline.interfaces.listing import run_state

GRACE = 0.25
"""Seconds that a client may take to save a reply after it was sent completely."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_INTERRUPTED = 130


@dataclass(frozen=True)
class Kill:
    """A kill: when the signal was about to be sent, and when all calls of the ended process had been received."""

    began: float
    over: float

    def met(self, line: Line) -> bool:
        """Return whether a call was in flight: received, and its reply not sent more than :data:`GRACE` before."""
        return line.received < self.over and line.ended + GRACE > self.began


@dataclass(frozen=True)
class Whole:
    """An undisturbed run: its article, count of each request, seconds, total bytes on disk and largest file."""

    article: dict[str, Any]
    text: str
    asked: Counter[str]
    seconds: float
    bytes: int
    largest: int


@dataclass(frozen=True)
class Recovered:
    """A run that was killed and resumed to its end."""

    kills: int  # how often it was killed
    lines: int  # number of lines of the server's log
    in_flight: int  # number of calls in flight when it was killed
    repeated: int  # number of calls answered completely more often than in the undisturbed run
    lost: tuple[float, ...]  # for each of these, seconds between sending the reply and the kill
    problems: tuple[str, ...]  # differences from the undisturbed run; empty if there are none


def undisturbed(lab: Lab, run: str) -> Whole:
    """Write an article without faults. Raises RuntimeError: the run failed."""
    Command(["--version"], lab.folder / run / "said").ended()  # warms up the fork server
    ended = lab.write(run).ended()
    folder = lab.run_folder(run)
    if ended.code or folder is None:
        raise RuntimeError(f"the undisturbed run ended with {ended.code}: {ended.err}")
    article, text = read_article(folder)
    files = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    asked = Counter(line.key for line in lab.bench.log(run) if line.whole)
    return Whole(article, text, asked, ended.seconds, sum(files), max(files))


def moments(number: int, whole: Whole, seed: int = 0) -> list[float]:
    """Return random times in seconds, one from each of ``number`` equal parts of an undisturbed run."""
    chance = random.Random(seed)
    part = whole.seconds / number
    return [part * (position + chance.random()) for position in range(number)]


def killed_at(lab: Lab, run: str, times: Sequence[float], whole: Whole) -> Recovered:
    """Kill a run after each of ``times`` seconds, resuming in between, then let it finish."""
    kills: list[Kill] = []
    for seconds in times:
        command = _started(lab, run)
        time.sleep(seconds)
        alive, began = command.running, time.time()
        ended = command.killed()
        lab.bench.wait_for_calls()
        if alive:
            kills.append(Kill(began, time.time()))
        if (folder := lab.run_folder(run)) and run_state(folder) == "finished":  # a resumption would ask for more
            return _recovered(lab, run, kills, replace(ended, code=0), whole)
    ended = _started(lab, run).ended()
    if ended.code and "not a run's folder" in ended.err:  # killed before the first paid call
        ended = lab.write(run, out=lab.out(run) / "anew").ended()
    return _recovered(lab, run, kills, ended, whole)


def _started(lab: Lab, run: str) -> Command:
    folder = lab.run_folder(run)
    return lab.resume(run, folder) if folder else lab.write(run)


def _recovered(lab: Lab, run: str, kills: Sequence[Kill], ended: Ended, whole: Whole) -> Recovered:
    log = lab.bench.log(run)
    lost = [age_of(line, kills) for line in _repeated_calls(log, whole.asked)]
    in_flight = sum(any(kill.met(line) for kill in kills) for line in log)
    repeated = len(lost)
    problems = [f"exit code {ended.code}: {ended.err.strip()}"] if ended.code else []
    if repeated > in_flight:
        problems.append(f"{repeated} calls repeated, {in_flight} in flight")
    problems += [f"a reply sent {age:.2f} s before the kill was requested again" for age in lost if age > GRACE]
    folder = next(lab.out(run).rglob("article.json"), None)
    if folder is None:
        problems.append("no article")
    else:
        article, text = read_article(folder.parent)
        problems += ["the text differs"] * (text != whole.text)
        problems += [f"{name} differs" for name in whole.article if article.get(name) != whole.article[name]]
        problems += damage(folder.parent)
    return Recovered(len(kills), len(log), in_flight, repeated, tuple(lost), tuple(problems))


def age_of(line: Line, kills: Sequence[Kill]) -> float:
    """Return the seconds from sending a reply to the next kill; infinite if there was none."""
    next_kill = min((kill.began for kill in kills if kill.over > line.received), default=math.inf)
    return max(0.0, next_kill - line.ended)


def _repeated_calls(log: Sequence[Line], asked: Counter[str]) -> list[Line]:
    """Return completely answered calls beyond their number in the undisturbed run, per request."""
    whole: dict[str, list[Line]] = defaultdict(list)
    for line in sorted(log, key=lambda line: line.received):  # logged when answered, so not in order of arrival
        if line.whole:
            whole[line.key].append(line)
    return [line for key, lines in whole.items() for line in lines[: max(0, len(lines) - max(1, asked[key]))]]


def read_article(folder: Path) -> tuple[dict[str, Any], str]:
    """Return the article's values, without its usage, and its text."""
    article: dict[str, Any] = json.loads((folder / "article.json").read_text(encoding="utf-8"))["article"]
    del article["usage"]
    return article, (folder / "article.md").read_text(encoding="utf-8")


def wrong_resumption(lab: Lab, run: str, whole: Whole) -> list[str]:
    """Return faults in the folder of a run that ended early, and in its resumption."""
    folder = lab.run_folder(run)
    if folder is None:
        return []
    found = damage(folder)
    ended = lab.resume(run, folder).ended()
    if ended.code and "not a run's folder" in ended.err and not (folder / "run.json").exists():
        return found  # it failed before the first paid call
    if ended.code:
        return [*found, f"resumed: exit code {ended.code}: {ended.err.strip()}"]
    article, text = read_article(folder)
    return found + ["the article differs from that without the fault"] * (
        (article, text) != (whole.article, whole.text)
    )


def interrupted_at(lab: Lab, run: str, number: signal.Signals, seconds: float, whole: Whole) -> list[str]:
    """Interrupt a run after ``seconds``, then resume it. Returns the violated expectations."""
    return interrupted(lab, run, number, lambda _: time.sleep(seconds), whole)


def interrupted(lab: Lab, run: str, number: signal.Signals, wait: Callable[[Command], None], whole: Whole) -> list[str]:
    """Interrupt a run when ``wait`` returns, then resume it. Returns the violated expectations."""
    command = lab.write(run)
    wait(command)
    command.signalled(number)
    ended, folder = command.ended(), lab.run_folder(run)
    if folder is None or not (folder / "run.json").exists():
        return []  # before it began to write
    return _wrong_interruption(ended, str(folder)) + wrong_resumption(lab, run, whole)


def _wrong_interruption(ended: Ended, folder: str) -> list[str]:
    """Return faults in the end of an interrupted command: it may have finished, or must say where progress is saved."""
    if ended.code == 0:
        return []
    lines = ended.err.strip().splitlines()
    found = [f"exit code {ended.code} instead of {_INTERRUPTED}"] if ended.code != _INTERRUPTED else []
    if not lines or not lines[-1].startswith("interrupted; ") or folder not in lines[-1] or len(lines) > 2:
        found.append(f"said in {len(lines)} lines: {ended.err.strip()[-300:]}")
    return found
