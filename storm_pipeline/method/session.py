"""One session of a run: opens and closes everything that its steps share.

A run that is never interrupted has one session. A resumed one has several: each executes the recipe from its
beginning, and requests of earlier sessions are served from the journal.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import dspy

from storm_pipeline.errors import RunError, StoppedError, StormError, unforeseen
from storm_pipeline.evidence.judges.opening import judge_of_run
from storm_pipeline.evidence.retrieval.embedder import Embedder, is_here
from storm_pipeline.evidence.run_search import RecordedLookUps, RecordedSearch, RunSearch
from storm_pipeline.evidence.store import ReferenceStore
from storm_pipeline.method.context import RunContext, UserPieces, brief_of, parse_pieces
from storm_pipeline.method.outlines import outline_to_markdown
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.choosing import GivenModels
from storm_pipeline.models.model_objects import Model, is_object
from storm_pipeline.models.open_models import require_model_keys
from storm_pipeline.models.prices import fit_to_window, known_price, require_prices, window_note
from storm_pipeline.models.programs import Programs
from storm_pipeline.run.assets import EMBEDDER, Progress
from storm_pipeline.run.events import Downloading, Events, EventSink, RunFinished, RunStarted, RunStopped
from storm_pipeline.run.folder import EDITABLE, RunStore, SavedSettings
from storm_pipeline.run.ledger import Ledger, RunControl
from storm_pipeline.run.log import LoggingSink, LogSink
from storm_pipeline.settings import ROLES, Role, Settings, is_embedded
from storm_pipeline.sources.search.base import ContentsSource, NoContents
from storm_pipeline.sources.search.engine_info import Engine
from storm_pipeline.sources.search.registry import require_engine_keys
from storm_pipeline.text.configuration.variables import provider_with_key
from storm_pipeline.types import Article, ModelChoice, Outline

T = TypeVar("T")


class StormRun(dspy.Module):
    """A run's work as a module, named like the run's span."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self._work = work
        self.made: Any = None

    def forward(self, topic: str, recipe: str) -> dspy.Prediction:  # noqa: ARG002 - for the span
        """Do the work; return the article or outline as Markdown for the span."""
        made = self.made = self._work()
        if isinstance(made, Article):
            return dspy.Prediction(article=made.to_markdown())
        return dspy.Prediction(outline=outline_to_markdown(made)) if isinstance(made, Outline) else dspy.Prediction()


def trace_run(work: Callable[[], T], topic: str, recipe: str) -> T:
    """Return the result of ``work``, with its model calls as calls of one module for DSPy's callbacks."""
    run = StormRun(work)
    run(topic=topic, recipe=recipe)
    made: T = run.made
    return made


@dataclass(frozen=True)
class Parts:
    """The parts that all runs of one ``Storm`` share; opened once."""

    engine: Engine
    models: dict[Role, Model]
    embedder: Embedder
    contents: ContentsSource | None
    programs: Programs
    chosen: tuple[ModelChoice, ...] = ()


def require_keys(settings: Settings, *, own_engine: bool = False) -> None:
    """Check that the keys of the models and of the search engine are set, and that a cap on dollars can be kept.

    ``own_engine``: whether the run searches with an engine object of the caller's, not with that of the settings.
    Raises SettingsError: a key or a price is missing.
    """
    require_model_keys(settings)
    require_known_prices(settings, settings.max_cost)
    if not own_engine and settings.search != "auto":
        require_engine_keys(settings.search)


def require_known_prices(settings: Settings, max_cost: float | None) -> None:
    """Check that a cap on dollars can be kept, if there is one. Raises SettingsError: a price is unknown."""
    named = [name for name in settings.models if not is_object(name)]
    if max_cost is not None:
        require_prices(max_cost, {name: known_price(name, settings) for name in named})


