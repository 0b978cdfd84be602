"""A run's folder: pieces are saved once finished, and no run overwrites another."""

import contextlib
import hashlib
import itertools
import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from storm_pipeline.errors import RunError
from storm_pipeline.run import integrity, locking
from storm_pipeline.run.events import json_text
from storm_pipeline.run.journal import Journal, copy_records
from storm_pipeline.run.locking import lock_folder
from storm_pipeline.run.replica import RUN_LOCK, current_disk
from storm_pipeline.settings import MAX_TOPIC_LENGTH, Settings
from storm_pipeline.text.files import UNFINISHED, read_plain, write_errors_as

FORMAT = 1  # version of the folder's format; incremented when an older reader would misread it
EDITABLE = {"outline": "outline.md", "perspectives": "perspectives.json"}
"""Pieces that a user may edit and continue from → their files."""
SavedSettings = Mapping[str, Any]
"""Content of ``settings.json``: names and values of settings, possibly of another version."""


class RunStore:
    """The folder of one run, locked by one process at a time. Use it in ``with``.

    Every file is written atomically. ``run.json`` holds topic, recipe and status, ``journal.jsonl`` all replies and
    searches (:class:`storm_pipeline.run.journal.Journal`), ``events.jsonl`` the events; all others are pieces.
    """

    def __init__(
        self, folder: Path, state: Mapping[str, Any], *, keep_edited: bool = False, accept_damage: bool = False
    ) -> None:
        self.folder = folder
        self.state = dict(state)
        self.is_new = False  # whether this object made the folder
        self._discarded = False
        self._disk = current_disk()
        self._lock = lock_folder(folder, RUN_LOCK)
        try:
            self.journal = Journal(folder / integrity.JOURNAL)
            logged = integrity.logged_events(folder)
            self.earlier_events = integrity.with_recorded_calls(logged, self.journal)
            # losses and changes of ``run.json``, ``settings.json``, the journal and the events
            self.findings = integrity.examine(folder, self.state, self.journal, logged)
            if not accept_damage:
                self.findings.require_consent(folder)
            self._sums: dict[str, str] = {}
            # pieces changed or lost since they were written → their new name ("" if missing)
            self.replaced = {} if keep_edited else dict(self._move_changed_aside())
            self._delete_unfinished()
        except BaseException:
            self._lock.release()
            raise

    @classmethod
    def create(cls, root: Path, topic: str, recipe: str, given: Mapping[str, Any] | None = None) -> "RunStore":
        """Make a new folder ``<slug>-<time>`` below ``root``.

        Args:
            recipe: a method that writes articles, or ``outline``.
            given: content of the user's pieces, see :data:`EDITABLE`.

        Raises RunError: the folder cannot be made.
        """
        folder = current_disk().new_folder(root, f"{slug(topic)}-{time.strftime('%Y%m%d-%H%M%S')}")
        state = {"format": FORMAT, "topic": topic, "recipe": recipe, "given": dict(given or {})}
        store = cls(folder, state | {"sessions": 0, "created": round(time.time(), 3)})
        store.is_new = True
        return store

    @classmethod
    def open(cls, folder: Path, *, keep_edited: bool = False, accept_damage: bool = False) -> "RunStore":
        """Open the folder of an existing run.

        ``keep_edited``: keep pieces that were changed since they were written, instead of renaming them;
        ``accept_damage``: continue although files were lost or changed, which may repeat paid calls. Raises
        DamagedRunError: files were lost or changed, and ``accept_damage`` is not set; RunError: not a run's folder,
        damaged, of a newer version, or locked by another process.
        """
        return cls(folder, read_state(folder), keep_edited=keep_edited, accept_damage=accept_damage)

    def fork(self, root: Path, given: Mapping[str, Any], recipe: str) -> "RunStore":
        """Make a new run on the same topic by a method, with a copy of this run's journal and the user's pieces.

        Raises RunError: the folder cannot be made, or the journal cannot be copied.
        """
        new = RunStore.create(root, self.topic, recipe, {**self.state["given"], **given})
        new.close()
        journal = new.folder / integrity.JOURNAL
        with deleted_on_failure(new.folder):
            copy_records(self.folder / integrity.JOURNAL, journal, without={"piece", integrity.FILE})
            new = RunStore(new.folder, new.state)
            new.is_new = True
            new.update_state(**{"from": self.folder.name})
        return new

    def saved_settings(self) -> SavedSettings:
        """Return the settings of the last session; from the journal if the file is missing or damaged.

        Raises RunError: the file is missing or damaged, and the journal has no settings.
        """
        path = self.folder / integrity.SETTINGS
        try:
            saved: Any = json.loads(read_plain(path))
        except (OSError, ValueError, RecursionError):
            saved = None
        if isinstance(saved, dict) and saved:
            return saved
        if recorded := integrity.recorded_content(self.journal, integrity.SETTINGS):
            return recorded
        raise RunError(f"{path} is missing or damaged: restore the file, or start a new run")

    @property
    def home(self) -> Path:
        """The folder for the user: of a run in a worker, on the machine of the driver."""
        return self._disk.home(self.folder)

    @property
    def topic(self) -> str:
        """Topic of the run."""
        return str(self.state["topic"])

    @property
    def recipe(self) -> str:
        """Name of the method; begins with ``outline`` if the run only makes an outline."""
        return str(self.state["recipe"])

    @property
    def created(self) -> str | None:
        """ISO date (UTC) of the run's start; None if ``run.json`` does not have it."""
        with contextlib.suppress(KeyError, TypeError, ValueError, OverflowError, OSError):
            return datetime.fromtimestamp(float(self.state["created"]), UTC).date().isoformat()
        return None

    def queue(self, settings: Settings, chosen_by: Mapping[str, str]) -> None:
        """Save the settings of a run that begins later, and its status ``queued``."""
        self._save_settings(settings)
        self.update_state(status="queued", chosen_by=dict(chosen_by))

    def begin(self, settings: Settings, chosen_by: Mapping[str, str] | None = None) -> None:
        """Start another session of the run; its number is ``state["sessions"]``.

        ``chosen_by``: setting of a model → who chose it.
        """
        self._save_settings(settings)
        self.state.pop("reason", None)
        self.update_state(
            sessions=self.state["sessions"] + 1,
            status="running",
            **({"chosen_by": dict(chosen_by)} if chosen_by else {}),
        )

    def _save_settings(self, settings: Settings) -> None:
        text = settings.model_dump_json(indent=1)
        self.journal.add(integrity.FILE, integrity.SETTINGS, json.loads(text))
        self._write(integrity.SETTINGS, text + "\n")

    def end(self, status: str, reason: str = "") -> None:
        """Save how the session ended: ``finished``, ``stopped`` or ``failed``. Write errors are ignored.

        ``reason``: the reason, if no session recorded it as an event.
        """
        with contextlib.suppress(RunError):  # the run is ending with this error, or its folder was deleted
            self.update_state(status=status, **({"reason": reason} if reason else {}))

    def update_state(self, **fields: Any) -> None:
        """Set fields of ``run.json``. Raises RunError: it cannot be written."""
        self.state |= fields
        self.journal.add(integrity.FILE, integrity.STATE, self.state)
        self._write(integrity.STATE, json.dumps(self.state, ensure_ascii=False, indent=1) + "\n")

    def piece(self, name: str) -> str | None:
        """Return the text of a piece that is unchanged since it was written; None if there is none."""
        if name not in self._sums:
            return None
        return (self.folder / name).read_text(encoding="utf-8")

    def save_text(self, name: str, text: str) -> None:
        """Write one piece. Raises RunError: the file cannot be written."""
        checksum = _sum(text.encode("utf-8"))
        if self._sums.get(name) == checksum:
            return
        # Journalled before the file is written: the checksum is on record even if the process is killed.
        self.journal.add("piece", name, checksum)
        self._write(name, text)
        self._sums[name] = checksum

    def _write(self, name: str, text: str) -> None:
        path = self.folder / name
        with write_errors_as(RunError, path, " or choose --out"):
            if path.parent != self.folder:  # do not recreate a run's folder that was deleted
                path.parent.mkdir(exist_ok=True)
            self._disk.write(path, text)

    def save_json(self, name: str, value: Any) -> None:
        """Write dataclasses, models and plain values as indented JSON; errors as :meth:`save_text`."""
        self.save_text(name, json_text(value))

    def discard(self) -> None:
        """Delete the folder on closing, if the run could not begin."""
        self._discarded = True

    def close(self) -> None:
        """Release the folder. Idempotent."""
        self.journal.close()
        self._lock.release()
        if self._discarded:
            self._disk.delete(self.folder)

    def __enter__(self) -> "RunStore":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _delete_unfinished(self) -> None:
        for path in self.folder.rglob(f".*{UNFINISHED}"):
            with contextlib.suppress(OSError):  # harmless if it stays
                path.unlink()

    def _move_changed_aside(self) -> Iterator[tuple[str, str]]:
        """Rename pieces that were changed since they were written, so that they are made again."""
        for name, checksums in self.journal.earlier("piece").items():
            if not _is_piece(name):
                continue
            path = self.folder / name
            try:
                if (checksum := _sum(read_plain(path))) in checksums:
                    self._sums[name] = checksum
                    continue
                names = (path.with_name(f"{path.name}.{number}.changed") for number in itertools.count(1))
                aside = next(name for name in names if not name.exists())
                self._disk.rename(path, aside)
                yield name, aside.name
            except FileNotFoundError:
                yield name, ""
            except OSError as error:
                raise RunError(f"cannot read {path}: {error.strerror}") from error


