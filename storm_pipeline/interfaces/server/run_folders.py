"""The runs of a server: folders that are found by name in a listing, never by a path from a request."""

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from uuid import uuid4

from pydantic import Field

from storm_pipeline.errors import RunError
from storm_pipeline.interfaces.listing import RunEntry, run_entry, run_state, safe_entry
from storm_pipeline.interfaces.server.callers import OWNER, Caller, digest
from storm_pipeline.interfaces.server.errors import ConflictError, UnknownRunError
from storm_pipeline.interfaces.server.records import RunRecord, RunRecords
from storm_pipeline.interfaces.server.redaction import plain_name
from storm_pipeline.interfaces.server.remote_settings import BY_VALUE
from storm_pipeline.recipes import recipe_of_run
from storm_pipeline.run.article_json import from_json
from storm_pipeline.run.events import LATEST
from storm_pipeline.run.folder import RunStore, SavedSettings, read_state
from storm_pipeline.run.integrity import SETTINGS
from storm_pipeline.settings import EXTRACTING
from storm_pipeline.text.files import LARGEST, is_plain, read_plain, require_few, values_of, walk
from storm_pipeline.text.formatting import is_printable
from storm_pipeline.types import Article

_NO_RUN = ("batch", "no run")
RUNS = 500  # maximum runs of a caller with a named token
RUN_BYTES = RUNS * LARGEST // 32  # maximum total size of these runs; beyond it, no run begins
_LONGEST_LINE = 2**20  # bytes of an event
RUN = r"^[^./\\\x00][^/\\\x00]*$"
"""Regular expression for names of runs."""
State = Literal["queued", "running", "finished", "stopped", "failed", "interrupted", "unclear", "unreadable"]
"""States of a run, see :data:`storm_pipeline.interfaces.listing.State`."""


@dataclass(frozen=True)
class RunView:
    """A run in the form for callers."""

    run: Annotated[str, Field(description="Its name.")]
    topic: Annotated[str, Field(description="Its topic; empty if it cannot be read.")]
    makes: Annotated[Literal["article", "outline"], Field(description="What it makes.")]
    recipe: Annotated[str, Field(description="The method; empty if it cannot be read.")]
    lm: Annotated[
        str, Field(description="The model that writes; `embedded`: none, an extract; empty if it cannot be read.")
    ]
    length: Annotated[str, Field(description="The article's length as it was set; empty if it cannot be read.")]
    article_language: Annotated[str, Field(description="Its language as it was set; empty if it cannot be read.")]
    state: Annotated[State, Field(description="All but `queued`, `running` and `finished` can be resumed.")]
    reason: Annotated[str, Field(description="Reason why it ended early; else empty.")]
    position: Annotated[int | None, Field(description="Its place among the runs that wait, from 1; null if none.")]
    created: Annotated[str | None, Field(description="ISO time (UTC); null if unknown.")]
    sessions: Annotated[int, Field(description="Sessions so far.")]
    calls: Annotated[int, Field(description="Model calls so far.")]
    tokens_in: Annotated[int, Field(description="Prompt tokens so far.")]
    tokens_out: Annotated[int, Field(description="Completion tokens so far.")]
    cost: Annotated[float | None, Field(description="US dollars so far; null if unknown.")]
    caller: Annotated[str, Field(description="Name of its caller's token; empty for the server's owner.")]
    documents: Annotated[str | None, Field(description="Name of the set of documents that it searches, if any.")]
    ready: Annotated[bool, Field(description="Whether its article or outline can be fetched.")]
    shared: Annotated[bool, Field(description="Whether its article has a read-only link.")]


