"""Starting, resuming, stopping and following runs for remote callers; a run's folder is its only record."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storm_pipeline import recipes
from storm_pipeline.batch.storm_pool import StormPool
from storm_pipeline.errors import RunError, SettingsError, StoppedError, StormError
from storm_pipeline.run.events import CallbackSink, Event, EventSink, RunStarted
from storm_pipeline.run.log import logger
from storm_pipeline.run.user_pieces import parse_pieces
from storm_pipeline.server.redaction import Redactor
from storm_pipeline.server.remote_settings import RemoteSettings
from storm_pipeline.server.run_folders import EventFile, RunFolders
from storm_pipeline.settings import Settings
from storm_pipeline.types import Article, Outline

if TYPE_CHECKING:
    from storm_pipeline.storm import Storm

_POOL = 4
"""``Storm`` objects kept, each with its own settings."""


class BusyError(StormError):
    """As many runs as the server allows are under way."""


class UnderWayError(StormError):
    """The run is under way, here or in another process."""


@dataclass(frozen=True)
class Order:
    """A run that a caller orders.

    Attributes:
        topic: topic of the article.
        makes: ``article`` or ``outline``.
        recipe: the method; None is the default.
        outline: headings of the article as text, instead of an outline that is made.
        settings: settings that the caller chooses.
    """

    topic: str
    makes: str = "article"
    recipe: str | None = None
    outline: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


class RunService:
    """The runs of one server. Thread-safe; use it in ``with``, which stops its runs gracefully at the end.

    Args:
        remote: the owner's settings, and which of them callers may choose.
        at_once: maximum number of concurrent runs, >= 1.
        open_storm: makes a ``Storm`` from settings; by default the class itself.

    Attributes:
        folders: the runs and their results.
        redactor: removes secrets from what leaves the server.
    """

    def __init__(
        self,
        remote: RemoteSettings,
        *,
        at_once: int = 2,
        open_storm: "Callable[[Settings], Storm] | None" = None,
    ) -> None:
        if at_once < 1:
            raise SettingsError(f"a server needs room for at least one run, not {at_once}")
        self.remote = remote
        self.folders = RunFolders(remote.owner.out)
        self.redactor = Redactor((remote.owner.out, remote.owner.cache))
        self._new = StormPool(open_storm, size=_POOL)
        self._resumed = StormPool(open_storm, size=_POOL)
        self._at_once = at_once
        self._lock = threading.Lock()
        self._halts: dict[threading.Thread, threading.Event] = {}
        self._named: dict[str, threading.Event] = {}
        self._closed: float | None = None
        """When streams end although their runs have not, in monotonic seconds, once the server is shutting down."""

    def start(self, order: Order, *, sinks: Sequence[EventSink] = ()) -> str:
        """Start a run, and return its name as soon as its folder is made.

        Raises:
            SettingsError: the topic, the recipe, the outline or a setting cannot be used.
            BusyError: too many runs are under way.
            RunError: its folder cannot be made.
        """
        storm = self._new.get(self.remote.for_new_run(order.settings))
        if order.makes == "outline":
            if order.outline is not None:
                raise SettingsError("an outline is made or given: leave 'outline' out, or order an article")
            recipe = order.recipe or "storm"
            return self._begin(lambda sink, halt: storm.outline(order.topic, recipe, sinks=[*sinks, sink], halt=halt))
        recipe, outline = order.recipe or recipes.DEFAULT, _outline(order)
        return self._begin(
            lambda sink, halt: storm.write(order.topic, recipe, outline=outline, sinks=[*sinks, sink], halt=halt)
        )

    def resume(self, name: str, settings: Mapping[str, Any] | None = None, *, sinks: Sequence[EventSink] = ()) -> str:
        """Resume a run, and return its name; without other settings, a finished one is left as it is.

        Raises:
            UnknownRunError: there is no such run.
            UnderWayError: it is under way already.
            BusyError: too many others are.
            SettingsError, RunError: as :meth:`start`.
        """
        folder = self.folders.path(name)
        state = self.folders.state(name)
        if state == "finished" and not settings:
            return name
        if state == "running":
            raise UnderWayError("the run is under way already")
        storm = self._resumed.get(self.remote.for_resuming(self.folders.settings(name), settings or {}))
        return self._begin(lambda sink, halt: storm.resume(folder, sinks=[*sinks, sink], halt=halt), name)

    def stop(self, name: str) -> None:
        """Stop a run gracefully; one that is not under way is left as it is.

        Raises:
            UnknownRunError: there is no such run.
            UnderWayError: another process runs it.
        """
        halt = self._named.get(name)
        if halt is not None:
            halt.set()
        elif self.folders.state(name) == "running":
            raise UnderWayError("another process runs it: stop it there")

    def events(self, name: str, after: int = 0) -> "Iterator[tuple[int, dict[str, Any]] | None]":
        """Events of a run as records, each with its number; None whenever there is nothing new.

        They end with the run, or soon after :meth:`halt`.

        Args:
            name: name of the run.
            after: number of the last event that is already known.

        Raises:
            UnknownRunError: there is no such run.
        """
        file = EventFile(self.folders.path(name), after)
        while True:
            is_over = not self.is_running(name)  # before reading, so that the last events are not missed
            for number, record in file.read():
                shown = {**record, "folder": name} if "folder" in record else record
                yield number, self.redactor.values(shown)
            if is_over or (self._closed is not None and time.monotonic() > self._closed):
                return
            yield None

    def is_running(self, name: str) -> bool:
        """Whether a run is under way, here or in another process."""
        return name in self._named or self.folders.state(name) == "running"

    def halt(self, seconds: float = 0.0) -> None:
        """Start no further run, and stop those under way gracefully; their events end within so many seconds."""
        with self._lock:
            if self._closed is None:
                self._closed = time.monotonic() + seconds
            halts = dict(self._halts)
        for halt in halts.values():
            halt.set()

    def close(self, seconds: float | None = None) -> bool:
        """Stop all runs gracefully, and wait until they are saved; False if some are not after so many seconds."""
        self.halt()
        ends = None if seconds is None else time.monotonic() + seconds
        threads = list(self._halts)
        for thread in threads:
            thread.join(None if ends is None else max(0.0, ends - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    @property
    def is_closing(self) -> bool:
        """Whether the server is shutting down."""
        return self._closed is not None

    def __enter__(self) -> "RunService":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _begin(
        self,
        work: Callable[[EventSink, threading.Event], Article | Outline],
        name: str | None = None,
    ) -> str:
        """Do a run's work in a new thread, and return the run's name once it has started."""
        started: Future[str] = Future()
        halt = threading.Event()

        def emit(event: Event) -> None:
            if isinstance(event, RunStarted) and not started.done():
                own = Path(event.folder).name
                with self._lock:
                    self._named[own] = halt
                started.set_result(own)

        def run() -> None:
            try:
                work(CallbackSink(emit), halt)
            except Exception as error:  # noqa: BLE001 - raised in the caller's thread, or in the run's record
                if started.done():
                    _log(started.result(), error)
                else:
                    started.set_exception(error)
            finally:
                self._release(halt)
            if not started.done():
                started.set_result(name or "")

        with self._room():
            thread = threading.Thread(target=run, name="storm-server-run")
            self._halts[thread] = halt
            thread.start()
        return started.result()

    @contextmanager
    def _room(self) -> Iterator[None]:
        with self._lock:
            if self._closed is not None:
                raise BusyError("the server is shutting down")
            if len(self._halts) >= self._at_once:
                raise BusyError(f"{self._at_once} runs are under way, as many as this server allows: try again later")
            yield

    def _release(self, halt: threading.Event) -> None:
        with self._lock:
            self._halts = {thread: other for thread, other in self._halts.items() if other is not halt}
            self._named = {name: other for name, other in self._named.items() if other is not halt}


def _outline(order: Order) -> Outline | None:
    """The outline of an order, parsed from its text: a remote caller must not name a file."""
    if order.outline is None:
        return None
    try:
        return parse_pieces(order.topic, {"outline": order.outline}).outline
    except RunError as error:
        raise SettingsError("the outline has no heading: write a line such as '# History' for each section") from error


def _log(name: str, error: Exception) -> None:
    if not isinstance(error, StoppedError):
        logger.warning("%s: ended early: %s", name, error, exc_info=not isinstance(error, StormError))
