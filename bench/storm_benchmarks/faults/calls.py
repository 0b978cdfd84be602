"""Comparing the calls that a run reports with the server's log of them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from storm_benchmarks.faults.kinds import BILLED, OK
from storm_benchmarks.faults.server import Line
from storm_pipeline import Article
from storm_pipeline.run.events import CallFinished, Degraded, Event, Failed, Retried, Searched

Tally = Counter[tuple[str, str]]
"""Number of faults by part of the run and fault."""

_PARTS = {
    "related topics": "related topics",
    "perspectives": "perspectives",
    "question": "conversations",
    "queries": "conversations",
    "answer": "conversations",
    "pages": "reading",
    "notes of pages": "reading",
    "reading": "reading",
    "draft outline": "draft outline",
    "outline": "outline",
    "placed findings": "evidence",
    "points": "points",
    "look-ups": "conversations",
    "answers to points": "conversations",
    "section": "writing",
    "remarks": "writing",
    "sections": "writing",
    "sentences": "writing",
    "editing": "writing",
    "reworded": "writing",
    "heading": "writing",
    "lead": "writing",
    "repetition": "polish",
}
"""Kind of a call, or stage of an event → part of the run."""
_PATTERNS = {
    "500": r"answered 500|the server had an error",
    "429": r"answered 429|too many requests",
    "time-out": r"timed out|did not answer in time",
    "broken off": r"[Cc]onnection reset|closed the connection|connection closed|closed connection|disconnected",
    "cut short": r"is not JSON|cut short|is no completion",
    "10 MB": r"larger than (?:8 MiB|200,000 values)|more than 10,000,000 bytes",
    "of no use": r"does not parse|unknown format",
}
"""Fault → pattern of the client's error message; the first match counts."""
_CLIENT_NAMES = {
    "429 with Retry-After": "429",
    "reset": "broken off",
    "cut off": "broken off",
    "truncated JSON": "cut short",
    "empty": "of no use",
    "wrong form": "of no use",
}
"""Fault → its name in :data:`_PATTERNS`, if different: a client cannot distinguish all faults."""
_NOT_CALLED = re.compile(r"is left alone for")  # message for a call that was not made


def disagreements(log: Sequence[Line], events: Sequence[Event], articles: Iterable[Article] = ()) -> list[str]:
    """Return differences between the events and the log; empty if they agree.

    ``articles``: their articles, whose usage and reports are compared with the events.
    """
    injected = Counter((_part(line.kind), _client_name(line)) for line in log if line.fault != OK)
    reported = _reported(events)
    found = [
        f"{part}, {fault}: {injected[part, fault]} times, reported {reported[part, fault]} times"
        for part, fault in sorted(injected | reported)
        if injected[part, fault] != reported[part, fault]
    ]
    billed = Counter(_part(line.kind) for line in log if line.kind != "search" and line.fault in BILLED)
    finished = Counter(_part(event.stage) for event in events if isinstance(event, CallFinished))
    if billed != finished:
        found.append(f"calls billed {dict(billed)}, reported {dict(finished)}")
    hits = sum(line.kind == "search" and line.fault == OK for line in log)
    searched = sum(isinstance(event, Searched) for event in events)
    failed = sum(isinstance(event, Failed) and event.detail.startswith("search for") for event in events)
    if hits != searched - failed:
        found.append(f"{hits} searches answered, {searched} reported, {failed} of them as failed")
    return found + _unreported(events, articles)


def _unreported(events: Sequence[Event], articles: Iterable[Article]) -> list[str]:
    """Return differences between the articles' reports and usage and the events."""
    articles = list(articles)
    if not articles:
        return []
    problems = Counter(p.detail for article in articles for p in article.report.problems)
    in_events = Counter(e.detail for e in events if isinstance(e, Failed | Degraded))
    calls = sum(article.usage.calls for article in articles)
    finished = sum(isinstance(event, CallFinished) for event in events)
    found = [f"missing in the report: {detail}" for detail in in_events - problems]
    found += [f"only in the report: {detail}" for detail in problems - in_events]
    return found + [f"usage has {calls} calls, the events {finished}"] * (calls != finished)


def _client_name(line: Line) -> str:
    """Return the fault as the client sees it; for a search, an empty body is truncated JSON."""
    fault = "truncated JSON" if (line.kind, line.fault) == ("search", "empty") else line.fault
    return _CLIENT_NAMES.get(fault, fault)


def _reported(events: Sequence[Event]) -> Tally:
    """Return faults by the events: one per retry, and one per failure without a retry."""
    reported: Tally = Counter()
    for event in events:
        match event:
            case Retried():
                part = _part("search" if event.what == "searxng" else event.stage)
                reported[part, _fault(event.reason) or f"unknown: {event.reason[:200]}"] += 1
            case Failed() | Degraded() if not _NOT_CALLED.search(event.detail) and (fault := _fault(event.detail)):
                reported[_part("search" if event.detail.startswith("search for") else event.stage), fault] += 1
            case _:
                pass
    return reported


def _fault(reason: str) -> str:
    return next((fault for fault, sign in _PATTERNS.items() if re.search(sign, reason)), "")


def _part(name: str) -> str:
    return _PARTS.get(name, name)
