"""Events of a run, and the sinks that receive them."""

import contextvars
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from storm_pipeline.errors import BudgetSpentError
from storm_pipeline.text.configuration.addresses import redact
from storm_pipeline.text.files import read_records
from storm_pipeline.types import Report, Revision, is_plausible

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_stage: contextvars.ContextVar[str] = contextvars.ContextVar("storm_stage", default="run")


@dataclass(frozen=True)
class Event:
    """Base of all events. ``stage`` is its part of the run."""

    stage: str


@dataclass(frozen=True)
class RunStarted(Event):
    """Start or resumption of a run: topic, folder (empty if nothing is written), and number of the session from 1."""

    topic: str
    folder: str
    session: int = 1


@dataclass(frozen=True)
class Downloading(Event):
    """Progress of a pinned download: ``done`` of ``total`` bytes have arrived."""

    name: str
    done: int
    total: int


@dataclass(frozen=True)
class StageStarted(Event):
    """Start of a stage; ``total`` is its number of steps, if known."""

    total: int | None = None


@dataclass(frozen=True)
class StageAdvanced(Event):
    """End of one step of a stage; ``label`` describes it for display."""

    label: str = ""


@dataclass(frozen=True)
class SectionWritten(Event):
    """A written section; the copy editor may still change it."""

    number: int  # its place in the outline, from 1; sections are written concurrently, so the order is arbitrary
    heading: str  # its heading
    text: str  # the section as Markdown, without citation markers, which belong to the whole article
    sources: tuple[str, ...] = ()  # addresses of the pages that it cites, in the order of the text


@dataclass(frozen=True)
class StageFinished(Event):
    """End of a stage after ``seconds``; ``whole``: without an error that ended it."""

    seconds: float
    whole: bool = True


@dataclass(frozen=True)
class CallFinished(Event):
    """Reply of a model. Units as in :class:`storm_pipeline.types.UsageRow`; ``estimated``: whether tokens are."""

    role: str
    model: str
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    seconds: float
    cost: float | None
    estimated: bool = False


@dataclass(frozen=True)
class Retried(Event):
    """Retry of a call or a search after ``wait`` seconds because of ``reason``."""

    what: str
    reason: str
    wait: float


@dataclass(frozen=True)
class Reused(Event):
    """Reuse of a record of an earlier session: ``reply``, ``search`` or ``contents``."""

    kind: str


@dataclass(frozen=True)
class Searched(Event):
    """Answer to a query, with ``results`` snippets; ``sources`` is the number of distinct pages known so far."""

    engine: str
    query: str
    results: int
    sources: int
    seconds: float


@dataclass(frozen=True)
class Excluded(Event):
    """A search result that is not used, and the reason."""

    url: str
    reason: str


@dataclass(frozen=True)
class Counted(Event):
    """Addition of ``number`` to the count ``name`` of the article's report."""

    name: str
    number: int


@dataclass(frozen=True)
class Revised(Event):
    """Change of a sentence or its citations after writing; fields as in :class:`Revision`."""

    where: str
    before: str
    reason: str
    outcome: str
    after: str


@dataclass(frozen=True)
class Noted(Event):
    """Information for the user, such as an automatic choice; not a problem."""

    detail: str


@dataclass(frozen=True)
class Degraded(Event):
    """A piece of lower quality, and the reason. Recorded in the article's report."""

    detail: str


@dataclass(frozen=True)
class Failed(Event):
    """A missing piece, and the reason; the run continues. Recorded in the article's report."""

    detail: str  # what failed, in one sentence
    counts: bool = True  # whether it counts towards ``max_failures``; not if a cap is the reason


@dataclass(frozen=True)
class RunFinished(Event):
    """End of a finished run; this session took ``seconds``."""

    seconds: float
    folder: str


@dataclass(frozen=True)
class RunStopped(Event):
    """Early end of a run, after ``seconds`` of this session; it can be resumed if its folder was ``kept``."""

    seconds: float
    reason: str
    kept: bool = True
    error: str = ""  # name of its kind, such as NothingFoundError


_MESSAGES = ("detail", "reason")  # fields of events that may quote an error
LATEST = 1e11
"""Maximum seconds since 1970 of a valid timestamp (the year 5138)."""
COUNTED = frozenset(field.name for field in fields(Report) if field.type is int) - {"unavailable_citations"}
_adapters: dict[Any, "TypeAdapter[Any]"] = {}


