"""Losses and changes of a run's files, detected by comparing them with each other."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from storm_pipeline.errors import DamagedRunError, RunError
from storm_pipeline.run.events import CallFinished, Event, adapter_of, read_events
from storm_pipeline.run.journal import Journal
from storm_pipeline.text.files import read_plain
from storm_pipeline.text.formatting import amount, dollars, printable, shorten
from storm_pipeline.types import is_plausible

STATE, SETTINGS, JOURNAL, EVENTS = "run.json", "settings.json", "journal.jsonl", "events.jsonl"
FILE = "file"
"""Kind of the journal's records of run.json and settings.json, recorded before they are written."""
LoggedEvents = tuple[tuple[float, Event], ...]
"""Events of a run, oldest first, each with its time in seconds since 1970."""
_TOLERATED = 10  # a run continues without consent if at most one reply, or one in this many, is lost
_LONGEST = 60  # maximum characters shown of a changed value
_LASTING = ("topic", "recipe", "given", "created", "engine", "from")  # constant fields of run.json


@dataclass(frozen=True)
class Findings:
    """Findings of a comparison of a run's files, one sentence each."""

    notes: tuple[str, ...] = ()  # findings that cost little: the run continues
    # findings that may cost as much as the run, or change its article: it needs the user's consent
    costly: tuple[str, ...] = ()

    def require_consent(self, folder: Path) -> None:
        """Raise DamagedRunError if there are costly findings."""
        if self.costly:
            raise DamagedRunError(folder, self.costly)


def logged_events(folder: Path) -> LoggedEvents:
    """Return the events of a run's earlier sessions in ``events.jsonl``. Raises RunError: the file cannot be read."""
    log = folder / EVENTS
    try:
        return tuple(read_events(log)) if log.exists() else ()
    except OSError as error:
        raise RunError(f"cannot read {log}: {error.strerror}") from error


def examine(folder: Path, state: Mapping[str, Any], journal: Journal, events: LoggedEvents) -> Findings:
    """Compare the files of a run and return the findings. Raises RunError: a file cannot be read."""
    if not (folder / STATE).exists():  # a new run
        return Findings()
    logged = [event for _, event in events if isinstance(event, CallFinished)]
    kept = len(journal.own_calls)
    lost = _lost_replies(logged, kept, empty=journal.is_empty)
    grave = journal.is_empty or (len(logged) - kept > max(1, len(logged) // _TOLERATED))
    edited = [note for name in (STATE, SETTINGS) if (note := _find_edits(folder / name, state, journal))]
    return Findings(
        notes=(*([lost] if lost and not grave else ()), *_lost_events(folder / EVENTS, len(logged), kept)),
        costly=(*([lost] if lost and grave else ()), *edited),
    )


def with_recorded_calls(events: LoggedEvents, journal: Journal) -> LoggedEvents:
    """Return the events, with calls replaced by the journal's if those are more."""
    calls = list(recorded_calls(journal))
    if len(calls) <= sum(isinstance(event, CallFinished) for _, event in events):
        return events
    others = [(at, event) for at, event in events if not isinstance(event, CallFinished)]
    last = others[-1][0] if others else 0.0
    return (*others, *((last, call) for call in calls))


def recorded_content(journal: Journal, name: str) -> dict[str, Any] | None:
    """Return the last content of run.json or settings.json on record; None if there is none."""
    contents = _contents(journal, name)
    return contents[-1] if contents else None


def _lost_replies(logged: Sequence[CallFinished], kept: int, *, empty: bool) -> str:
    if empty and not logged:
        return f"{JOURNAL} is lost: all that the run had bought before, if anything, is bought again"
    lost = len(logged) - kept
    if lost <= 0:
        return ""
    share = lost / len(logged)
    tokens = round(share * sum(call.tokens_in + call.tokens_out for call in logged))
    costs = [call.cost for call in logged if call.cost is not None]
    price = dollars(share * sum(costs)) if len(costs) == len(logged) else "price unknown"
    what = f"{JOURNAL} is lost" if empty else f"{JOURNAL} is damaged"
    return (
        f"{what}: {lost} of {len(logged)} replies of models are bought again, about {amount(tokens)} tokens "
        f"({price}), and the searches that are missing"
    )


def _lost_events(log: Path, logged: int, kept: int) -> Iterator[str]:
    """Yield a note if spending is not in the log of events."""
    if not log.exists():
        yield (
            f"{EVENTS} is lost: what was spent is counted from {JOURNAL}; --max-minutes counts from now, and "
            "`storm show` shows no earlier session"
        )
    elif kept > logged:
        yield f"{EVENTS} lacks {kept - logged} calls, which are counted from {JOURNAL}"


def _find_edits(path: Path, state: Mapping[str, Any], journal: Journal) -> str:
    """Return how a file differs from its recorded content; empty if equal or not recorded."""
    contents = _contents(journal, path.name)
    if not contents:
        return ""
    try:
        present = dict(state) if path.name == STATE else json.loads(read_plain(path))
    except (FileNotFoundError, ValueError, RecursionError):
        present = None
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error
    if not isinstance(present, dict) or not present:
        return f"{path.name} is missing or damaged: its content on record in {JOURNAL} is used"
    written: dict[str, list[Any]] = {}
    for content in contents:
        for name in content if path.name == SETTINGS else content.keys() & _LASTING:
            written.setdefault(name, []).append(content[name])
    changed = [name for name in written if present.get(name) not in written[name]]
    if not changed:
        return ""
    changes = [
        f"{shorten(name, _LONGEST)} from {_excerpt(written[name][-1])} to {_excerpt(present.get(name))}"
        for name in sorted(changed)[:_TOLERATED]
    ]
    changes += [f"{len(changed) - _TOLERATED} more"] if len(changed) > _TOLERATED else []
    return f"{path.name} was edited or damaged: {printable(', '.join(changes))}; what depends on it is bought again"


def _excerpt(value: Any) -> str:
    return shorten(json.dumps(value, ensure_ascii=False), _LONGEST)


def _contents(journal: Journal, name: str) -> Sequence[dict[str, Any]]:
    return [content for content in journal.earlier(FILE).get(name, ()) if isinstance(content, dict)]


def recorded_calls(journal: Journal) -> Iterator[CallFinished]:
    """Yield the calls in a journal, without absurd numbers, which could exceed a cap."""
    for call in journal.own_calls:
        with suppress(ValidationError):
            made: CallFinished = adapter_of(CallFinished).validate_python(call)
            if is_plausible(made):
                yield made
