"""The main API: ``Storm`` writes articles and outlines, and resumes interrupted runs."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, TypedDict, Unpack, cast

from typing_extensions import TypeVar

from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.evidence.judges.language_model import LanguageModelJudge
from storm_pipeline.evidence.judges.support import support_as_judged, support_of
from storm_pipeline.evidence.retrieval.embedder import Embedder, require_working, shared_embedder
from storm_pipeline.evidence.run_search import NO_ENGINE, open_engine
from storm_pipeline.method.context import (
    MOST_SECTIONS,
    RunContext,
    parse_pieces,
    read_outline,
    read_piece,
    validate_topic,
)
from storm_pipeline.method.outlines import parse_outline
from storm_pipeline.method.saved_settings import changed_settings, pinned_engine, resumed_settings
from storm_pipeline.method.session import Parts, question_session, require_keys, session, trace_run
from storm_pipeline.models.choosing import GivenModels, choices, choose, may_differ, own_models, require_own
from storm_pipeline.models.model_objects import Model, ModelObject, split_models
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.programs import Programs, programs_of
from storm_pipeline.recipes import (
    DEFAULT,
    OUTLINES,
    Recipe,
    for_recipe,
    outline_run,
    own_recipes,
    recipe_of_run,
    require_outline,
    require_recipe,
)
from storm_pipeline.run.article_json import files_for_readers, from_json
from storm_pipeline.run.assets import Progress
from storm_pipeline.run.events import EventSink
from storm_pipeline.run.folder import EDITABLE, RunStore, SavedSettings, deleted_on_failure
from storm_pipeline.run.journal import fingerprint
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.run.stream import AsyncStream, Stream, in_thread
from storm_pipeline.settings import ROLES, Role, Settings, no_such_setting
from storm_pipeline.sources.search.base import AsyncSearchEngine, ContentsSource, Search, SearchEngine
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.engine_info import Engine
from storm_pipeline.text.files import read_plain
from storm_pipeline.text.formatting import dollars, with_noun
from storm_pipeline.text.stubs import open_seam
from storm_pipeline.types import Article, Outline, Support, Usage

if TYPE_CHECKING:
    from storm_pipeline.method.program import StormProgram

T = TypeVar("T")
R = TypeVar("R", default=Article | Outline)


class RunOptions(TypedDict, total=False):
    """Keyword arguments of every run, see :meth:`Storm.write`."""

    sinks: Sequence[EventSink]
    halt: threading.Event | None


class WriteOptions(RunOptions, total=False):
    """Keyword arguments of :meth:`Storm.write`."""

    outline: Outline | Path | str | None


class ResumeOptions(RunOptions, total=False):
    """Keyword arguments of :meth:`Storm.resume`."""

    accept_damage: bool
    user: Settings | None


class Storm:
    """Writes encyclopedia articles.

    Models, search engine and embedder are opened at first use and kept; several threads may write at once, each run
    with its own store, events and folder.

    Args:
        settings: all settings in one value; or pass them one by one as keywords.
        lm: the language model: its name, or a ``dspy.LM`` with its own parameters.
        search: name of an engine (see `storm search`), or any object with ``name`` and ``search(query, k)``, which may
            be asynchronous; see :class:`storm_pipeline.sources.search.base.SearchEngine`.
        models: role → the name of a model, a ``dspy.LM`` or a ``Model``; other roles use the settings' models.
        embedder: name or folder of a sentence-transformers model, or any object with its protocol.
        contents: source of tables of contents; default: Wikipedia.
        programs: compiled programs, or the folder of a compiled set; default: the package's own.
        recipes: the user's methods by name, in addition to :data:`storm_pipeline.recipes.RECIPES`; pass them again to
            resume their runs.
        sinks: receive the events of every run.
        progress: whether runs show their progress on standard error, or in the notebook; by default those do that have
            no sinks and run in a notebook or in the main thread with a terminal.
        **keywords: fields of :class:`Settings`.

    Raises SettingsError: a setting is unknown or out of range, or ``search`` is not an engine.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        lm: str | ModelObject | None = None,
        search: str | SearchEngine | AsyncSearchEngine | Search | None = None,
        models: Mapping[Role, str | ModelObject] | None = None,
        embedder: str | Embedder | None = None,
        contents: ContentsSource | None = None,
        programs: Programs | Path | str | None = None,
        recipes: Mapping[str, Recipe] | None = None,
        sinks: Sequence[EventSink] = (),
        progress: bool | None = None,
        **keywords: Any,
    ) -> None:
        if settings is not None and keywords:
            raise SettingsError(f"give either a Settings object or keywords, not both: {', '.join(sorted(keywords))}")
        if unknown := keywords.keys() - Settings.model_fields.keys():
            raise SettingsError(no_such_setting(min(unknown), ("models", "contents", "recipes", "sinks", "progress")))
        values = settings.model_dump(exclude_unset=True) if settings else keywords.copy()
        named, objects = split_models(lm, models or {})
        self._given = GivenModels.to_storm(settings, {*named, *keywords}, objects)
        values |= named
        engine = None if search is None or isinstance(search, str) else with_checks(search)
        if search is not None:
            values["search"] = engine.name if engine else search
        if isinstance(embedder, str):
            values["embedder"] = embedder
        if isinstance(programs, Path | str):
            values["programs"] = Path(programs)
        self.settings = Settings.build(values)
        self._engine_object = engine
        self._embedder_object = None if isinstance(embedder, str) else embedder
        self._contents = contents
        self._programs_object = programs if isinstance(programs, Programs) else None
        self._recipes = own_recipes(recipes or {})
        self._loaded: tuple[Path | None, Programs] | None = None
        self._sinks = tuple(sinks)
        self._engine: Engine | None = None
        self._models: dict[Role, Model] | None = None
        self._embedder: Embedder | None = None
        self._progress = progress
        self._resumed_with: Storm | None = None
        self._opened_by: Storm | None = None
        self._opening = threading.Lock()
        self._halts: set[threading.Event] = set()
        self._running: set[threading.Event] = set()

    def write(
        self,
        topic: str,
        recipe: str = DEFAULT,
        *,
        outline: Outline | Path | str | None = None,
        sinks: Sequence[EventSink] = (),
        halt: threading.Event | None = None,
    ) -> Article:
        """Research a topic and write an article about it.

        Args:
            topic: the topic of the article, at most 300 characters.
            recipe: the method, one of :data:`storm_pipeline.recipes.RECIPES`; the others are baselines and ablations.
            outline: the sections of the article, instead of a generated outline: an outline, or a file of headings, see
                :func:`storm_pipeline.method.context.read_outline`.
            sinks: receive the events of this run, in addition to the object's sinks.
            halt: set it, from any thread, to stop this run gracefully; :meth:`stop` stops all.

        The run's folder (below ``settings.out``) holds the article in every format, the research and the usage.
        :meth:`resume` continues an unfinished run without repeating a request.

        Raises:
            SettingsError: the topic is empty or too long, or a setting or the outline cannot be used.
            NothingFoundError: no source was found.
            StoppedError, TooManyFailuresError: the run ended early.
            ModelAuthError, ModelError, SearchError, RunError, AssetError: see :mod:`storm_pipeline.errors`.
        """
        work = self._writer_of(recipe)
        return self._new_run(topic, recipe, work, halt, *sinks, pieces=_user_pieces(topic, recipe, outline))

    def outline(
        self, topic: str, recipe: str = "storm", *, sinks: Sequence[EventSink] = (), halt: threading.Event | None = None
    ) -> Outline:
        """Research a topic and outline an article about it (the paper's pre-writing stage).

        Arguments and errors are those of :meth:`write`; the recipe is one of :data:`storm_pipeline.recipes.OUTLINES`.
        """
        return self._new_run(topic, outline_run(recipe), _outline, halt, *sinks)

    def answer(
        self,
        question: str,
        recipe: str = "answer",
        *,
        sinks: Sequence[EventSink] = (),
        halt: threading.Event | None = None,
    ) -> Article:
        """Search for a question and answer it at length, every sentence cited (FoRAG 4.1).

        The answer is an article whose title is the question. Its length is :attr:`Settings.answer_words`, its outline
        ``plan.json`` in the run's folder.

        Args:
            question: at most 300 characters.
            recipe: ``answer``, or ``answer-no-outline``, the baseline.

        Other arguments and errors are those of :meth:`write`.
        """
        return self.write(question, recipe, sinks=sinks, halt=halt)

    def resume(
        self,
        run: Path | str,
        kind: type[R] | None = None,
        *,
        accept_damage: bool = False,
        user: Settings | None = None,
        sinks: Sequence[EventSink] = (),
        halt: threading.Event | None = None,
    ) -> R:
        """Resume a run that was interrupted, stopped, capped or failed; the result of a finished one is loaded.

        Recorded replies and searches are reused for unchanged requests. The run's content settings apply unless this
        object has others. Its model, its engine and other non-default settings must be given again: the folder may come
        from elsewhere and must not choose services, keys or files.

        Args:
            run: the run's folder.
            kind: the type of the result, :class:`Article` or :class:`Outline`.
            accept_damage: continue although files of the run were lost or changed, which may repeat paid calls.
            user: the user's configuration: a model or engine counts as given if it names the same one as the run.
            sinks: as for :meth:`write`.
            halt: as for :meth:`write`.

        Raises:
            SettingsError: the run used a model, an engine or another setting that is not given; the message names it.
            DamagedRunError: files of the run were lost or changed; the message names them and the cost.
            RunError: not a run's folder, made by a newer version, locked by another process, or not of this ``kind``.
        """
        with self._register_halt(halt) as stopped, RunStore.open(Path(run), accept_damage=accept_damage) as store:
            makes: type[Any] = Outline if recipe_of_run(store.recipe)[1] else Article
            if kind not in (None, makes):
                raise RunError(f"{run} is the run of an {makes.__name__.lower()}: resume it as that")
            saved = store.saved_settings()
            settings = changed_settings(saved, self.settings)
            result: Any = self._finished_result(store, saved, settings)
            if result is not None:
                return cast("R", result)
            settings = _resume_settings(store, saved, self.settings, user)
            search = pinned_engine(settings.search, store.state.get("engine"))
            if search != settings.search:
                settings = settings.model_copy(update={"search": search})
            work: Callable[[RunContext], Any] = _outline if makes is Outline else self._writer_of(store.recipe)
            require_own(store.state.get("models"), self.programs)
            chosen = self._with_settings(settings)._with_choices(store.recipe, store.state)
            return cast("R", chosen._session(store, work, stopped, *sinks, before=saved))

    def ask(
        self,
        article: Article | Path | str,
        question: str,
        *,
        sinks: Sequence[EventSink] = (),
        halt: threading.Event | None = None,
    ) -> Article:
        """Answer a question from the sources of an article alone, every sentence cited.

        The answer is an article whose title is the question. If the sources do not say, it has no text, and its note
        says so. Without a language model it has the sources' nearest sentences.

        Args:
            article: the article, or the folder of its run: the question then counts in the usage and the caps of the
                run, whose folder keeps the answer, so that it is not paid again.
            question: at most 300 characters.

        Raises RunError: the run has no article. Others, and other arguments, are those of :meth:`resume`.
        """
        from storm_pipeline.method.steps.follow_up import answer_question

        question, sinks = validate_topic(question), (*self._sinks, *sinks)
        with ExitStack() as stack:
            stopped = stack.enter_context(self._register_halt(halt))
            if isinstance(article, Article):
                place, settings = stack.enter_context(TemporaryDirectory(prefix="storm-")), self.settings
                run = stack.enter_context(RunStore.create(Path(place), article.title, "answer"))
            else:
                run = stack.enter_context(RunStore.open(Path(article), keep_edited=True))
                saved = {name: value for name, value in run.saved_settings().items() if name != "search"}
                settings = _resume_settings(run, saved, self.settings, None)
                article = _article_of(run, "article.json")
            piece = f"questions/{fingerprint(question, [source.id for source in article.sources])}.json"
            with suppress(RunError):
                return _article_of(run, piece)
            chosen = self._with_settings(settings)._with_choices("answer", run.state)
            require_keys(chosen.settings, own_engine=True)
            opened = partial(chosen._open, searches=False)
            ctx = stack.enter_context(question_session(run, chosen.settings, opened, sinks=sinks, halt=stopped))
            start = time.monotonic()
            answer = answer_question(ctx, article, question)
            answer = replace(answer, usage=ctx.ledger.usage(time.monotonic() - start))
            if not chosen.settings.is_extract:
                run.save_text(piece, answer.to_json())
            return answer

    async def awrite(self, topic: str, recipe: str = DEFAULT, **options: Unpack[WriteOptions]) -> Article:
        """Write an article as :meth:`write` does, for asyncio; cancelling stops the run, so that it can be resumed."""
        return await in_thread(partial(self.write, topic, recipe, **options), options.get("halt"))

    async def aoutline(self, topic: str, recipe: str = "storm", **options: Unpack[RunOptions]) -> Outline:
        """Make an outline as :meth:`outline` does, for asyncio; cancelled as :meth:`awrite`."""
        return await in_thread(partial(self.outline, topic, recipe, **options), options.get("halt"))

    async def aresume(self, run: Path | str, kind: type[R] | None = None, **options: Unpack[ResumeOptions]) -> R:
        """Resume a run as :meth:`resume` does, for asyncio; cancelled as :meth:`awrite`."""
        return await in_thread(partial(self.resume, run, kind, **options), options.get("halt"))

    def stream(self, topic: str, recipe: str = DEFAULT, **options: Unpack[WriteOptions]) -> Stream:
        """Stream the events of :meth:`write`: ``for event in storm.stream(topic): …``; see :class:`Stream`."""
        return Stream(*self._prepare_stream(topic, recipe, options))

    def astream(self, topic: str, recipe: str = DEFAULT, **options: Unpack[WriteOptions]) -> AsyncStream:
        """Stream events for asyncio: ``async for event in storm.astream(topic): …``; see :class:`AsyncStream`."""
        return AsyncStream(*self._prepare_stream(topic, recipe, options))

    def _prepare_stream(
        self, topic: str, recipe: str, options: "WriteOptions"
    ) -> tuple[Callable[[EventSink], Article], threading.Event]:
        halt, sinks = options.get("halt") or threading.Event(), options.get("sinks", ())
        return lambda sink: self.write(topic, recipe, **(options | {"halt": halt, "sinks": [*sinks, sink]})), halt

    def stop(self) -> None:
        """Stop every run of this object gracefully: work in flight is finished and saved, then StoppedError is raised.

        Safe from any thread or signal handler. During set-up, a run ends after the current step, a download at once.
        """
        for halt in tuple(self._halts):
            halt.set()

    @property
    def running(self) -> bool:
        """Whether a run of this object is in progress, after its set-up."""
        return bool(self._running)

    @contextmanager
    def _register_halt(self, halt: threading.Event | None = None) -> Iterator[threading.Event]:
        """Register an event that :meth:`stop` sets while the block runs."""
        halt = halt or threading.Event()
        self._halts.add(halt)
        try:
            yield halt
        finally:
            self._halts.discard(halt)

    def _writer_of(self, recipe: str) -> Callable[[RunContext], Article]:
        require_recipe(recipe, self._recipes)
        return partial(_write, self._recipes[recipe])

    def _new_run(
        self,
        topic: str,
        recipe: str,
        work: Callable[[RunContext], T],
        halt: threading.Event | None = None,
        *sinks: EventSink,
        pieces: Mapping[str, str] | None = None,
    ) -> T:
        topic = validate_topic(topic)
        chosen = self._with_choices(recipe)
        require_keys(chosen.settings, own_engine=self._engine_object is not None)
        with self._register_halt(halt) as stopped, RunStore.create(self.settings.out, topic, recipe, pieces) as run:
            return chosen._session(run, work, stopped, *sinks)

    def _with_choices(self, recipe: str, begun: Mapping[str, Any] | None = None) -> "Storm":
        """Return a copy with the models that the programs and the caller's DSPy settings choose for a run."""
        settings, given = choose(self.settings, self._given, self.programs, begun)
        settings = for_recipe(settings, recipe)
        if given is self._given and settings is self.settings:
            return self
        copy = self._copy(settings)
        copy._given, copy._opened_by = given, self._opened_by or self
        return copy

    def _session(
        self,
        run: RunStore,
        work: Callable[[RunContext], T],
        halt: threading.Event,
        *sinks: EventSink,
        before: SavedSettings | None = None,
    ) -> T:
        saved, given = before or {}, self._given
        with (
            open_seam("progress").with_progress((*self._sinks, *sinks), self._progress) as shown,
            session(run, self.settings, self._open, sinks=shown, halt=halt, before=saved, given=given) as ctx,
        ):
            self._running.add(halt)
            try:
                return trace_run(lambda: work(ctx), run.topic, run.recipe)
            finally:
                self._running.discard(halt)

    @property
    def programs(self) -> Programs:
        """The programs of the runs: those given, those of the set in the settings, or the package's.

        Raises ProgramError: the set cannot be used.
        """
        if self._programs_object is not None:
            return self._programs_object
        place = self.settings.compiled_set
        if self._loaded is None or self._loaded[0] != place:
            self._loaded = place, programs_of(place)
        return self._loaded[1]

    @property
    def program(self) -> "StormProgram":
        """This object as a DSPy module, to be evaluated and optimised; see :class:`StormProgram`.

        Each access makes a new module with its own programs: keep a reference to call it after ``set_lm``.
        """
        from storm_pipeline.method.program import StormProgram

        return StormProgram(self)

    def _with_programs(self, programs: Programs, out: Path | None = None) -> "Storm":
        """Return a copy with other programs and another folder for runs; it shares models, engine and encoder."""
        copy = self._copy(self.settings.model_copy(update={"out": out or self.settings.out}))
        copy._programs_object = programs
        copy._opened_by = self._opened_by or self
        return copy

    def _with_settings(self, settings: Settings) -> "Storm":
        """Return a copy with other settings; the last copy is cached, so that resumed runs share its parts."""
        if settings == self.settings:
            return self
        with self._opening:
            if self._resumed_with is None or self._resumed_with.settings != settings:
                self._resumed_with = self._copy(settings)
            return self._resumed_with

    def _copy(self, settings: Settings) -> "Storm":
        """Return a copy with the same constructor arguments and halt events that opens its own parts."""
        copy = object.__new__(type(self))
        vars(copy).update(vars(self))
        copy.settings = settings
        copy._engine = copy._models = copy._embedder = copy._resumed_with = copy._opened_by = None
        copy._opening = threading.Lock()
        return copy

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            "a Storm is not pickled or copied: it holds keys, locks and open models of this process; send its "
            "settings (storm.settings), and make Storm(settings, …) where it is needed"
        )

    def _has_same_models(self, other: "Storm") -> bool:
        names = [[storm.settings.lm_of(role) for role in ROLES] for storm in (self, other)]
        return names[0] == names[1] and self._given.objects == other._given.objects

    def _finished_result(self, run: RunStore, saved: SavedSettings, settings: Settings) -> Article | Outline | None:
        """Return the result of a finished run; None if a piece is missing or the result would differ now."""
        intact = run.state.get("status") == "finished" and not run.replaced and not run.journal.damaged
        same = settings == changed_settings(saved, Settings())
        other = may_differ(run.state.get("models"), settings, self.programs)
        if other or not (intact and same and run.state.get("prompts") == self.programs.fingerprints()):
            return None
        if recipe_of_run(run.recipe)[1]:
            text = run.piece("outline.md")
            return parse_outline(text, run.topic, max_sections=MOST_SECTIONS, max_depth=6) if text else None
        return _article_of(run, "article.json") if run.piece("article.json") else None

    def _open(self, progress: Progress, check: Callable[[], None], *, searches: bool = True) -> Parts:
        """Open search engine, models and embedder; the first run opens them, and all later ones share them.

        ``searches``: whether the engine is needed. Models are opened again if other ones were chosen for a run.
        """
        settings, owner = self.settings, self._opened_by or self
        models_of = owner if self._has_same_models(owner) else self
        program_models = own_models(self.programs, settings)
        with owner._opening:
            check()
            if searches:
                owner._engine = owner._engine or open_engine(owner.settings, owner._engine_object, progress, check)
            check()
            if not settings.is_extract:
                models_of._models = models_of._models or open_models(settings, progress, self._given.objects)
            models = {} if settings.is_extract else models_of._models or {}
            check()
            if owner._embedder is None:
                embedder = self._embedder_object or shared_embedder(settings.embedder, settings.cache, progress)
                require_working(embedder)
                owner._embedder = embedder
            check()
            chosen = choices(settings, self._given, models, program_models)
            engine = owner._engine if searches and owner._engine else NO_ENGINE
            parts = engine, models, owner._embedder, self._contents
            return Parts(*parts, self.programs, chosen)