class EventSink(Protocol):
    """Receiver of every event in order, one at a time; must return quickly and not raise."""

    def emit(self, event: Event) -> None: ...  # noqa: D102


class CallbackSink:
    """Sink that calls a function with each event."""

    def __init__(self, callback: Callable[[Event], None]) -> None:
        self._callback = callback

    def emit(self, event: Event) -> None:
        """Call the function."""
        self._callback(event)


def json_line(event: Event) -> str:
    """Return an event as a line of JSON: ``{"event": name, "at": seconds since 1970, …}``."""
    record = {"event": type(event).__name__, "at": round(time.time(), 3)}
    return json.dumps(record | vars(event), ensure_ascii=False) + "\n"


class JsonLinesSink:
    """Sink that writes each event as one line, see :func:`json_line`."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def emit(self, event: Event) -> None:
        """Write and flush one line."""
        self._stream.write(json_line(event))
        self._stream.flush()


def read_events(path: Path) -> Iterator[tuple[float, Event]]:
    """Yield the events of a file that :class:`JsonLinesSink` wrote, each with its time in seconds since 1970.

    Skips damaged lines, absurd numbers and unknown kinds of events.

    Raises OSError: the file cannot be read.
    """
    kinds = {kind.__name__: kind for kind in Event.__subclasses__()}
    for line in filter(bytes.strip, read_records(path)):
        try:
            record = json.loads(line)
            at, kind = float(record.pop("at")), kinds[record.pop("event")]
            event: Event = adapter_of(kind).validate_python(record)
        except (ValueError, ArithmeticError, RecursionError, KeyError, TypeError, AttributeError):
            continue
        if 0 <= at < LATEST and is_plausible(event):
            yield at, event


def adapter_of(kind: Any) -> "TypeAdapter[Any]":
    """Return pydantic's adapter of a type; cached, since building it takes longer than using it."""
    from pydantic import TypeAdapter

    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    return _adapters[kind]


def json_text(value: Any) -> str:
    """Return dataclasses, models and plain values as indented JSON, with a line end."""
    return adapter_of(type(value)).dump_json(value, indent=1).decode("utf-8") + "\n"


class Events:
    """Sender of events to sinks, one at a time from any thread; tracks the current stage."""

    def __init__(self, *sinks: EventSink) -> None:
        self._sinks = sinks
        self._lock = threading.Lock()

    def emit(self, event: Event) -> None:
        """Send one event to every sink, without passwords and keys in the addresses of its message."""
        messages = {name: redact(text) for name in _MESSAGES if (text := getattr(event, name, None))}
        event = replace(event, **messages) if messages else event
        with self._lock:
            for sink in self._sinks:
                sink.emit(event)

    @property
    def stage(self) -> str:
        """Name of the current stage of the calling context."""
        return _stage.get()

    @contextmanager
    def in_stage(self, name: str, total: int | None = None) -> Iterator[None]:
        """Run a block as a stage: emit its start and end, and set the current stage within it."""
        token = _stage.set(name)
        start = time.monotonic()
        self.emit(StageStarted(name, total))
        is_whole = False
        try:
            yield
            is_whole = True
        finally:
            self.emit(StageFinished(name, round(time.monotonic() - start, 3), is_whole))
            _stage.reset(token)

    def advance(self, label: str = "") -> None:
        """Report that one step of the current stage is done."""
        self.emit(StageAdvanced(self.stage, label))

    def count(self, **numbers: int) -> None:
        """Add to the report's counts."""
        for name, number in numbers.items():
            if number:
                self.emit(Counted(self.stage, name, number))

    def revised(self, revision: Revision) -> None:
        """Record a change of a sentence."""
        self.emit(Revised(self.stage, **vars(revision)))

    def noted(self, detail: str) -> None:
        """Inform the user, e.g. of an automatic choice."""
        self.emit(Noted(self.stage, detail))

    def degraded(self, detail: str) -> None:
        """Record that a piece of the current stage has lower quality."""
        self.emit(Degraded(self.stage, detail))

    def failed(self, piece: str, error: Exception, *, counts: bool = True) -> None:
        """Record that a piece of the current stage is missing, and the error; ``counts``: towards ``max_failures``."""
        counts = counts and not isinstance(error, BudgetSpentError)
        self.emit(Failed(self.stage, f"{piece}: {error}", counts=counts))
