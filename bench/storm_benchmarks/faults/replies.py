"""Runs whose server fails 30 % of calls, or never replies."""

import ctypes
import gc
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from storm_benchmarks.faults.calls import disagreements
from storm_benchmarks.faults.kinds import OK, Plan
from storm_benchmarks.faults.lab import TOPIC, Lab, damage
from storm_benchmarks.faults.server import Line
from storm_pipeline import Article
from storm_pipeline.errors import StormError
from storm_pipeline.run.events import CallbackSink, Event, read_events
from storm_pipeline.sources.transport.gates import forget_gates

FAILING = Plan(share=0.3, search_share=0.3)
_NAMES = ("Alder", "Birch", "Cedar", "Elder", "Hazel", "Larch", "Maple", "Rowan")
_ATTEMPTS = 2
_SLACK = 10.0  # seconds that a run may take in addition to its timeouts, on a busy machine


@dataclass
class Outcome:
    """Outcome of one or more runs against a faulty server."""

    articles: list[Article] = field(default_factory=list)  # the completed articles
    error: str = ""  # what ended the run otherwise
    log: list[Line] = field(default_factory=list)  # the server's log
    events: list[Event] = field(default_factory=list)  # the events reported
    seconds: float = 0.0  # wall time
    problems: list[str] = field(default_factory=list)  # violated expectations; empty if none

    @property
    def faults(self) -> int:
        """Number of calls that failed."""
        return sum(line.fault != OK for line in self.log)


def failing(lab: Lab, run: str, seed: int) -> Outcome:
    """Write an article while 30 % of all calls fail; it must be complete, and log, events and report must agree."""
    lab.plan(run, Plan(share=FAILING.share, search_share=FAILING.search_share, seed=seed))
    outcome = _outcome(lab, run, lambda sink: [lab.storm(run, sinks=[sink]).write(TOPIC)])
    folder = lab.run_folder(run)
    if not outcome.articles or folder is None:
        outcome.problems.append(f"no article: {outcome.error}")
        return outcome
    outcome.problems += damage(folder) + disagreements(outcome.log, outcome.events, outcome.articles)
    if [event for _, event in read_events(folder / "events.jsonl")] != outcome.events:
        outcome.problems.append("events.jsonl differs from the events reported")
    return outcome


def hung(lab: Lab, run: str, *, search: bool) -> Outcome:
    """Write an article while the language model or the search engine accepts calls and never replies."""
    lab.plan(run, Plan(share=float(not search), search_share=float(search), kinds=("time-out",)))
    outcome = _outcome(lab, run, lambda sink: [lab.storm(run, sinks=[sink], call_attempts=_ATTEMPTS).write(TOPIC)])
    # Until the calls for related topics, perspectives and a first question have failed, or every conversation's first
    # searches, two at a time, and the circuit opens.
    seconds = (lab.perspectives + 1) * 3 / 2 * lab.patience.attempts * lab.search_timeout
    longest = _SLACK + (seconds if search else 3 * _ATTEMPTS * lab.lm_timeout)
    if outcome.seconds > longest:
        outcome.problems.append(f"took {outcome.seconds:.0f} s, the timeouts allow {longest:.0f} s")
    if lab.bench.place not in outcome.error:
        outcome.problems.append(f"the error does not name {lab.bench.place}: {outcome.error or 'there is none'}")
    outcome.problems += disagreements(outcome.log, outcome.events)
    return outcome


def crowd(lab: Lab, run: str, topics: int, seed: int = 0) -> Outcome:
    """Write articles on many topics concurrently, with one ``Storm``, while 30 % of all calls fail."""
    lab.plan(run, Plan(share=FAILING.share, search_share=FAILING.search_share, seed=seed))
    names = [f"{_NAMES[i % len(_NAMES)]} {_NAMES[i // len(_NAMES)]}" for i in range(topics)]
    failed: list[str] = []

    def write(sink: CallbackSink) -> list[Article]:
        storm = lab.storm(run, sinks=[sink])

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
    outcome.problems += [f"{thread.name} was left behind" for thread in _leaked_threads(before)]
    outcome.problems += disagreements(outcome.log, outcome.events, outcome.articles if not failed else ())
    outcome.problems += [fault for folder in lab.out(run).iterdir() for fault in damage(folder)]
    for article in outcome.articles:
        text = article.to_markdown()
        others = [name for name in names if name != article.title and name in text]
        outcome.problems += [f"{article.title} mentions {name}" for name in others]
    return outcome


def trim_memory() -> None:
    """Give the allocator's free lists back, so that what is resident is used."""
    gc.collect()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


def _outcome(lab: Lab, run: str, work: Callable[[CallbackSink], list[Article]]) -> Outcome:
    forget_gates()  # so that open circuits do not carry over
    outcome = Outcome()
    start = time.monotonic()
    try:
        outcome.articles = work(CallbackSink(outcome.events.append))
    except StormError as error:
        outcome.error = str(error)
    outcome.seconds = time.monotonic() - start
    outcome.log = lab.bench.log(run)
    return outcome


def _leaked_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    """Return threads started since that do not end within a second, except tqdm's monitor."""
    until = time.monotonic() + 1.0
    while True:
        left = [t for t in threading.enumerate() if t not in before and t.name != "tqdm_monitor"]
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.02)