def prepare(
    storm: Storm,
    topic: str,
    recipe: str | None = None,
    makes: type[Article | Outline] = Article,
    *,
    outline: Outline | Path | str | None = None,
) -> Path:
    """Make the folder of a run that begins later, for example from a queue.

    ``storm.resume`` starts it, in any process.

    Args:
        makes: :class:`Article` or :class:`Outline`; other arguments and errors are those of :meth:`Storm.write` and
            :meth:`Storm.outline`, and a ``recipe`` of None is the default.

    Returns:
        The folder, which holds topic, recipe and settings.
    """
    name = outline_run(recipe or "storm") if makes is Outline else recipe or DEFAULT
    if makes is Article:
        storm._writer_of(name)
    topic, pieces = validate_topic(topic), _user_pieces(topic, name, outline)
    chosen = storm._with_choices(name)
    require_keys(chosen.settings, own_engine=storm._engine_object is not None)
    run = RunStore.create(storm.settings.out, topic, name, pieces)
    with deleted_on_failure(run.folder), run:
        run.queue(chosen.settings, chosen._given.chosen_by)
        return run.folder


def write_from(
    storm: Storm, piece: str, run: Path | str, *, accept_damage: bool = False, user: Settings | None = None
) -> Article:
    """Write an article from a piece of an earlier run that was edited by hand, in a new folder.

    Args:
        piece: ``outline`` (the run's outline.md) or ``perspectives`` (its perspectives.json).
        run: the earlier run's folder, which is not changed.
        accept_damage, user: as for :meth:`Storm.resume`.

    Raises:
        SettingsError: no such piece, or as for :meth:`Storm.resume`.
        RunError: the run or its piece cannot be read. Other errors as for :meth:`Storm.write`.
    """
    if piece not in EDITABLE:
        raise SettingsError(f"a run cannot be continued from {piece!r}: choose one of {', '.join(EDITABLE)}")

    def read(old: RunStore) -> Mapping[str, Any]:
        return {piece: read_piece(old.folder / EDITABLE[piece])}

    with storm._register_halt() as halt:
        chosen, new, saved = _fork(storm, run, read, accept_damage=accept_damage, user=user)
        with new:
            return chosen._session(new, storm._writer_of(new.recipe), halt, before=saved)


