"""The front door: ``Storm`` writes articles and outlines."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from storm_pipeline import recipes
from storm_pipeline.assets import Progress
from storm_pipeline.context import RunContext
from storm_pipeline.errors import SettingsError
from storm_pipeline.events import Downloading, Events, EventSink, Excluded, JsonLinesSink, RunFinished, RunStarted
from storm_pipeline.finding import Engine, RunSearch, open_engine
from storm_pipeline.ledger import Ledger
from storm_pipeline.models import LanguageModels, Model, open_models
from storm_pipeline.programs import Programs
from storm_pipeline.references.embedder import Embedder, open_embedder
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.runs import RunStore
from storm_pipeline.search.base import SearchEngine
from storm_pipeline.search.contents import ContentsSource, WikipediaContents
from storm_pipeline.settings import Role, Settings
from storm_pipeline.types import Article, Outline

_LONGEST_TOPIC = 300
T = TypeVar("T")


class Storm:
    """Writes encyclopedia articles.

    Models, search engine and embedder are opened at first use and kept; several threads may write at once, each run
    with its own store, events and folder.

    Args:
        settings: all settings at once; or give them one by one as keywords.
        search: name of an engine (see `storm search`), or any object with ``name`` and ``search(query, k)``.
        models: a role → model table of one's own instead of what the settings name.
        embedder: an embedder of one's own instead of what the settings name.
        contents: where tables of contents are looked up; default: Wikipedia.
        programs: compiled programs; default: the package's own.
        sinks: receive the events of every run.
        **keywords: fields of :class:`Settings`.

    Raises:
        SettingsError: a setting is unknown or out of range.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        search: str | SearchEngine | None = None,
        models: dict[Role, Model] | None = None,
        embedder: Embedder | None = None,
        contents: ContentsSource | None = None,
        programs: Programs | None = None,
        sinks: Sequence[EventSink] = (),
        **keywords: Any,
    ) -> None:
        if settings is not None and keywords:
            raise SettingsError(f"give either a Settings object or keywords, not both: {', '.join(sorted(keywords))}")
        given = settings.model_dump(exclude_unset=True) if settings else keywords
        if isinstance(search, str):
            given = {**given, "search": search}
        elif search is not None:
            given = {**given, "search": search.name}
        self.settings = Settings.build(given)
        self._own_search = search if search is not None and not isinstance(search, str) else None
        self._own_models = models
        self._own_embedder = embedder
        self._own_contents = contents
        self._programs = programs or Programs()
        self._sinks = tuple(sinks)
        self._opened: tuple[Engine, dict[Role, Model], Embedder] | None = None
        self._opening = threading.Lock()

    def write(self, topic: str) -> Article:
        """Research a topic and write an article about it.

        The run's folder (below ``settings.out``) holds the article in every form, the research and the usage.

        Raises:
            SettingsError: the topic is empty or too long, or a setting cannot be used.
            NothingFoundError: no source was found.
            ModelAuthError, ModelError, SearchError, RunError, AssetError: see :mod:`storm_pipeline.errors`.
        """
        return self._run(topic, self._write)

    def outline(self, topic: str) -> Outline:
        """Research a topic and outline an article about it (the paper's pre-writing stage); errors as :meth:`write`."""
        return self._run(topic, lambda ctx, title: recipes.storm_outline(ctx, title)[0])

    def _write(self, ctx: RunContext, topic: str) -> Article:
        start = time.monotonic()
        article = recipes.storm(ctx, topic)
        if unread := ctx.search.unread:
            url, reason = next(iter(unread.items()))
            ctx.events.degraded(f"{len(unread)} pages not read, their snippets stand in, such as {url}: {reason}")
        uncited = sum(not s.citations for section in article.sections for s in section.sentences())
        report = replace(ctx.ledger.report(), uncited=uncited)
        usage = ctx.ledger.usage(time.monotonic() - start)
        done = replace(article, usage=usage, report=report, sources_excluded=ctx.search.excluded)
        ctx.run.save_text("article.md", done.to_markdown())
        ctx.run.save_text("article.html", done.to_html())
        ctx.run.save_text("article.json", done.to_json())
        ctx.run.save_json("usage.json", done.usage)
        ctx.run.save_json("references.json", done.references)
        ctx.run.save_json("excluded.json", done.sources_excluded)
        return done

    def _run(self, topic: str, recipe: Callable[[RunContext, str], T]) -> T:
        topic = _checked(topic)
        run = RunStore.create(self.settings.out, topic)
        run.save_json("settings.json", self.settings)
        with ExitStack() as stack:
            ledger = Ledger()
            events = Events(ledger, *self._file_sink(run, stack), *self._sinks)
            folder = str(run.folder or "")
            events.emit(RunStarted("run", topic, folder))
            start = time.monotonic()
            with events.in_stage("set-up"):
                ctx = self._context(events, ledger, run)
            stack.callback(ctx.store.close)
            stack.callback(ctx.search.close)
            result = recipe(ctx, topic)
            events.emit(RunFinished("run", round(time.monotonic() - start, 1), folder))
            return result

    def _context(self, events: Events, ledger: Ledger, run: RunStore) -> RunContext:
        settings = self.settings
        engine, table, embedder = self._open(
            lambda name, done, total: events.emit(Downloading(events.stage, name, done, total))
        )
        if engine.why:
            events.noted(f"searching with {engine.spec}, {engine.why}")
        for problem in engine.problems:
            events.degraded(problem)
        search = RunSearch(
            engine,
            settings,
            on_exclusion=lambda one: events.emit(Excluded(events.stage, one.url, one.reason)),
            embedder=embedder,
        )
        models = LanguageModels(
            table,
            events=events,
            workers=settings.calls_in_flight,
            attempts=settings.attempts,
            samples=settings.samples,
            seed=settings.seed,
        )
        store = ReferenceStore(embedder)
        store.warm_up()
        return RunContext(
            settings=settings,
            models=models,
            programs=self._programs,
            search=search,
            contents=self._own_contents or engine.contents or WikipediaContents(settings.cache),
            store=store,
            events=events,
            ledger=ledger,
            run=run,
        )

    def _open(self, progress: Progress) -> tuple[Engine, dict[Role, Model], Embedder]:
        """Search engine, models and embedder, opened by the first run and kept for all later ones."""
        settings = self.settings
        with self._opening:
            if self._opened is None:
                self._opened = (
                    open_engine(settings, self._own_search, progress),
                    self._own_models or open_models(settings, progress),
                    self._own_embedder or open_embedder(settings.embedder, settings.cache, progress),
                )
            return self._opened

    @staticmethod
    def _file_sink(run: RunStore, stack: ExitStack) -> list[EventSink]:
        if run.folder is None:
            return []
        path = Path(run.folder) / "events.jsonl"
        return [JsonLinesSink(stack.enter_context(path.open("w", encoding="utf-8")))]


def write(topic: str, **settings: Any) -> Article:
    """Write one article: ``write("Silk Road", lm="openai/gpt-4o", search="you")``; see :class:`Storm`."""
    return Storm(**settings).write(topic)


def _checked(topic: str) -> str:
    topic = " ".join(topic.split())
    if not topic.isprintable():
        raise SettingsError("the topic holds characters that are no text: check how it was typed or passed")
    if not topic:
        raise SettingsError("the topic is empty: say what the article should be about")
    if len(topic) > _LONGEST_TOPIC:
        raise SettingsError(
            f"the topic has {len(topic)} characters, at most {_LONGEST_TOPIC} are allowed: name it, do not describe it"
        )
    return topic