class RunFolders:
    """The runs directly below a folder, and the server's records of them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.records = RunRecords(root)

    def require_room(self, caller: str, more: int = 0) -> None:
        """Check that a caller may have ``more`` further runs. Raises ConflictError, RunError: too many.

        ``caller``: name of the token; empty for the owner, who has no limit.
        """
        if not caller:
            return
        held = [folder for name, folder in self.names().items() if self.records.get(name).caller == caller]
        if len(held) + more > RUNS or sum(map(_size, held)) > RUN_BYTES:
            raise ConflictError(
                f"a caller may have {RUNS} runs, of {RUN_BYTES:,} bytes together, and you have {len(held)}: delete some"
            )

    def path(self, name: str) -> Path:
        """Return the folder of the run with this name, or raise UnknownRunError if there is none."""
        folder = self.names().get(name)
        if folder is None or not (folder / "run.json").is_file():
            raise UnknownRunError("there is no run of this name")
        return folder

    def views(self, most: int, caller: Caller = OWNER) -> tuple[RunView, ...]:
        """Return the newest runs of a caller, newest first, or raise RunError if the folder cannot be read."""
        known = sorted(self.names().items(), reverse=True)
        visible = [folder for name, folder in known if caller.has_access(self.records.get(name).caller)]
        newest = sorted(visible, key=_creation_time, reverse=True)
        entries = map(safe_entry, newest)  # only read events of the runs shown
        return tuple(map(self._view, islice((entry for entry in entries if entry.state not in _NO_RUN), most)))

    def newest(self) -> Iterator[Path]:
        """Yield the folders of the newest runs, the most recently changed ones first."""
        yield from islice(sorted(self.names().values(), key=_changed, reverse=True), 20)

    def view(self, name: str) -> RunView:
        """Return one run, or raise UnknownRunError if there is none."""
        return self._view(run_entry(self.path(name)))

    def record(self, name: str) -> RunRecord:
        """Return the record of a run, or raise UnknownRunError if there is no such run."""
        self.path(name)
        return self.records.get(name)

    def own_settings(self, name: str) -> SavedSettings:
        """Return a run's settings, less models and engines that no caller chose, or raise as :meth:`settings`."""
        known, saved = self.records.get(name).services, self.settings(name)
        return {
            key: value for key, value in saved.items() if key not in BY_VALUE or (key in known and known[key] == value)
        }

    def state(self, name: str) -> str:
        """Return the state of a run, without reading its usage, or raise UnknownRunError if there is none."""
        return run_state(self.path(name))

    def unfinished(self) -> tuple[str, ...]:
        """Return the names of waiting and interrupted runs, oldest first, or raise RunError as :meth:`names`."""
        known = sorted(self.names().values(), key=_creation_time)
        return tuple(folder.name for folder in known if run_state(folder) in ("queued", "interrupted"))

    def end(self, name: str, status: str, reason: str) -> None:
        """Record why a waiting run will not start; no effect on other runs.

        Raises UnknownRunError, RunError: unknown, cannot be written, or locked by another process.
        """
        with RunStore.open(self.path(name), keep_edited=True) as run:
            if run.state.get("status") == "queued":
                run.end(status, reason)

    def delete(self, name: str) -> None:
        """Delete a run that no process holds. Raises UnknownRunError, RunError: unknown, or cannot be deleted."""
        folder = self.path(name)
        trash = folder.with_name(f".deleted-{uuid4().hex}")  # disappears atomically
        try:
            folder.rename(trash)
            self.records.delete(name)
            shutil.rmtree(trash)
        except OSError as error:
            raise RunError(f"the run cannot be deleted: {error.strerror}") from error

    def settings(self, name: str) -> SavedSettings:
        """Return the settings of a run's last session.

        Raises UnknownRunError, RunError: unknown run, unreadable settings, or another process writes to the run.
        """
        with RunStore.open(self.path(name), keep_edited=True) as run:
            return run.saved_settings()

    def article(self, name: str) -> Article:
        """Return the article of a run.

        Raises UnknownRunError, ConflictError, RunError: unknown run, no article yet, or a damaged one.
        """
        return from_json(self._piece(name, "article.json", "article"))

    def outline(self, name: str) -> str:
        """Return a run's outline as Markdown, or raise UnknownRunError or ConflictError as :meth:`article` does."""
        return self._piece(name, "outline.md", "outline")

    def share(self, name: str) -> str:
        """Return the key of a new read-only link to a run's article, which replaces an earlier one; its hash is kept.

        Raises UnknownRunError, ConflictError, RunError: no such run, no article yet, or it cannot be recorded.
        """
        self.article(name)
        key = secrets.token_urlsafe(32)
        self.records.update(name, shared=digest(key))
        return key

    def unshare(self, name: str) -> None:
        """Make a run's link invalid. Raises UnknownRunError, RunError: as :meth:`share`."""
        self.path(name)
        self.records.update(name, shared="")

    def shared(self, key: str) -> str:
        """Return the name of the run with a link of this key. Raises UnknownRunError: there is none."""
        if (name := self.records.shared(digest(key))) and name in self.names():
            return name
        raise UnknownRunError("there is no article at this address: it was not shared, or is not any more")

    def _piece(self, name: str, file: str, what: str) -> str:
        try:
            return read_plain(self.path(name) / file).decode("utf-8")
        except FileNotFoundError as error:
            raise ConflictError(f"the run has no {what} yet: it is not finished, or makes none") from error
        except (OSError, ValueError) as error:
            raise RunError(f"the {what} of the run cannot be read: resume the run") from error

    def _view(self, entry: RunEntry) -> RunView:
        state = _state(entry.folder)
        recipe, saved = str(state.get("recipe", "")), _settings(entry.folder)
        record = self.records.get(entry.folder.name)
        _, is_outline = recipe_of_run(recipe)
        counts = {name: getattr(entry.usage, name, 0) for name in ("calls", "tokens_in", "tokens_out")}
        return RunView(
            run=entry.folder.name,
            topic=entry.topic,
            makes="outline" if is_outline else "article",
            recipe=recipe,
            lm=EXTRACTING
            if saved.get("writing") == "sentences"
            else plain_name(saved.get("writer_lm") or saved.get("lm", "")),
            length=saved.get("length", ""),
            article_language=saved.get("article_language", ""),
            state=cast("State", entry.state),  # a run, so neither a batch nor another folder
            reason=entry.reason,
            position=None,
            created=None if entry.created is None else datetime.fromtimestamp(entry.created, UTC).isoformat(),
            sessions=entry.sessions,
            **counts,
            cost=entry.usage.cost if entry.usage else None,
            ready=(entry.folder / ("outline.md" if is_outline else "article.json")).is_file(),
            caller=record.caller,
            documents=record.documents,
            shared=bool(record.shared),
        )

    def names(self) -> dict[str, Path]:
        """Return the folders by name, without links, hidden ones and names with control characters.

        Raises RunError: they cannot be listed.
        """
        try:
            with os.scandir(self._root) as scan:
                names = [entry.name for entry in scan if entry.is_dir(follow_symlinks=False) and entry.name[0] != "."]
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise RunError(f"the folder of runs cannot be read: {error.strerror}") from error
        return {name: self._root / name for name in names if is_printable(name)}