@contextlib.contextmanager
def deleted_on_failure(folder: Path) -> Iterator[None]:
    """Delete a new run's folder if the block fails, so that none is left that nobody owns."""
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _is_piece(name: str) -> bool:
    """Return whether a name stays in the folder and is a piece's, since a foreign journal may contain any text."""
    path, records = Path(name), {integrity.STATE, integrity.SETTINGS, integrity.JOURNAL, integrity.EVENTS, RUN_LOCK}
    is_inside = bool(path.parts) and not path.is_absolute() and ".." not in path.parts and "\0" not in name
    return is_inside and path.as_posix().casefold() not in records


def read_state(folder: Path) -> dict[str, Any]:
    """Return the content of a run's ``run.json``. Raises RunError: it is absent, damaged, or of a newer version."""
    required = {"topic": str, "recipe": str, "given": dict, "sessions": int}
    absent = f"{folder} is not a run's folder: it has no {integrity.STATE}; `storm runs` lists the runs"
    state = locking.read_state(folder / integrity.STATE, FORMAT, required, absent=absent)
    if len(state["topic"]) > MAX_TOPIC_LENGTH:
        raise RunError(f"{folder / integrity.STATE} is damaged: its topic has {len(state['topic']):,} characters")
    return state


def is_held(folder: Path) -> bool:
    """Return whether a process holds a run's folder; False if that cannot be determined."""
    return locking.is_held(folder, RUN_LOCK)


def _sum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def slug(topic: str) -> str:
    """Return the topic as a file name: words joined by hyphens, 1 to 60 characters and at most 100 bytes of UTF-8.

    File systems limit names to 255 bytes, some to 143; callers add a number, a time and suffixes.
    """
    words = re.sub(r"[\W_]+", "-", topic.casefold()).strip("-")[:60]
    return words.encode("utf-8", "ignore")[:100].decode("utf-8", "ignore").rstrip("-") or "topic"
