"""Runs in workers: each write of a run's folder reaches the disk of the driver before the run continues.

The driver has one :class:`Recorder`. A worker writes a run in a folder of its own machine by a :class:`Replica`, which
sends every write to the recorder first. A task that is placed anew, because its worker died, starts from the driver's
files, so its paid replies are not bought again; calls of its earlier attempts are refused.
"""

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import storm_pipeline
from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.run.concurrency import in_own_thread
from storm_pipeline.run.limits import MINUTE, Limits, in_force, within
from storm_pipeline.run.locking import lock_folder, new_folder
from storm_pipeline.text.files import UNFINISHED, read_plain, write_atomically, write_errors_as

if TYPE_CHECKING:
    from filelock import BaseFileLock

RUN_LOCK, RUN_STATE = "run.lock", "run.json"
_WRITES = frozenset({"new_folder", "write", "append", "rename", "delete"})  # methods of the recorder
Link = Callable[..., Any]
"""Calls a method of the recorder by its name, from any thread, and returns its result or raises its error."""


class Disk:
    """Durable writes of runs' files on this machine. All raise OSError or RunError if they fail."""

    def new_folder(self, root: Path, name: str) -> Path:
        """Make the folder of a new run, as :func:`storm_pipeline.run.locking.new_folder`."""
        return new_folder(root, name, "a run folder")

    def write(self, path: Path, content: str | bytes) -> None:
        """Write a file, as :func:`storm_pipeline.text.files.write_atomically`."""
        write_atomically(path, content)

    def append(self, path: Path, data: bytes, *, create: bool = False, sync: bool = True) -> None:
        """Append to a file, all or nothing.

        ``create``: make a missing file; ``sync``: wait until the data is on the disk.
        """
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | (os.O_CREAT if create else 0), 0o644)
        try:
            size = os.fstat(descriptor).st_size
            try:
                while data:
                    data = data[os.write(descriptor, data) :]
                if sync:
                    os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)  # remove the partial line
                raise
        finally:
            os.close(descriptor)

    def rename(self, path: Path, new: Path) -> None:
        """Rename a file."""
        path.rename(new)

    def delete(self, folder: Path) -> None:
        """Delete the folder of a run, as far as possible."""
        shutil.rmtree(folder, ignore_errors=True)

    def home(self, folder: Path) -> Path:
        """Return where a run's folder is for its user."""
        return folder


class Replica(Disk):
    """Writes of a task's folder in a worker, each sent to the recorder first.

    ``link``: to the recorder; ``task``, ``attempt``: the caller, see :meth:`Recorder.begin`; ``scratch``: the folder on
    this machine; ``root``: its original on the driver's machine.
    """

    def __init__(self, link: Link, task: str, attempt: int, scratch: Path, root: Path) -> None:
        self._link, self._caller = link, (task, attempt)
        self._scratch, self._root = scratch, root

    def new_folder(self, root: Path, name: str) -> Path:  # noqa: ARG002 - the task's, of which this folder is a copy
        """Make the folder under a name that is free on the driver's disk."""
        return super().new_folder(self._scratch, self._link("new_folder", *self._caller, name))

    def write(self, path: Path, content: str | bytes) -> None:  # noqa: D102
        data = content.encode("utf-8") if isinstance(content, str) else content
        self._send("write", path, data)
        super().write(path, data)

    def append(self, path: Path, data: bytes, *, create: bool = False, sync: bool = True) -> None:  # noqa: D102
        self._send("append", path, data, create, sync)
        super().append(path, data, create=create, sync=False)

    def rename(self, path: Path, new: Path) -> None:  # noqa: D102
        self._send("rename", path, self._name(new))
        super().rename(path, new)

    def delete(self, folder: Path) -> None:  # noqa: D102
        self._send("delete", folder)
        super().delete(folder)

    def home(self, folder: Path) -> Path:  # noqa: D102
        return self._root / self._name(folder)

    def _send(self, method: str, path: Path, *args: Any) -> None:
        if path.is_relative_to(self._scratch):  # not a journal of something else
            self._link(method, *self._caller, self._name(path), *args)

    def _name(self, path: Path) -> str:
        return path.relative_to(self._scratch).as_posix()


