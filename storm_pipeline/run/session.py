"""One session of a run: everything that its steps share, opened and closed around them.

A run that is never interrupted has one session. A resumed one has several: each runs the recipe from its beginning,
and what the earlier ones bought is served from the journal.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from storm_pipeline.assets import Progress
from storm_pipeline.errors import RunError, StoppedError
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.model import Model
from storm_pipeline.models.programs import Programs
from storm_pipeline.models.windows import settled, why_less
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.retrieval.embedder import Embedder
from storm_pipeline.run.context import Given, RunContext, Writer
from storm_pipeline.run.events import (
    Downloading,
    Events,
    EventSink,
    RunFinished,
    RunStarted,
    RunStopped,
    read_events,
)
from storm_pipeline.run.folder import EDITABLE, LogSink, RunStore, SavedSettings
from storm_pipeline.run.given import parse_given
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.run.limits import RunControl
from storm_pipeline.run.recorded_search import RecordedContents, RecordedSearch
from storm_pipeline.run.search import Engine, RunSearch
from storm_pipeline.search.contents import ContentsSource, WikipediaContents
from storm_pipeline.settings import Role, Settings


@dataclass(frozen=True)
class Parts:
    """What runs share: opened once, used by all of them."""

    engine: Engine
    models: dict[Role, Model]
    embedder: Embedder
    contents: ContentsSource | None
    programs: Programs
    writer: Writer[Any]


@contextmanager
def session(
    run: RunStore,
    settings: Settings,
    open_parts: Callable[[Progress, Callable[[], None]], Parts],
    *,
    sinks: Sequence[EventSink],
    halt: threading.Event,
    before: SavedSettings,
) -> Iterator[RunContext]:
    """Open a session of a run for the block, and note how it ended.

    Args:
        run: its folder, held by this process.
        settings: of the session.
        open_parts: opens models, search engine and embedder; tells how far a download is, and checks between its steps
            whether the run is to stop.
        sinks: told of every event.
        halt: set when the run is to stop.
        before: the settings of the last session; empty where there was none.

    Raises:
        RunError: the folder cannot be written, or what the user gives cannot be read.
    """
    start = time.monotonic()
    given = parse_given(run.topic, run.state["given"])
    ledger = Ledger()
    log_path = run.folder / "events.jsonl"
    spent = ledger.restore(read_events(log_path) if log_path.exists() else ())
    control = RunControl(settings, spent, halt)
    less = why_less(settings)
    settings = settled(settings)
    news = [*_news(run, before, settings), *([less] if less else [])]
    run.begin(settings)
    with ExitStack() as stack:
        log = LogSink(run.folder)
        stack.callback(log.close)
        events = Events(ledger, control, log, *sinks)
        events.emit(RunStarted("run", run.topic, str(run.folder), run.state["sessions"]))
        try:
            with events.in_stage("set-up"):
                for note in news:
                    events.noted(note)
                parts = open_parts(_downloading(events, control), control.check)
                run.note(engine=parts.engine.spec, prompts=parts.programs.fingerprints())
                ctx = open_context(run, settings, parts, events=events, ledger=ledger, control=control, given=given)
            stack.callback(ctx.store.close)
            stack.callback(ctx.search.close)
            yield ctx
            if unused := run.journal.left("reply"):
                events.noted(f"{unused} replies that the run had bought fit no more: what they answered was asked anew")
            events.emit(RunFinished("run", round(time.monotonic() - start, 1), str(run.folder)))
            run.end("finished")
        except BaseException as error:
            run.end("stopped" if isinstance(error, StoppedError | KeyboardInterrupt) else "failed")
            _tell_end(events, round(time.monotonic() - start, 1), error)
            raise


def _downloading(events: Events, control: RunControl) -> Progress:
    """Tells how far a download is, and ends it when the run is to stop."""

    def progress(name: str, done: int, total: int) -> None:
        control.check()
        events.emit(Downloading(events.stage, name, done, total))

    return progress


def _tell_end(events: Events, seconds: float, error: BaseException) -> None:
    try:
        events.emit(RunStopped("run", seconds, str(error) or type(error).__name__))
    except RunError:
        return  # the log's disk is full: the error that ends the run says so


def _news(run: RunStore, before: SavedSettings, settings: Settings) -> list[str]:
    """What a user should know of a run that goes on: what was damaged, and what is different now."""
    torn = run.journal.damaged
    told = [f"line {number} of journal.jsonl is damaged: what it held is bought again" for number in torn]
    for name, aside in run.replaced.items():
        what = f"was changed since it was written, and is now {aside}" if aside else "is lost"
        told.append(f"{name} {what}: it is made again{_advice(name)}")
    changed = [name for name, value in settings.model_dump(mode="json").items() if before.get(name, value) != value]
    if changed:
        told.append(f"changed since the last session: {', '.join(changed)}; what depends on it is made again")
    return told


def _advice(name: str) -> str:
    piece = next((piece for piece, file in EDITABLE.items() if file == name), None)
    return f" (to go on from an edited one, use storm write --from {piece})" if piece else ""


def changed_settings(saved: SavedSettings, own: Settings) -> Settings:
    """The settings of a run's last session, with those that were set explicitly now in their place.

    Raises:
        SettingsError: what was saved is no longer valid.
    """
    now = {name: getattr(own, name) for name in own.model_fields_set}
    known = {name: value for name, value in saved.items() if name in Settings.model_fields}
    return Settings.build({**known, **now})


def open_context(
    run: RunStore,
    settings: Settings,
    parts: Parts,
    *,
    events: Events,
    ledger: Ledger,
    control: RunControl,
    given: Given,
) -> RunContext:
    """What the steps of one session share; its search and its store are the caller's to close."""
    engine = parts.engine
    if engine.why:
        events.noted(f"searching with {engine.spec}, {engine.why}")
    for problem in engine.problems:
        events.degraded(problem)
    search = RunSearch(
        engine,
        settings,
        embedder=parts.embedder,
    )
    contents = parts.contents or engine.contents or WikipediaContents(settings.cache)
    store = ReferenceStore(parts.embedder)
    store.warm_up()
    return RunContext(
        settings=settings,
        models=LanguageModels(parts.models, events=events, control=control, journal=run.journal, settings=settings),
        programs=parts.programs,
        search=RecordedSearch(search, run.journal, events=events, control=control, settings=settings, spec=engine.spec),
        contents=RecordedContents(contents, run.journal, events),
        store=store,
        writer=parts.writer,
        events=events,
        ledger=ledger,
        run=run,
        given=given,
    )
