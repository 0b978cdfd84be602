"""Runs that are killed, and what going on with them asks for a second time."""

import json
import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.faults.command import Command, Ended
from benchmarks.faults.lab import Lab, damage
from benchmarks.faults.server import Line

GRACE = 0.25
"""Seconds that a client may take from the moment a reply was sent whole until it is saved."""


@dataclass(frozen=True)
class Death:
    """A kill: when the signal was about to be sent, and when the process was gone. It may have asked in between."""

    began: float
    over: float

    def met(self, line: Line) -> bool:
        """Whether a call was in flight: received, and answered less than :data:`GRACE` before or later."""
        return line.received < self.over and line.ended + GRACE > self.began


@dataclass(frozen=True)
class Whole:
    """A run that nobody disturbed: its article, how often each request was asked, seconds, and bytes on the disk."""

    article: dict[str, Any]
    text: str
    asked: Counter[str]
    seconds: float
    bytes: int
    largest: int


@dataclass(frozen=True)
class Recovered:
    """A run that was killed and went on to its end.

    Attributes:
        kills: how often it was killed.
        lines: of the server's log.
        in_flight: calls that were, when it was killed.
        repeated: calls answered whole more often than in the undisturbed run.
        lost: of these, how long before the kill the reply had been sent, in seconds; none for what was not answered.
        problems: why the run is not as if nothing had happened; empty where it is.
    """

    kills: int
    lines: int
    in_flight: int
    repeated: int
    lost: tuple[float, ...]
    problems: tuple[str, ...]


def undisturbed(lab: Lab, run: str) -> Whole:
    """Write an article from beginning to end.

    Raises:
        RuntimeError: that failed.
    """
    Command(["--version"], lab.folder / run / "said").ended()  # the first process loads what the others begin with
    ended = lab.write(run).ended()
    folder = lab.made(run)
    if ended.code or folder is None:
        raise RuntimeError(f"the undisturbed run ended with {ended.code}: {ended.err}")
    article, text = read_article(folder)
    files = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return Whole(article, text, _answered(lab.bench.log(run)), ended.seconds, sum(files), max(files))


def moments(number: int, whole: Whole, seed: int = 0) -> list[float]:
    """Random moments spread over an undisturbed run: one in each of as many equal parts, in seconds."""
    chance = random.Random(seed)
    part = whole.seconds / number
    return [part * (position + chance.random()) for position in range(number)]


def killed_at(lab: Lab, run: str, times: Sequence[float], whole: Whole) -> Recovered:
    """Kill a run after so many seconds, again and again, then let it go on to its end."""
    deaths: list[Death] = []
    for seconds in times:
        command = _started(lab, run)
        time.sleep(seconds)
        alive, began = command.running, time.time()
        command.killed()
        if not alive:
            break
        deaths.append(Death(began, time.time()))
    ended = _started(lab, run).ended()
    if ended.code and "not a run's folder" in ended.err:  # killed before anything was bought
        ended = lab.write(run, out=lab.out(run) / "anew").ended()
    return _recovered(lab, run, deaths, ended, whole)


def _started(lab: Lab, run: str) -> Command:
    folder = lab.made(run)
    return lab.resume(run, folder) if folder else lab.write(run)


def _recovered(lab: Lab, run: str, deaths: Sequence[Death], ended: Ended, whole: Whole) -> Recovered:
    log = lab.bench.log(run)
    bought_again = _bought_again(log, whole.asked)
    lost = [age_of(line, deaths) for line in bought_again]
    in_flight = sum(any(death.met(line) for death in deaths) for line in log)
    repeated = len(bought_again)
    problems = [f"exit code {ended.code}: {ended.err.strip()}"] if ended.code else []
    if repeated > in_flight:
        problems.append(f"{repeated} calls repeated, {in_flight} in flight")
    problems += [f"a reply sent {age:.2f} s before the kill was bought again" for age in lost if age > GRACE]
    folder = next(lab.out(run).rglob("article.json"), None)
    if folder is None:
        problems.append("no article")
    else:
        article, text = read_article(folder.parent)
        problems += ["another text"] * (text != whole.text)
        problems += [f"another {name}" for name in whole.article if article.get(name) != whole.article[name]]
        problems += damage(folder.parent)
    return Recovered(len(deaths), len(log), in_flight, repeated, tuple(lost), tuple(problems))


def age_of(line: Line, deaths: Sequence[Death]) -> float:
    """Seconds from the moment a reply was sent to the next kill; infinite where none came."""
    kill = min((death.began for death in deaths if death.over > line.received), default=math.inf)
    return max(0.0, kill - line.ended)


def _bought_again(log: Sequence[Line], asked: Counter[str]) -> list[Line]:
    """Calls answered whole whose answer was had once more than the undisturbed run had it: all but the last ones."""
    whole: dict[str, list[Line]] = defaultdict(list)
    for line in sorted(log, key=lambda line: line.received):  # logged when answered, so a slow one later than its twin
        if line.whole:
            whole[line.key].append(line)
    return [line for key, lines in whole.items() for line in lines[: max(0, len(lines) - max(1, asked[key]))]]


def _answered(log: Sequence[Line]) -> Counter[str]:
    return Counter(line.key for line in log if line.whole)


def read_article(folder: Path) -> tuple[dict[str, Any], str]:
    """The article's values, without what it took, and its text."""
    article: dict[str, Any] = json.loads((folder / "article.json").read_text(encoding="utf-8"))["article"]
    del article["usage"]
    return article, (folder / "article.md").read_text(encoding="utf-8")
