"""Runs whose server fails every third call, or answers none."""

import ctypes
import gc
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.faults.calls import disagreements
from benchmarks.faults.kinds import OK, Plan
from benchmarks.faults.lab import TOPIC, Lab, damage
from benchmarks.faults.server import Line
from storm_pipeline import Article
from storm_pipeline.errors import StormError
from storm_pipeline.net.gates import forget_gates
from storm_pipeline.run.events import CallbackSink, Event, read_events

FAILING = Plan(share=0.3, search_share=0.3)
_NAMES = ("Alder", "Birch", "Cedar", "Elder", "Hazel", "Larch", "Maple", "Rowan")
_ATTEMPTS = 2
_SLACK = 10.0
"""Seconds that a run may take beside its time-outs, on a busy machine."""


@dataclass
class Outcome:
    """How a run, or several, went against a server that fails.

    Attributes:
        articles: those that came to be.
        error: what ended the run otherwise.
        log: the server's.
        events: told meanwhile.
        seconds: of wall time.
        problems: what is wrong; empty where nothing is.
    """

    articles: list[Article] = field(default_factory=list)
    error: str = ""
    log: list[Line] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def faults(self) -> int:
        """Number of calls that failed."""
        return sum(line.fault != OK for line in self.log)


def failing(lab: Lab, run: str, seed: int) -> Outcome:
    """Write an article while 30 % of all calls fail; it is to be whole, and the log, events and report to agree."""
    lab.plan(run, Plan(share=FAILING.share, search_share=FAILING.search_share, seed=seed))
    outcome = _outcome(lab, run, lambda told: [lab.storm(run, sinks=[told]).write(TOPIC)])
    folder = lab.made(run)
    if not outcome.articles or folder is None:
        outcome.problems.append(f"no article: {outcome.error}")
        return outcome
    outcome.problems += damage(folder) + disagreements(outcome.log, outcome.events, outcome.articles)
    if [event for _, event in read_events(folder / "events.jsonl")] != outcome.events:
        outcome.problems.append("events.jsonl holds other events than were told")
    return outcome


def hung(lab: Lab, run: str, *, search: bool) -> Outcome:
    """Write an article while the language model, or the search engine, accepts calls and answers none."""
    lab.plan(run, Plan(share=float(not search), search_share=float(search), kinds=("time-out",)))
    outcome = _outcome(lab, run, lambda told: [lab.storm(run, sinks=[told], attempts=_ATTEMPTS).write(TOPIC)])
    longest = _SLACK + (_longest_search(lab) if search else _longest_asking(lab))
    if outcome.seconds > longest:
        outcome.problems.append(f"took {outcome.seconds:.0f} s, the time-outs allow {longest:.0f} s")
    if lab.bench.place not in outcome.error:
        outcome.problems.append(f"the error does not name {lab.bench.place}: {outcome.error or 'there is none'}")
    outcome.problems += disagreements(outcome.log, outcome.events)
    return outcome


def _longest_asking(lab: Lab) -> float:
    """Seconds until related topics, perspectives and a first question have been asked for in vain."""
    return 3 * _ATTEMPTS * lab.lm_timeout


def _longest_search(lab: Lab) -> float:
    """Seconds until every conversation's first searches have failed, two at a time: then the engine is left alone."""
    return (lab.perspectives + 1) * 3 / 2 * lab.patience.attempts * lab.search_timeout


def crowd(lab: Lab, run: str, topics: int, seed: int = 0) -> Outcome:
    """Write articles on many topics at once, with one ``Storm``, while 30 % of all calls fail."""
    lab.plan(run, Plan(share=FAILING.share, search_share=FAILING.search_share, seed=seed))
    names = [f"{_NAMES[i % len(_NAMES)]} {_NAMES[i // len(_NAMES)]}" for i in range(topics)]
    failed: list[str] = []

    def write(told: CallbackSink) -> list[Article]:
        storm = lab.storm(run, sinks=[told])

        def one(topic: str) -> Article | None:
            try:
                return storm.write(topic)
            except StormError as error:
                failed.append(f"{topic}: {error}")
                return None

        with ThreadPoolExecutor(topics) as pool:
            return [article for article in pool.map(one, names) if article]

    before = set(threading.enumerate())
    outcome = _outcome(lab, run, write)
    outcome.error = "; ".join(failed)
    if len(outcome.articles) + len(failed) != topics:
        outcome.problems.append(f"{len(outcome.articles)} written and {len(failed)} reported of {topics}")
    outcome.problems += [f"{thread.name} was left behind" for thread in _left(before)]
    outcome.problems += disagreements(outcome.log, outcome.events, outcome.articles if not failed else ())
    outcome.problems += [fault for folder in lab.out(run).iterdir() for fault in damage(folder)]
    for article in outcome.articles:
        text = article.to_markdown()
        others = [name for name in names if name != article.title and name in text]
        outcome.problems += [f"{article.title} speaks of {name}" for name in others]
    return outcome


def resident() -> float:
    """Memory that this process needs, in megabytes (Linux): without what its allocator keeps in reserve."""
    gc.collect()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
    line = next(line for line in Path("/proc/self/status").read_text("ascii").splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def _outcome(lab: Lab, run: str, work: Callable[[CallbackSink], list[Article]]) -> Outcome:
    forget_gates()  # a service that was hung in one run may be asked in the next
    outcome = Outcome()
    start = time.monotonic()
    try:
        outcome.articles = work(CallbackSink(outcome.events.append))
    except StormError as error:
        outcome.error = str(error)
    outcome.seconds = time.monotonic() - start
    outcome.log = lab.bench.log(run)
    return outcome


def _left(before: set[threading.Thread]) -> list[threading.Thread]:
    """Threads that were started since and do not end within a second; without the one that tqdm keeps a process."""
    until = time.monotonic() + 1.0
    while True:
        left = [t for t in threading.enumerate() if t not in before and t.name != "tqdm_monitor"]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.02)