class SharedLimits(Limits):
    """The limits of the driver, in a worker. Arguments as of :class:`Replica`; ``max_cost``: cap on all dollars."""

    def __init__(self, link: Link, task: str, attempt: int, max_cost: float | None) -> None:
        super().__init__(max_cost)
        self._link, self._caller = link, (task, attempt)

    def reserve(
        self, call: str, endpoint: str, tokens: int, dollars: float, **options: Any
    ) -> Literal["reserved", "wait", "spent"]:
        """Ask the driver's limits, with options as there but for the owner, whom the recorder knows."""
        asked = call, endpoint, tokens, dollars, options
        answer: Literal["reserved", "wait", "spent"] = self._link("reserve", *self._caller, *asked)
        return answer

    def settle(self, call: str, tokens: int, dollars: float, excess: float | None = None) -> None:
        """Settle with the driver's limits."""
        self._link("settle", *self._caller, call, tokens, dollars, excess)


_disk: ContextVar[Disk] = ContextVar("storm_disk", default=Disk())  # noqa: B039 - it has no state


def current_disk() -> Disk:
    """Return what the calling context writes runs with."""
    return _disk.get()


@dataclass
class _Task:
    root: Path
    names: set[str]
    on_start: Callable[[], None]
    on_event: Callable[[Any], None]
    attempt: int = 0
    locks: "dict[str, BaseFileLock]" = field(default_factory=dict)
    guard: threading.RLock = field(default_factory=threading.RLock)


class Recorder:
    """The driver's side of its tasks' folders and events. Thread-safe.

    Workers call its methods by name through :meth:`answer`. Files are named relative to the folder of the task.
    """

    def __init__(self) -> None:
        self._tasks: dict[str, _Task] = {}
        self._disk = Disk()
        self.limits = in_force()
        self.problem: SettingsError | None = None  # why a worker cannot do any task

    def place(
        self,
        task: str,
        root: Path,
        names: set[str],
        *,
        on_start: Callable[[], None] = lambda: None,
        on_event: Callable[[Any], None] = lambda _: None,
    ) -> None:
        """Register a task before it starts.

        Args:
            root: the folder that its files are in.
            names: those in ``root`` that the task may read and write: files, and folders of runs. New runs are added.
            on_start: called at the start of each attempt.
            on_event: receives the events of its runs, one at a time.
        """
        self._tasks[task] = _Task(root, names, on_start, on_event)

    def finish(self, task: str) -> None:
        """Release a task's folders and refuse further calls for it. Idempotent."""
        known = self._tasks.pop(task, None)
        if known is not None:
            with known.guard:
                known.attempt += 1
                for lock in known.locks.values():
                    lock.release()

    def here(self, task: str) -> "Workplace":
        """Start a task in this process, which writes into the driver's folder itself."""
        known = self._known(task)
        known.on_start()
        return Workplace(known.root, known.root, frozenset(known.names), known.on_event)

    def answer(self, method: str, task: str, attempt: int, *args: Any) -> Any:
        """Call a method for an attempt of a task. Raises RunError: the attempt is not the task's last one."""
        known = self._known(task)
        owner = f"{task}/{attempt}"
        match method:
            case "begin":
                return self.begin(known, *args)
            case "settle":  # of an earlier attempt, too: it has spent them
                return self.limits.settle(*args)
            case "renew":
                return self.limits.renew(owner)
        with known.guard:
            self._require_last(known, attempt)
            if method in _WRITES:
                return getattr(self, method)(known, *args)
        if method == "event":  # outside the guard, since a sink may stop the task
            return known.on_event(*args)
        return self.limits.reserve(*args[:4], **args[4] | {"owner": owner})

    def begin(self, task: _Task, version: str) -> tuple[int, Path, Mapping[str, bytes], float | None]:
        """Start another attempt; return its number, the task's folder, its files by name, and the cap on all dollars.

        Raises SettingsError: the worker has another version of the package; RunError: another process holds a run.
        """
        if version != storm_pipeline.__version__:
            self.problem = SettingsError(
                f"a worker has storm-pipeline {version}, and this process {storm_pipeline.__version__}: install the "
                "same version on all nodes"
            )
            raise self.problem
        with task.guard:
            task.attempt += 1
            for folder in [task.root / name for name in task.names if (task.root / name).is_dir()]:
                if (folder / RUN_STATE).exists():
                    self._hold(task, folder)
                else:  # its attempt ended before the run began
                    self.delete(task, folder.name)
            started = task.attempt, task.root, dict(self._files(task)), self.limits.max_cost
        task.on_start()
        return started

    def new_folder(self, task: _Task, name: str) -> str:
        """Make the folder of a new run, and return its name."""
        folder = self._disk.new_folder(task.root, _plain(name))
        task.names.add(folder.name)
        self._hold(task, folder)
        return folder.name

    def write(self, task: _Task, name: str, data: bytes) -> None:
        """Write a file."""
        with self._path(task, name) as path:
            if len(name.split("/")) > 2:  # in a folder of pieces; that of the run stays deleted
                path.parent.mkdir(exist_ok=True)
            self._disk.write(path, data)

    def append(self, task: _Task, name: str, data: bytes, create: bool, sync: bool) -> None:  # noqa: FBT001
        """Append to a file."""
        with self._path(task, name) as path:
            self._disk.append(path, data, create=create, sync=sync)

    def rename(self, task: _Task, name: str, new: str) -> None:
        """Rename a file."""
        with self._path(task, name) as path, self._path(task, new) as path_then:
            self._disk.rename(path, path_then)

    def delete(self, task: _Task, name: str) -> None:
        """Delete the folder of a run that could not begin."""
        with self._path(task, name) as folder:
            if lock := task.locks.pop(name, None):
                lock.release()
            self._disk.delete(folder)
            task.names.discard(name)

    def _known(self, task: str) -> _Task:
        try:
            return self._tasks[task]
        except KeyError:
            raise RunError(f"task {task} has ended: its results are no longer taken") from None

    def _require_last(self, task: _Task, attempt: int) -> None:
        if attempt != task.attempt:
            raise RunError("this task was placed anew, and its earlier attempt is no longer recorded")

    def _hold(self, task: _Task, folder: Path) -> None:
        if folder.name not in task.locks:
            task.locks[folder.name] = lock_folder(folder, RUN_LOCK)

    @contextmanager
    def _path(self, task: _Task, name: str) -> Iterator[Path]:
        """Yield a file of the task; errors within the block name it. Raises RunError: it is not the task's."""
        parts = name.split("/")
        if parts[0] not in task.names:
            raise RunError(f"{name!r} is not a file of the task")
        path = task.root.joinpath(*map(_plain, parts))
        with write_errors_as(RunError, path, ", then resume"):
            yield path

    def _files(self, task: _Task) -> Iterator[tuple[str, bytes]]:
        for top in sorted(task.names):
            whole = task.root / top
            for path in sorted(whole.rglob("*")) if whole.is_dir() else [whole]:
                if path.is_file() and path.name != RUN_LOCK and not path.name.endswith(UNFINISHED):
                    try:
                        yield path.relative_to(task.root).as_posix(), read_plain(path)
                    except OSError as error:
                        raise RunError(f"cannot read {path}: {error.strerror}") from error