def prepare_from(storm: Storm, run: Path | str, pieces: Mapping[str, Any]) -> Path:
    """Make the folder of a run that writes an article from edited pieces of an earlier run, and begins later.

    ``pieces``: ``outline`` (Markdown) or ``perspectives`` (a list of names and focuses), or both; others stay as the
    earlier run has them. Returns the folder, as :func:`prepare`. Errors as for :func:`write_from`.
    """
    chosen, new, _ = _fork(storm, run, lambda _: pieces)
    with deleted_on_failure(new.folder), new:
        new.queue(chosen.settings, chosen._given.chosen_by)
        return new.folder


def _fork(
    storm: Storm,
    run: Path | str,
    read: Callable[[RunStore], Mapping[str, Any]],
    *,
    accept_damage: bool = False,
    user: Settings | None = None,
) -> tuple[Storm, RunStore, SavedSettings]:
    """Return a new run of an article with the records of an earlier one and edited pieces, and what executes it.

    The run of an outline becomes that of an article by the same method.
    """
    with RunStore.open(Path(run), keep_edited=True, accept_damage=accept_damage) as old:
        saved = old.saved_settings()
        settings = _resume_settings(old, saved, storm.settings, user)
        require_own(old.state.get("models"), storm.programs)
        recipe, _ = recipe_of_run(old.recipe)
        chosen = storm._with_settings(settings)._with_choices(recipe, old.state)
        require_keys(chosen.settings, own_engine=storm._engine_object is not None)
        pieces = read(old)
        parse_pieces(old.topic, pieces)  # validates them before a folder is made
        return chosen, old.fork(settings.out, pieces, recipe), saved


