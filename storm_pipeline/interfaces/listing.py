"""List of the runs below a folder with their state; read-only, safe with active runs."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from storm_pipeline.errors import RunError, unforeseen
from storm_pipeline.interfaces.batch.batch_folder import is_batch, read_batch
from storm_pipeline.run.events import LATEST, read_events
from storm_pipeline.run.folder import is_held, read_state
from storm_pipeline.run.timeline import Timeline, timeline
from storm_pipeline.types import Usage

Saved = Literal["queued", "finished", "stopped", "failed"]
State = Saved | Literal["running", "interrupted", "unclear", "unreadable", "batch", "no run"]
"""State of a run.

``queued``: it waits for its first session; ``interrupted``: it was started, and no process holds it; ``unclear``: its
lock cannot be tested; ``unreadable``: damaged or of a newer version; ``batch``: a batch's folder.
"""


@dataclass(frozen=True)
class RunEntry:
    """A folder that may hold a run."""

    folder: Path  # path of the folder
    state: State  # state of the run
    topic: str = ""  # topic of the run; for a batch, the last saved states of its topics; empty if unreadable
    created: float | None = None  # seconds since 1970; None if unreadable
    sessions: int = 0  # number of sessions so far
    usage: Usage | None = None  # usage of all sessions so far; None if unreadable
    reason: str = ""  # reason why the last session ended early; may be empty
    problem: str = ""  # read error; else empty


def list_runs(root: Path) -> tuple[RunEntry, ...]:
    """List every folder below ``root`` except hidden ones, and the runs inside batches, newest first.

    Folders without a run come last. Raises RunError: ``root`` cannot be read.
    """
    try:
        folders = _folders(root)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise RunError(f"cannot list the runs in {root}: {error.strerror}; name another folder with --out") from error
    entries = [entry for folder in sorted(folders, reverse=True) for entry in _entries(folder)]
    return tuple(sorted(entries, key=lambda entry: entry.created or 0.0, reverse=True))


def _folders(root: Path) -> list[Path]:
    return [
        path for path in root.iterdir() if path.is_dir() and not path.is_symlink() and not path.name.startswith(".")
    ]


def _entries(folder: Path) -> Iterator[RunEntry]:
    entry = safe_entry(folder)
    if is_batch(folder):
        try:
            yield from map(safe_entry, sorted(_folders(folder), reverse=True))
        except OSError as error:
            entry = replace(entry, problem=f"cannot list the runs in it: {error.strerror}")
    yield entry


def safe_entry(folder: Path) -> RunEntry:
    """Return the result of :func:`run_entry`, or an entry with the problem if it raises an unforeseen error."""
    try:
        return run_entry(folder)
    except Exception as error:  # noqa: BLE001 - shown in the entry
        return RunEntry(folder, "unreadable", problem=unforeseen(error))


def _batch_entry(folder: Path) -> RunEntry:
    try:
        state = read_batch(folder)
    except RunError as error:
        return RunEntry(folder, "unreadable", problem=str(error))
    states = ", ".join(f"{number} {name}" for name, number in Counter(row.state for row in state["topics"]).items())
    return RunEntry(folder, "batch", f"{len(state['topics'])} topics: {states}", _time(state.get("created")))


def run_entry(folder: Path) -> RunEntry:
    """Return the entry of the run in a folder, with read errors in its ``problem``."""
    if is_batch(folder):
        return _batch_entry(folder)
    try:
        state = read_state(folder)
    except RunError as error:
        if not (folder / "run.json").exists():
            return RunEntry(folder, "no run", problem="it has no run.json")
        return RunEntry(folder, "unreadable", problem=str(error))
    usage, reason, problem = Usage() if not state["sessions"] else None, str(state.get("reason", "")), ""
    try:
        usage, ended = _summary(folder, *_stamp(folder / "events.jsonl"))
        reason = reason or ended
    except RunError as error:
        problem = "" if usage else str(error)
    created, sessions = _time(state.get("created")), state["sessions"]
    return RunEntry(folder, _state_of(folder, state), state["topic"], created, sessions, usage, reason, problem)


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        facts = path.stat()
    except OSError:
        return ()
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


@lru_cache(1000)
def _summary(folder: Path, *_stamp: int) -> tuple[Usage, str]:
    """Return what the events of a run say of its usage and of why it ended; kept until the file changes."""
    timeline = read_timeline(folder)
    return timeline.usage, timeline.sessions[-1].reason if timeline.sessions else ""


def run_state(folder: Path) -> State:
    """Return the state of the run in a folder, without reading its events."""
    try:
        return _state_of(folder, read_state(folder))
    except RunError:
        return "unreadable" if (folder / "run.json").exists() else "no run"


def read_timeline(folder: Path, *, running: bool = False) -> Timeline:
    """Return the timeline of the run in a folder, from its ``events.jsonl``; damaged lines are skipped.

    ``running``: as for :func:`storm_pipeline.run.timeline.timeline`. Raises RunError: the file is missing or cannot be
    read.
    """
    path = folder / "events.jsonl"
    try:
        return timeline(read_events(path), running=running)
    except FileNotFoundError as error:
        raise RunError(f"{folder} holds no events of a run: it has no {path.name}; `storm runs` lists runs") from error
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error


def _time(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value < LATEST else None


def _state_of(folder: Path, state: dict[str, Any]) -> State:
    """Return the state in ``run.json``, or test the run's lock if the file says that it is running.

    If the lock is free, the file is read again, since the run may have ended after ``state`` was read.
    """
    if saved := _saved_state(state):
        return saved
    lock = folder / "run.lock"
    if not lock.exists():
        return "interrupted"
    if not os.access(lock, os.W_OK):
        return "unclear"
    return "running" if is_held(folder) else _saved_state(read_state(folder)) or "interrupted"


def _saved_state(state: dict[str, Any]) -> Saved | None:
    return next((known for known in get_args(Saved) if known == state.get("status")), None)