@contextmanager
def session(
    run: RunStore,
    settings: Settings,
    open_parts: Callable[[Progress, Callable[[], None]], Parts],
    *,
    sinks: Sequence[EventSink],
    halt: threading.Event,
    before: SavedSettings,
    given: GivenModels | None = None,
) -> Iterator[RunContext]:
    """Open a session of a run for the block, and save how it ended.

    Args:
        run: the run's folder, held by this process.
        open_parts: opens models, search engine and embedder; gets a progress callback for downloads, and a check to
            call between steps, which raises if the run must stop.
        before: settings of the last session; empty if there was none.
        given: the models that were chosen for it.

    Raises RunError: the folder cannot be written, or a piece from the user cannot be read.
    """
    start, given = time.monotonic(), given or GivenModels()
    user_pieces = parse_pieces(run.topic, run.state["given"])
    ledger = Ledger()
    spent = ledger.restore(run.earlier_events, partial(known_price, settings=settings))
    control = RunControl(settings, spent, halt)
    less = window_note(settings)
    settings = fit_to_window(settings)
    notes = [
        *_changes(run, before, settings),
        *filter(None, [given.note, less, _model_notice(settings), _fetch_notice(settings)]),
    ]
    with ExitStack() as stack:
        events = Events(ledger, control, LogSink(run.folder), LoggingSink(run.folder.name), *sinks)
        run.begin(settings, given.chosen_by)
        # At once, so that a user who knows the folder can resume.
        events.emit(RunStarted("run", run.topic, str(run.home), run.state["sessions"]))
        is_set_up = False
        try:
            with events.in_stage("set-up"):
                for note in notes:
                    events.noted(note)
                parts = open_parts(_download_progress(events, control), control.check)
                _note_parts(run, settings, parts, events)
                ctx = _context(run, settings, parts, user_pieces, events=events, ledger=ledger, control=control)
            is_set_up = True
            stack.callback(ctx.store.close)
            stack.callback(ctx.search.run_search.close)
            yield ctx
            for problem in ctx.search.run_search.cache_problems:
                events.noted(problem)
            if unused := run.journal.unused("reply"):
                events.noted(f"{unused} recorded replies were not reused, since their requests have changed")
            events.emit(RunFinished("run", round(time.monotonic() - start, 1), str(run.home)))
            run.end("finished")
        except BaseException as error:
            _end_early(run, events, error, round(time.monotonic() - start, 1), is_set_up=is_set_up)
            raise


@contextmanager
def question_session(
    run: RunStore,
    settings: Settings,
    open_parts: Callable[[Progress, Callable[[], None]], Parts],
    *,
    sinks: Sequence[EventSink],
    halt: threading.Event,
) -> Iterator[RunContext]:
    """Open a session for a question about the article of a run, whose state stays.

    Its calls count in the run's usage and caps. Arguments and errors are those of :func:`session`.
    """
    start, ledger = time.monotonic(), Ledger()
    control = RunControl(settings, Ledger().restore(run.earlier_events, partial(known_price, settings=settings)), halt)
    settings = fit_to_window(settings)
    with ExitStack() as stack:
        events = Events(ledger, control, LogSink(run.folder), LoggingSink(run.folder.name), *sinks)
        events.emit(RunStarted("run", run.topic, str(run.home), run.state["sessions"]))
        try:
            parts = open_parts(_download_progress(events, control), control.check)
            ctx = _context(run, settings, parts, UserPieces(), events=events, ledger=ledger, control=control)
            stack.callback(ctx.store.close)
            yield ctx
        finally:
            with suppress(RunError):  # the log's disk is full, which the question's error reports
                events.emit(RunFinished("run", round(time.monotonic() - start, 1), str(run.home)))


def _end_early(run: RunStore, events: Events, error: BaseException, seconds: float, *, is_set_up: bool) -> None:
    """Save how a run ended before it was finished; remove a new run that failed while it was set up."""
    was_stopped = isinstance(error, StoppedError | KeyboardInterrupt)
    run.end("stopped" if was_stopped else "failed")
    is_kept = is_set_up or was_stopped or not run.is_new
    with suppress(RunError):  # the log's disk is full, which the run's error reports
        events.emit(RunStopped("run", seconds, _reason(error), is_kept, type(error).__name__))
    if not is_kept:
        run.discard()


def _download_progress(events: Events, control: RunControl) -> Progress:
    """Return a callback that emits the progress of a download, and aborts it when the run must stop."""

    def progress(name: str, done: int, total: int) -> None:
        control.check()
        events.emit(Downloading(events.stage, name, done, total))

    return progress


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return str(error) if isinstance(error, StormError) and str(error) else unforeseen(error)