def write(topic: str, *, outline: Outline | Path | str | None = None, **settings: Any) -> Article:
    """Write one article: ``write("Silk Road", lm="openai/gpt-4o", search="you")``; see :class:`Storm`."""
    return Storm(**settings).write(topic, outline=outline)


def answer(question: str, **settings: Any) -> Article:
    """Answer one question: ``answer("Why do rivers meander?", search="you")``; see :class:`Storm`."""
    return Storm(**settings).answer(question)


def ask(article: Article | Path | str, question: str, **settings: Any) -> Article:
    """Answer a question from an article's sources: ``ask("runs/silk-road-…", "Who paid?")``; see :meth:`Storm.ask`."""
    return Storm(**settings).ask(article, question)


def resume(run: Path | str, kind: type[R] | None = None, *, accept_damage: bool = False, **settings: Any) -> R:
    """Resume an interrupted run; see :meth:`Storm.resume`."""
    return Storm(**settings).resume(run, kind, accept_damage=accept_damage)


def _write(method: Recipe, ctx: RunContext) -> Article:
    start = time.monotonic()
    article = method(ctx)
    if unread := ctx.search.research.unread_pages:
        url, reason = next(iter(sorted(unread.items())))
        ctx.events.degraded(f"{len(unread)} pages not read, their snippets used instead, such as {url}: {reason}")
    uncited = sum(not s.citations for section in article.sections for s in section.sentences())
    report = replace(ctx.ledger.report(), uncited=uncited, models=ctx.chosen)
    usage = ctx.ledger.usage(time.monotonic() - start)
    article = replace(
        article,
        usage=usage,
        report=report,
        sources_excluded=ctx.search.research.excluded_pages,
        revisions=ctx.ledger.revisions(),
        written=ctx.run.created,
    )
    article = replace(article, support=_support(ctx, article))
    _save_usage(ctx, usage)
    for name, text in files_for_readers(article).items():
        ctx.run.save_text(name, text)
    return article


