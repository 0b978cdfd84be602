"""A run's folder: each finished piece is saved as it is done, and nothing is ever overwritten by another run."""

import contextlib
import hashlib
import itertools
import json
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from filelock import Timeout
from pydantic import TypeAdapter

from storm_pipeline.errors import RunError
from storm_pipeline.files import UNFINISHED, write_atomically
from storm_pipeline.run import locking
from storm_pipeline.run.events import Event, JsonLinesSink
from storm_pipeline.run.journal import Journal, copy_records
from storm_pipeline.run.locking import locked, new_folder
from storm_pipeline.settings import Settings

FORMAT = 1
"""Version of a run's folder; raised when an older reader would misread it."""
EDITABLE = {"outline": "outline.md", "perspectives": "perspectives.json"}
"""What a user may edit by hand and go on from, and the file that holds it."""
_STATE, _SETTINGS, _JOURNAL, _LOCK = "run.json", "settings.json", "journal.jsonl", "run.lock"
SavedSettings = Mapping[str, Any]
"""What ``settings.json`` holds: names and values of settings, also of such as only other versions have."""


class RunStore:
    """The folder of one run, held by one process at a time. Use it in ``with``.

    Every file is written atomically. ``run.json`` says what the run is and how it stands, ``journal.jsonl`` holds what
    was bought (:class:`storm_pipeline.run.journal.Journal`), ``events.jsonl`` what happened; all others are pieces.

    Attributes:
        folder: where it is.
        state: what ``run.json`` holds.
        journal: the record of what was bought.
        replaced: pieces that were changed or lost since they were written, each with the name it has now ("" if lost).
    """

    def __init__(self, folder: Path, state: Mapping[str, Any], *, as_it_is: bool = False) -> None:
        self.folder = folder
        self.state = dict(state)
        self._lock = locked(folder, _LOCK)
        try:
            self.journal = Journal(folder / _JOURNAL)
            self._sums: dict[str, str] = {}
            self.replaced = {} if as_it_is else dict(self._put_aside())
            self._sweep()
        except BaseException:
            self._lock.release()
            raise

    @classmethod
    def create(cls, root: Path, topic: str, recipe: str, given: Mapping[str, Any] | None = None) -> "RunStore":
        """Make a new folder ``<slug>-<time>`` below ``root``.

        Args:
            root: folder of runs.
            topic: what the run is about.
            recipe: a method that writes articles, or ``outline``.
            given: pieces that the user gives instead of having them made, see :data:`EDITABLE`.

        Raises:
            RunError: the folder cannot be made.
        """
        folder = new_folder(root, f"{slug(topic)}-{time.strftime('%Y%m%d-%H%M%S')}", "a run folder")
        made = {"format": FORMAT, "topic": topic, "recipe": recipe, "given": dict(given or {}), "sessions": 0}
        return cls(folder, made | {"created": round(time.time(), 3)})

    @classmethod
    def open(cls, folder: Path, *, as_it_is: bool = False) -> "RunStore":
        """The folder of a run that was begun before.

        Args:
            folder: where it is.
            as_it_is: leave pieces alone that were changed since they were written.

        Raises:
            RunError: it is none, is damaged, belongs to a newer version, or another process writes to it.
        """
        return cls(folder, read_state(folder), as_it_is=as_it_is)

    def continued(self, root: Path, given: Mapping[str, Any]) -> "RunStore":
        """A new run on the same topic that begins with what this one has bought and with pieces of the user's own.

        Raises:
            RunError: the folder cannot be made or the record not be copied.
        """
        made = RunStore.create(root, self.topic, self.recipe, {**self.state["given"], **given})
        made.close()
        copy_records(self.folder / _JOURNAL, made.folder / _JOURNAL, without="piece")
        made = RunStore(made.folder, made.state)
        made.note(**{"from": self.folder.name})
        return made

    def saved_settings(self) -> SavedSettings:
        """The settings of the last session.

        Raises:
            RunError: they are lost: nothing says which model and engine the run is to use.
        """
        path = self.folder / _SETTINGS
        try:
            saved = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            saved = None
        if not isinstance(saved, dict) or not saved:
            raise RunError(f"{path} is missing or damaged: begin the run anew, or restore the file")
        return saved

    @property
    def topic(self) -> str:
        """What the run is about."""
        return str(self.state["topic"])

    @property
    def recipe(self) -> str:
        """Name of the method; ``outline`` for an outline alone."""
        return str(self.state["recipe"])

    def begin(self, settings: Settings) -> None:
        """Open another session of the run; its number is ``state["sessions"]``."""
        self._write(_SETTINGS, settings.model_dump_json(indent=1) + "\n")
        self.note(sessions=self.state["sessions"] + 1, status="running")

    def end(self, status: str) -> None:
        """Note how the session ended: ``finished``, ``stopped`` or ``failed``; what cannot be noted is not."""
        try:
            self.note(status=status)
        except RunError:
            return  # the run is ending with this very error, or its folder has gone

    def note(self, **facts: Any) -> None:
        """Change what ``run.json`` says.

        Raises:
            RunError: it cannot be written.
        """
        self.state |= facts
        try:
            write_atomically(self.folder / _STATE, json.dumps(self.state, ensure_ascii=False, indent=1) + "\n")
        except OSError as error:
            raise RunError(
                f"cannot write {self.folder / _STATE}: {error.strerror}; free some space or choose --out"
            ) from error

    def piece(self, name: str) -> str | None:
        """Text of a piece that is on the disk as it was written; None if there is none."""
        if name not in self._sums:
            return None
        return (self.folder / name).read_text(encoding="utf-8")

    def save_text(self, name: str, text: str) -> None:
        """Write one piece.

        Raises:
            RunError: the file cannot be written.
        """
        written = _sum(text.encode("utf-8"))
        if self._sums.get(name) == written:
            return
        # Before the file: whenever a process is killed, what stands there is something that is on record.
        self.journal.add("piece", name, written)
        self._write(name, text)
        self._sums[name] = written

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        try:
            if path.parent != self.folder:  # a run's folder that was deleted is not made again
                path.parent.mkdir(exist_ok=True)
            write_atomically(path, text)
        except OSError as error:
            raise RunError(f"cannot write {path}: {error.strerror}; free some space or choose --out") from error

    def save_json(self, name: str, value: Any) -> None:
        """Write dataclasses, models and plain values as indented JSON; errors as :meth:`save_text`."""
        self.save_text(name, _adapter(type(value)).dump_json(value, indent=1).decode("utf-8") + "\n")

    def close(self) -> None:
        """Let other processes have the folder. May be called again."""
        self.journal.close()
        self._lock.release()

    def __enter__(self) -> "RunStore":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _sweep(self) -> None:
        """Delete what a process that was killed had begun to write; nobody else writes here."""
        for path in self.folder.rglob(f".*{UNFINISHED}"):
            with contextlib.suppress(OSError):  # a file too many does no harm
                path.unlink()

    def _put_aside(self) -> Iterator[tuple[str, str]]:
        """Pieces that are no longer what was written: kept under another name, so that they can be made again."""
        for name, written in self.journal.earlier("piece").items():
            path = self.folder / name
            try:
                if (found := _sum(path.read_bytes())) in written:
                    self._sums[name] = found
                    continue
                names = (path.with_name(f"{path.name}.{number}.changed") for number in itertools.count(1))
                aside = next(name for name in names if not name.exists())
                path.rename(aside)
                yield name, aside.name
            except FileNotFoundError:
                yield name, ""
            except OSError as error:
                raise RunError(f"cannot read {path}: {error.strerror}") from error