@dataclass(frozen=True)
class Workplace:
    """The folder in which a task works."""

    folder: Path  # on this machine
    root: Path  # on the driver's machine; the same in its own process
    names: frozenset[str]  # names in it that are the task's
    on_event: Callable[[Any], None]  # takes the events of its runs

    def runs(self) -> list[Path]:
        """Return the task's runs, sorted by name."""
        return sorted(self.folder / name for name in self.names if (self.folder / name).is_dir())

    def home(self, text: str) -> str:
        """Return a message with paths of the driver's machine."""
        return text.replace(str(self.folder), str(self.root))


@contextmanager
def away(link: Link, task: str, scratch_in: str | None = None) -> Iterator[Workplace]:
    """Work on a task in a worker, in a copy of its folder, which is made in ``scratch_in`` and deleted afterwards.

    Raises errors of :meth:`Recorder.begin`.
    """
    attempt, root, files, max_cost = link("begin", task, 0, storm_pipeline.__version__)
    with TemporaryDirectory(prefix="storm-", dir=scratch_in, ignore_cleanup_errors=True) as folder:
        scratch = Path(folder)
        for name, data in files.items():
            path = scratch / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        token, ended = _disk.set(Replica(link, task, attempt, scratch, root)), threading.Event()
        in_own_thread(partial(_renew, link, task, attempt, ended), "storm-renew")
        try:
            names = frozenset(name.partition("/")[0] for name in files)
            with within(SharedLimits(link, task, attempt, max_cost)):
                yield Workplace(scratch, root, names, lambda event: link("event", task, attempt, event))
        finally:
            ended.set()
            _disk.reset(token)


def _renew(link: Link, task: str, attempt: int, ended: threading.Event) -> None:
    while not ended.wait(MINUTE / 3):
        link("renew", task, attempt)


def _plain(name: str) -> str:
    """Return the name of a file or folder. Raises RunError: it would lead elsewhere."""
    if name in {"", ".", ".."} or any(mark in name for mark in "/\\\0"):
        raise RunError(f"{name!r} is not the name of a file of a run")
    return name
