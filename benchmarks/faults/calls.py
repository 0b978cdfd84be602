"""Whether what a run tells of its calls agrees, call by call, with the log of the server that answered them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from benchmarks.faults.kinds import ANSWERED, OK
from benchmarks.faults.server import Line
from storm_pipeline import Article
from storm_pipeline.run.events import CallFinished, Degraded, Event, Failed, Retried, Searched

Tally = Counter[tuple[str, str]]
"""How often each fault struck each part of a run."""

_PARTS = {
    "related topics": "related topics",
    "perspectives": "perspectives",
    "question": "conversations",
    "queries": "conversations",
    "answer": "conversations",
    "draft outline": "draft outline",
    "outline": "outline",
    "section": "writing",
    "sections": "writing",
    "reworded": "writing",
    "heading": "writing",
    "lead": "writing",
    "repetition": "polish",
}
"""Kind of a call, or stage of an event → part of the run."""
_SIGNS = {
    "500": r"answered 500|the server had an error",
    "429": r"answered 429|too many requests",
    "time-out": r"timed out|did not answer in time",
    "broken off": r"[Cc]onnection reset|closed the connection|connection closed|disconnected",
    "cut short": r"is not JSON|cut short",
    "10 MB": r"too long: 1\d,\d{3},\d{3} characters|more than 10,000,000 bytes",
    "of no use": r"does not parse|unknown format",
}
"""What the reasons of a client say of each fault; the first that fits counts."""
_CALLED = {
    "429 with Retry-After": "429",
    "reset": "broken off",
    "cut off": "broken off",
    "truncated JSON": "cut short",
    "empty": "of no use",
    "wrong form": "of no use",
}
"""Fault → its name in :data:`_SIGNS`, where that is another: a client cannot tell all of them apart."""
_NOT_CALLED = re.compile(r"is left alone for")
"""Said of a call that was not made."""


def disagreements(log: Sequence[Line], events: Sequence[Event], articles: Iterable[Article] = ()) -> list[str]:
    """What the events say otherwise than the log; empty where they agree.

    Args:
        log: every call of the runs.
        events: of these runs.
        articles: that came of them; their usage and reports are compared with the events.
    """
    struck, told = _struck(log), _told(events)
    found = [f"{part}, {fault}: {struck[part, fault]} times, told {told[part, fault]} times"
             for part, fault in sorted(struck | told) if struck[part, fault] != told[part, fault]]  # fmt: skip
    answered = Counter(_part(line.kind) for line in log if line.kind != "search" and line.fault in ANSWERED)
    finished = Counter(_part(event.stage) for event in events if isinstance(event, CallFinished))
    if answered != finished:
        found.append(f"replies {dict(answered)}, told {dict(finished)}")
    hits = sum(line.kind == "search" and line.fault == OK for line in log)
    searched = sum(isinstance(event, Searched) for event in events)
    failed = sum(isinstance(event, Failed) and event.detail.startswith("search for") for event in events)
    if hits != searched - failed:
        found.append(f"{hits} searches answered, {searched} told, {failed} of them as failed")
    return found + _unreported(events, articles)


def _unreported(events: Sequence[Event], articles: Iterable[Article]) -> list[str]:
    """What the articles' reports and usage lack of the events, or add to them."""
    articles = list(articles)
    if not articles:
        return []
    problems = Counter(p.detail for article in articles for p in article.report.problems)
    told = Counter(e.detail for e in events if isinstance(e, Failed | Degraded))
    calls = sum(article.usage.calls for article in articles)
    finished = sum(isinstance(event, CallFinished) for event in events)
    found = [f"the report does not say: {detail}" for detail in told - problems]
    found += [f"only the report says: {detail}" for detail in problems - told]
    return found + [f"usage has {calls} calls, the events {finished}"] * (calls != finished)


def _struck(log: Sequence[Line]) -> Tally:
    return Counter((_part(line.kind), _called(line)) for line in log if line.fault != OK)


def _called(line: Line) -> str:
    """What the client calls the fault of a call; to a search, an empty body is an answer that is cut short."""
    fault = "truncated JSON" if (line.kind, line.fault) == ("search", "empty") else line.fault
    return _CALLED.get(fault, fault)


def _told(events: Sequence[Event]) -> Tally:
    """Faults by the events: each retry is one, and so is each failure that no retry came before."""
    told: Tally = Counter()
    for event in events:
        match event:
            case Retried():
                part = _part("search" if event.what == "searxng" else event.stage)
                told[part, _fault(event.reason) or f"unknown: {event.reason[:200]}"] += 1
            case Failed() | Degraded() if not _NOT_CALLED.search(event.detail) and (fault := _fault(event.detail)):
                told[_part("search" if event.detail.startswith("search for") else event.stage), fault] += 1
            case _:
                pass
    return told


def _fault(reason: str) -> str:
    return next((fault for fault, sign in _SIGNS.items() if re.search(sign, reason)), "")


def _part(name: str) -> str:
    return _PARTS.get(name, name)