class LogSink:
    """Appends a run's events to its ``events.jsonl``.

    Raises:
        RunError: from :meth:`emit`, when the disk is full.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "events.jsonl"
        try:
            torn = self._path.exists() and self._path.read_bytes()[-1:] not in (b"", b"\n")
            self._file = self._path.open("a", encoding="utf-8")
            if torn:
                self._file.write("\n")
        except OSError as error:
            raise RunError(f"cannot open {self._path}: {error.strerror}") from error
        self._lines = JsonLinesSink(self._file)

    def emit(self, event: Event) -> None:
        """Write and flush one line."""
        try:
            self._lines.emit(event)
        except OSError as error:
            raise RunError(f"cannot write {self._path}: {error.strerror}; free some space, then resume") from error

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError:  # what could not be written was told by emit
            return


def read_state(folder: Path) -> dict[str, Any]:
    """What a run's ``run.json`` says.

    Raises:
        RunError: there is none, it is damaged, or it belongs to a newer version.
    """
    wanted = {"topic": str, "recipe": str, "given": dict, "sessions": int}
    absent = f"{folder} is no folder of a run: it has no {_STATE}; `storm runs` lists them"
    return locking.read_state(folder / _STATE, FORMAT, wanted, absent=absent)


def is_held(folder: Path) -> bool:
    """Whether a process is writing to a run's folder; no, where that cannot be told."""
    try:
        locked(folder, _LOCK).release()
    except RunError as error:
        return isinstance(error.__cause__, Timeout)
    return False


_adapters: dict[type, TypeAdapter[Any]] = {}


def _adapter(kind: type) -> TypeAdapter[Any]:
    """Made once a type: making one takes longer than what it writes."""
    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def _sum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def slug(topic: str) -> str:
    """The topic as a file name: words joined by hyphens, at most 60 characters, never empty."""
    return re.sub(r"[\W_]+", "-", topic.casefold()).strip("-")[:60].rstrip("-") or "topic"
