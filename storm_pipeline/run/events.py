"""What a run says while it goes: frozen events, and the sinks they flow into."""

import contextvars
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, TypedDict, Unpack

from storm_pipeline.errors import BudgetSpentError
from storm_pipeline.types import Revision

_stage: contextvars.ContextVar[str] = contextvars.ContextVar("storm_stage", default="run")


@dataclass(frozen=True)
class Event:
    """Base of all events. ``stage`` is the part of the run it belongs to."""

    stage: str


@dataclass(frozen=True)
class RunStarted(Event):
    """A run begins, or goes on: its topic, its folder (empty when nothing is written), and which session of it."""

    topic: str
    folder: str
    session: int = 1


@dataclass(frozen=True)
class Downloading(Event):
    """A pinned download is ``done`` of ``total`` bytes far."""

    name: str
    done: int
    total: int


@dataclass(frozen=True)
class StageStarted(Event):
    """A stage begins; ``total`` is the number of steps that it will advance by, if known."""

    total: int | None = None


@dataclass(frozen=True)
class StageAdvanced(Event):
    """One step of a stage is done; ``label`` names it for people."""

    label: str = ""


@dataclass(frozen=True)
class StageFinished(Event):
    """A stage ended after ``seconds``."""

    seconds: float


@dataclass(frozen=True)
class CallFinished(Event):
    """A model replied. Units as in :class:`storm_pipeline.types.UsageRow`."""

    role: str
    model: str
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    seconds: float
    cost: float | None


@dataclass(frozen=True)
class Retried(Event):
    """A call or a search is tried again after ``wait`` seconds because of ``reason``."""

    what: str
    reason: str
    wait: float


@dataclass(frozen=True)
class Reused(Event):
    """What an earlier session of the run had bought served again: a ``reply``, ``search`` or ``contents``."""

    kind: str


@dataclass(frozen=True)
class Searched(Event):
    """A query was answered with ``results`` snippets; ``sources`` is the number of distinct pages known so far."""

    engine: str
    query: str
    results: int
    sources: int
    seconds: float


@dataclass(frozen=True)
class Excluded(Event):
    """A page was found and is not used, for this reason."""

    url: str
    reason: str


@dataclass(frozen=True)
class Counted(Event):
    """``number`` more of what the article's report counts under ``name``."""

    name: str
    number: int


@dataclass(frozen=True)
class Revised(Event):
    """A sentence, or what it cites, is no longer as its writer gave it; fields as :class:`Revision`'s."""

    where: str
    before: str
    reason: str
    outcome: str
    after: str


@dataclass(frozen=True)
class Noted(Event):
    """A choice that was made for the user, or news from below; nothing is wrong."""

    detail: str


@dataclass(frozen=True)
class Degraded(Event):
    """A piece is poorer than it could be, and why. Recorded in the article's report."""

    detail: str


@dataclass(frozen=True)
class Failed(Event):
    """A piece is missing, and why; the rest goes on. Recorded in the article's report.

    Attributes:
        detail: what, in one sentence.
        counts: whether it is a failure; a piece that a cap leaves out is none.
    """

    detail: str
    counts: bool = True


@dataclass(frozen=True)
class RunFinished(Event):
    """The run ended well; this session of it took ``seconds``."""

    seconds: float
    folder: str


@dataclass(frozen=True)
class RunStopped(Event):
    """The run ended before its time, after ``seconds`` of this session; it can be resumed."""

    seconds: float
    reason: str


class Counts(TypedDict, total=False):
    """What is counted, see :class:`storm_pipeline.types.Report`."""

    invented_citations: int
    attributed: int
    uncited: int
    dropped_unsupported: int
    dropped_faulty: int
    reworded: int
    repeated: int
    cited_in_interviews: int
    offered_to_sections: int
    cited_in_article: int


COUNTED = frozenset(Counts.__annotations__)


class EventSink(Protocol):
    """Receives every event in order, one at a time; must return quickly and not raise."""

    def emit(self, event: Event) -> None: ...  # noqa: D102


class CallbackSink:
    """Calls a function with each event."""

    def __init__(self, callback: Callable[[Event], None]) -> None:
        self._callback = callback

    def emit(self, event: Event) -> None:
        """Hand the event on."""
        self._callback(event)


class JsonLinesSink:
    """Writes each event as one JSON line: ``{"event": name, "at": seconds since 1970, …}``."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def emit(self, event: Event) -> None:
        """Write and flush one line."""
        record = {"event": type(event).__name__, "at": round(time.time(), 3)}
        self._stream.write(json.dumps(record | vars(event), ensure_ascii=False) + "\n")
        self._stream.flush()


def read_events(path: Path) -> Iterator[tuple[float, Event]]:
    """The events of a file that :class:`JsonLinesSink` wrote, each with its time in seconds since 1970.

    Lines that are torn or damaged, or of kinds that this version does not know, are left out.

    Raises:
        OSError: the file cannot be read.
    """
    from pydantic import TypeAdapter

    kinds = {kind.__name__: TypeAdapter(kind) for kind in Event.__subclasses__()}
    for line in path.read_bytes().splitlines():
        try:
            record = json.loads(line)
            at, kind = float(record.pop("at")), kinds[record.pop("event")]
            yield at, kind.validate_python(record)
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            continue


class Events:
    """Fans events out to sinks, one at a time from whatever thread, and knows the current stage."""

    def __init__(self, *sinks: EventSink) -> None:
        self._sinks = sinks
        self._lock = threading.Lock()

    def emit(self, event: Event) -> None:
        """Send one event to every sink."""
        with self._lock:
            for sink in self._sinks:
                sink.emit(event)

    @property
    def stage(self) -> str:
        """Name of the stage that the calling context is in."""
        return _stage.get()

    @contextmanager
    def in_stage(self, name: str, total: int | None = None) -> Iterator[None]:
        """Announce a stage around a block, and let everything called inside know its name."""
        token = _stage.set(name)
        start = time.monotonic()
        self.emit(StageStarted(name, total))
        try:
            yield
        finally:
            self.emit(StageFinished(name, round(time.monotonic() - start, 3)))
            _stage.reset(token)

    def advance(self, label: str = "") -> None:
        """One step of the current stage is done."""
        self.emit(StageAdvanced(self.stage, label))

    def count(self, **numbers: Unpack[Counts]) -> None:
        """Add to the report's counts.

        Raises:
            TypeError: the report has no such count.
        """
        for name, number in numbers.items():
            if name not in COUNTED:
                raise TypeError(f"the report counts no {name!r}, but {', '.join(sorted(COUNTED))}")
            if isinstance(number, int) and number:
                self.emit(Counted(self.stage, name, number))

    def revised(self, revision: Revision) -> None:
        """Record what became of a sentence."""
        self.emit(Revised(self.stage, **vars(revision)))

    def noted(self, detail: str) -> None:
        """Tell of a choice that was made."""
        self.emit(Noted(self.stage, detail))

    def degraded(self, detail: str) -> None:
        """Record that a piece of the current stage is poorer than it could be."""
        self.emit(Degraded(self.stage, detail))

    def failed(self, piece: str, error: Exception) -> None:
        """Record that a piece of the current stage is missing, and why."""
        self.emit(Failed(self.stage, f"{piece}: {error}", counts=not isinstance(error, BudgetSpentError)))