def _changes(run: RunStore, before: SavedSettings, settings: Settings) -> list[str]:
    damaged = run.journal.damaged
    notes = [*run.findings.notes, *run.findings.costly]
    notes += [f"line {number} of journal.jsonl is damaged: its request is made again" for number in damaged]
    for name, aside in run.replaced.items():
        what = f"was changed since it was written, and was moved to {aside}" if aside else "is missing"
        notes.append(f"{name} {what}: it is made again{_advice(name)}")
    values = settings.model_dump(mode="json")
    changed = [name for name, value in values.items() if before.get(name, value) != value]
    if changed:
        notes.append(f"changed since the last session: {', '.join(changed)}; what depends on it is made again")
    return notes


def _advice(name: str) -> str:
    piece = next((piece for piece, file in EDITABLE.items() if file == name), None)
    return f" (to continue from an edited one, use storm write --from {piece})" if piece else ""


def _model_notice(settings: Settings) -> str:
    """Return a note if a provider's key is set although no model is chosen; else empty."""
    provider = provider_with_key()
    if provider is None or "lm" in settings.model_fields_set or not is_embedded(settings.lm_of("writer")):
        return ""
    without = "making an extract without a language model" if settings.is_extract else "asking the embedded model"
    return (
        f"{without}, since no model was chosen; {provider.variables[0]} is set: --lm {provider.model} writes with that"
    )


def _fetch_notice(settings: Settings) -> str:
    """Return a note if a sentence encoder must be fetched first, which may take minutes; else empty."""
    if settings.embedder == EMBEDDER or is_here(settings.embedder, settings.cache):
        return ""
    return f"the sentence encoder {settings.embedder} is not on this machine, and is fetched from the model hub first"


def _encoder_notice(settings: Settings, embedder: Embedder) -> str:
    """Return a note if the pinned encoder is English but the article is not; else empty."""
    if settings.article_language == "en" or embedder.name != EMBEDDER:
        return ""
    return (
        f"the embedded sentence encoder {EMBEDDER} is English: for an article in {settings.language_name} give "
        "--embedder a multilingual sentence-transformers model, such as paraphrase-multilingual-MiniLM-L12-v2"
    )


def _wikipedia_contents(settings: Settings, engine: Engine) -> ContentsSource:
    mode = settings.wikipedia_contents
    asked = mode == "always" or (mode == "auto" and not engine.is_private)
    if not asked or engine.offline:
        return NoContents()
    from storm_pipeline.sources.search.tables_of_contents import WikipediaContents

    return WikipediaContents(settings.cache)


def _note_parts(run: RunStore, settings: Settings, parts: Parts, events: Events) -> None:
    """Record the engine, the prompts and the models of a session, and what the user should know about them."""
    engine = parts.engine
    if notice := _encoder_notice(settings, parts.embedder):
        events.noted(notice)
    chosen = {choice.role: choice.model for choice in parts.chosen if choice.role not in ROLES}
    run.update_state(engine=engine.spec, prompts=parts.programs.fingerprints(), models=chosen)
    if engine.why:
        events.noted(f"searching with {engine.spec}, {engine.why}")
    for problem in engine.problems:
        events.degraded(problem)


def _context(
    run: RunStore,
    settings: Settings,
    parts: Parts,
    pieces: UserPieces,
    *,
    events: Events,
    ledger: Ledger,
    control: RunControl,
) -> RunContext:
    """Open the context of one session; the caller closes its search and store."""
    engine = parts.engine
    search = RunSearch(engine, settings, embedder=parts.embedder)
    contents = parts.contents or engine.contents or _wikipedia_contents(settings, engine)
    store = ReferenceStore(parts.embedder)
    store.warm_up()
    models = LanguageModels(parts.models, events=events, control=control, journal=run.journal, settings=settings)
    programs = parts.programs.for_settings(settings)
    return RunContext(
        brief=brief_of(run.topic, settings),
        settings=settings,
        models=models,
        programs=programs,
        search=RecordedSearch(search, run.journal, events=events, control=control, settings=settings, spec=engine.spec),
        contents=RecordedLookUps(contents, run.journal, events),
        store=store,
        events=events,
        ledger=ledger,
        run=run,
        user_pieces=pieces,
        chosen=parts.chosen,
        judge=judge_of_run(settings, models, programs),
    )