def _state(folder: Path) -> dict[str, Any]:
    """Return the content of ``run.json``; empty if unreadable."""
    with suppress(RunError):
        return read_state(folder)
    return {}


def _settings(folder: Path) -> dict[str, str]:
    """Return the texts among a run's settings; none if they cannot be read."""
    with suppress(OSError, ValueError, RecursionError, AttributeError):
        saved = json.loads(read_plain(folder / SETTINGS))
        return {name: value for name, value in saved.items() if isinstance(value, str) and is_printable(value)}
    return {}


def _changed(folder: Path) -> float:
    with suppress(OSError):
        return folder.stat().st_mtime
    return 0.0


def _size(folder: Path) -> int:
    """Return the total size of the files in a folder and those below it, as far as they can be read."""
    total = 0
    for top, _, files in walk(folder):
        for file in files:
            with suppress(OSError):
                total += os.lstat(os.path.join(top, file)).st_size  # noqa: PTH118 - for speed
    return total


def _creation_time(folder: Path) -> float:
    created = _state(folder).get("created")
    return float(created) if isinstance(created, int | float) and 0 <= created < LATEST else 0.0


class EventFile:
    """Reader of a run's ``events.jsonl`` that returns new events with their line numbers, which start at 1."""

    def __init__(self, folder: Path, after: int = 0) -> None:
        self._path = folder / "events.jsonl"
        self._after = after
        self._is_long = False  # whether the offset is within a very long line
        self._number = self._offset = self._values = 0

    def read(self) -> Iterator[tuple[int, dict[str, object]]]:
        """Yield the events written since the last call, without damaged, unfinished and very long lines.

        Reads line by line, so that other threads go on. Raises RunError: the file is larger than that of a run.
        """
        if not is_plain(self._path):
            return
        with suppress(OSError), self._path.open("rb") as file:
            file.seek(self._offset)
            while (line := file.readline(_LONGEST_LINE)).endswith(b"\n") or len(line) == _LONGEST_LINE:
                self._offset += len(line)
                self._values += values_of(line)
                try:
                    require_few(self._path, values=self._values, lines=self._number)
                except OSError as error:
                    raise RunError(f"the events of the run cannot be read: {error.strerror}") from error
                is_whole, self._is_long = not self._is_long and line.endswith(b"\n"), not line.endswith(b"\n")
                self._number += not self._is_long
                with suppress(ValueError, RecursionError):
                    record = json.loads(line) if is_whole and self._number > self._after else None
                    if isinstance(record, dict):
                        yield self._number, record