def _support(ctx: RunContext, article: Article) -> Support | None:
    """Return the judge's verdicts on the article; with a language model, those given while it was written."""
    if ctx.judge is None or not any(s.citations for s in article.sentences()):
        return None
    if isinstance(ctx.judge, LanguageModelJudge):
        return support_as_judged(article, ctx.judge, ctx.verdicts)
    return support_of(article, ctx.judge)


def _outline(ctx: RunContext) -> Outline:
    start = time.monotonic()
    outline = OUTLINES[recipe_of_run(ctx.run.recipe)[0]](ctx)
    _save_usage(ctx, ctx.ledger.usage(time.monotonic() - start))
    return outline


def _resume_settings(run: RunStore, saved: SavedSettings, given: Settings, user: Settings | None) -> Settings:
    calls, spent = len(run.journal.own_calls), Ledger().restore(run.earlier_events)
    costs = f", which may buy its {with_noun(calls, 'model call')} ({dollars(spent.dollars)}) again" if calls else ""
    return resumed_settings(run.folder, saved, given, user, costs=costs)


def _article_of(run: RunStore, piece: str) -> Article:
    try:
        return from_json(read_plain(run.folder / piece).decode("utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"{run.folder} has no article that can be read: resume the run first") from error


def _save_usage(ctx: RunContext, usage: Usage) -> None:
    ctx.run.save_json("usage.json", usage)
    ctx.run.save_json("excluded.json", ctx.search.research.excluded_pages)


def _user_pieces(topic: str, recipe: str, outline: Outline | Path | str | None) -> dict[str, str]:
    if outline is None:
        return {}
    require_outline(recipe)
    return {"outline": read_outline(outline, validate_topic(topic))}
