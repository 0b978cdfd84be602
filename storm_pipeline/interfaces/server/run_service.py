"""Starting, resuming, stopping and following runs for remote callers, with the run's folder as the only record."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storm_pipeline.errors import BudgetSpentError, ContradictionError, RunError, SettingsError, StormError
from storm_pipeline.interfaces.batch.write_topic import storm_pool
from storm_pipeline.interfaces.estimate import estimate
from storm_pipeline.interfaces.server.budget import Budgets
from storm_pipeline.interfaces.server.callers import CALLER, OWNER, Caller, Tokens
from storm_pipeline.interfaces.server.checking import ArticleCheck
from storm_pipeline.interfaces.server.documents import DocumentSets
from storm_pipeline.interfaces.server.errors import ConflictError, UnknownRunError
from storm_pipeline.interfaces.server.estimates import EstimateView
from storm_pipeline.interfaces.server.pieces import RunPieces, read_pieces
from storm_pipeline.interfaces.server.places import caller_name, make_places
from storm_pipeline.interfaces.server.records import RunRecord, records_folder
from storm_pipeline.interfaces.server.redaction import Redactor
from storm_pipeline.interfaces.server.remote_settings import RemoteSettings, RunOrder
from storm_pipeline.interfaces.server.run_folders import EventFile, RunFolders, RunView
from storm_pipeline.interfaces.server.run_queue import Job, RunQueue
from storm_pipeline.interfaces.server.setup import SetupLookup
from storm_pipeline.interfaces.server.source_search import SourceSearch
from storm_pipeline.method.context import UserPieces, parse_pieces, require_whole
from storm_pipeline.models.prices import require_prices
from storm_pipeline.recipes import DEFAULT
from storm_pipeline.run.events import CallbackSink, Event, EventSink
from storm_pipeline.run.log import logger
from storm_pipeline.settings import Settings
from storm_pipeline.types import Article, Outline

if TYPE_CHECKING:
    from storm_pipeline.storm import Storm

POLL = 0.25  # seconds between polls for new events
_POOL = 4  # cached ``Storm`` objects, one per settings


class RunService(AbstractContextManager["RunService"]):
    """The runs of a server. Thread-safe; a context manager that stops its runs gracefully.

    An accepted order gets a folder at once: it waits there, is started by resuming it, and stores the reason of a
    failure.

    Args:
        remote: the owner's settings, and the choices of callers.
        most_waiting: maximum number of waiting runs, >= 0.
        budget: maximum total US dollars of all runs in the folder; needs ``max_cost``, which a run reserves.
        open_storm: makes a ``Storm`` from settings; by default the class.

    Raises SettingsError: a number is out of range, or a budget without a cap per run.
    """

    def __init__(
        self,
        remote: RemoteSettings,
        *,
        at_once: int = 2,
        most_waiting: int = 100,
        budget: float | None = None,
        open_storm: "Callable[[Settings], Storm] | None" = None,
    ) -> None:
        if budget is not None and remote.owner.max_cost is None:
            raise SettingsError("a budget over all runs (--budget) needs a cap for each run: add --max-cost")
        self.remote = remote
        self.folders = RunFolders(remote.owner.out)
        self.tokens = Tokens(remote.owner.out)
        records = records_folder(remote.owner.out)
        self.documents = DocumentSets(records / "documents")
        self.share, self.unshare, self.shared = self.folders.share, self.folders.unshare, self.folders.shared
        self.redactor = Redactor((remote.owner.out, remote.owner.cache, records))
        self._storm = storm_pool(open_storm, size=_POOL)
        self._budgets = Budgets(remote.owner.out, budget)
        self.setup = SetupLookup(remote.owner).get
        self.queue = RunQueue(at_once, most_waiting, self._budgets)
        self.checks, self.sources = ArticleCheck(self.queue, remote.owner), SourceSearch(remote.owner)
        self.questions = make_places("questions", 8)
        self._listings = make_places("listings of runs", 16)  # each reads all runs
        self._accepting = threading.Lock()

    def accessible(self, name: str) -> str:
        """Return the name of a run, if the caller of the current request has access to it.

        Raises UnknownRunError: no such run, or no access to it; LookupError: there is no current request.
        """
        if not CALLER.get().has_access(self.folders.record(name).caller):
            raise UnknownRunError("there is no run of this name")
        return name

    def start(self, order: RunOrder, caller: Caller = OWNER) -> str:
        """Accept a run and return its name once its folder is made; it begins at once or waits.

        Raises:
            SettingsError, RunError: the topic, recipe, outline or a setting cannot be used, or no folder can be made.
            BusyError, BudgetSpentError: too many waiting runs, or a budget is spent.
            ConflictError: the caller has the maximum number of runs.
            UnknownDocumentsError: the caller has no such set of documents.
        """
        settings, outline = self._settings_of(order, caller), _parse_outline(order)
        makes: type[Article | Outline] = Outline if order.makes == "outline" else Article
        from storm_pipeline.storm import prepare

        def make(storm: "Storm") -> Path:
            return prepare(storm, order.topic, order.recipe, makes, outline=outline)

        return self._accept(make, settings, caller, order.documents)

    def estimate(self, order: RunOrder, caller: Caller = OWNER) -> EstimateView:
        """Estimate calls, tokens, dollars and minutes of a run by a formula, without a call; errors as for `start`."""
        settings, is_outline = self._settings_of(order, caller), order.makes == "outline"
        recipe = order.recipe or ("storm" if is_outline else DEFAULT)
        outline = _parse_outline(order)
        estimated = estimate(settings, order.topic, recipe=recipe, outline_only=is_outline, outline=outline)
        require_prices(settings.max_cost, estimated.prices)
        return EstimateView.of(estimated, self.folders.newest(), outline)

    def continue_from(
        self,
        name: str,
        outline: str | None = None,
        perspectives: Sequence[Mapping[str, str]] | None = None,
        caller: Caller = OWNER,
    ) -> str:
        """Write an article from edited pieces of a run, in a new run with its records, and return the new run's name.

        Nothing that was paid is paid again, but for what depends on what was edited. ``outline``: headings as Markdown;
        ``perspectives``: names and focuses; None, for either: as the run has it.

        Raises ContradictionError: nothing can be made of the pieces; ConflictError: the run is active or waiting.
        Others as for :meth:`start`.
        """
        if self.is_running(name):
            raise ConflictError("the run is under way or waits for its turn: stop it first")
        folder, documents = self.folders.path(name), self.folders.record(name).documents
        settings = self._with_documents(self._next_settings(name), caller, documents)
        given = {"outline": outline, "perspectives": None if perspectives is None else list(map(dict, perspectives))}
        pieces = {name: value for name, value in given.items() if value is not None}
        _parse_pieces(self.folders.view(name).topic, pieces)
        from storm_pipeline.storm import prepare_from

        return self._accept(lambda storm: prepare_from(storm, folder, pieces), settings, caller, documents)

    def choices_of(self, name: str) -> dict[str, str]:
        """Return the settings of a run that its caller may have chosen; empty if they cannot be read."""
        with suppress(StormError):
            saved = self._next_settings(name)
            chosen = {choice: getattr(saved, choice) for choice in self.remote.choices()}
            may = self.remote.is_allowed
            return {choice: str(v) for choice, v in chosen.items() if v is not None and may(choice, v)}
        return {}

    def pieces(self, name: str) -> RunPieces:
        """Return what a run has found and written so far, without secrets, or raise UnknownRunError."""
        return read_pieces(self.folders.path(name), self.remote.owner, self.redactor)

    def ask(self, name: str, question: str) -> Article:
        """Answer a question of the current caller about the article of a run, as :meth:`Storm.ask`, without secrets.

        It counts in the usage and the cap of the run, and in the caller's budget and the server's.

        Raises:
            UnknownRunError, ConflictError: unknown run, no article yet, or it is under way; or too many, as `start`.
            BusyError, BudgetSpentError: too many questions at once, or a budget is spent or reserved by runs.
            SettingsError, ModelError, RunError: as :meth:`Storm.ask`.
        """
        self.folders.article(name)
        if self.is_running(name):
            raise ConflictError("the run is under way or waits for its turn: ask when it has ended")
        self.folders.require_room(self.folders.record(name).caller)
        settings = self._next_settings(name)
        before = self.folders.view(name).cost or 0.0
        left = self._left(settings, before, CALLER.get())
        with self.questions.hold(caller_name()), self.queue.reserving(left) as reserved:
            if reserved is None:
                raise BudgetSpentError("a budget is spent, or reserved by runs under way: try again later")
            limited = _with_cap(settings, before, reserved.most)
            answer = self._storm(limited).ask(self.folders.path(name), question, sinks=[CallbackSink(reserved.count)])
        return self.redactor.article(answer)

    def _settings_of(self, order: RunOrder, caller: Caller) -> Settings:
        """Return the settings of a new run."""
        if order.makes == "outline" and order.outline is not None:
            raise SettingsError("an outline is made or given: leave 'outline' out, or order an article")
        return self._with_documents(self.remote.for_new_run(order.settings), caller, order.documents)

    def _accept(
        self, make: "Callable[[Storm], Path]", settings: Settings, caller: Caller, documents: str | None
    ) -> str:
        """Start a new run or put it into the queue, and return its name. ``make``: makes its folder."""
        budget = self._budgets.of(caller)
        if budget and settings.max_cost is None:  # reserves from the budget
            self._budgets.check(budget)
            settings = settings.model_copy(update={"max_cost": budget.left})
        self.folders.require_room(caller.name, 1)
        storm = self._storm(settings)
        with self._accepting:
            self.queue.require_room(budget, caller.name)
            name = make(storm).name
            try:
                services = self.remote.services(self.folders.settings(name))
                record = RunRecord(caller=caller.name, documents=documents, services=services)
                self.folders.records.put(name, record)
                if documents:
                    self.documents.use(caller, documents, name)
                job = self._job(name, {}, caller)
            except BaseException:
                self.folders.delete(name)
                raise
            begun = self.queue.add(job)
        try:
            begun.result()
        except Exception as error:  # noqa: BLE001 - it is in the run's record
            logger.warning("%s: could not begin: %s", name, error)
        return name

    def resume(self, name: str, settings: Mapping[str, Any] | None = None) -> str:
        """Resume a run and return its name; without new settings, no effect on a finished one.

        Raises:
            UnknownRunError, ConflictError: unknown run, or it is active or waiting.
            BusyError, BudgetSpentError: as :meth:`start`.
            SettingsError, RunError: a setting cannot be used, or the run is damaged or held by another process.
        """
        state = self.folders.state(name)
        if state == "finished" and not settings:
            return name
        with self._accepting:
            if state == "running" or self.queue.has(name):
                raise ConflictError("the run is under way or waits for its turn already")
            caller, record = self._caller(name), self.folders.record(name)
            self.folders.require_room(record.caller)
            self.queue.require_room(self._budgets.of(caller), record.caller)
            job = self._job(name, settings or {}, caller)  # before anything is recorded: the settings may be refused
            if chosen := self.remote.services(settings or {}):
                self.folders.records.update(name, services={**record.services, **chosen})
            begun = self.queue.add(job)
        begun.result()
        return name

    def resume_unfinished(self) -> tuple[str, ...]:
        """Resume the interrupted and waiting runs of earlier servers if possible, oldest first.

        Ignores runs that no server recorded, and those of callers with a revoked token.
        """
        resumed = []
        for name in self.folders.unfinished():
            try:
                if not self.folders.records.has(name):
                    raise SettingsError("no server of this folder began it")
                if self._caller(name) is None:
                    raise SettingsError("the token of its caller was revoked")
                resumed.append(self.resume(name))
            except StormError as error:
                logger.warning("%s: cannot go on: %s", name, self.redactor.text(str(error)))
        return tuple(resumed)

    def stop(self, name: str) -> None:
        """Stop an active run gracefully, or remove it from the queue; no effect on other runs.

        Raises UnknownRunError, ConflictError: unknown run, or another process runs it.
        """
        if self.queue.withdraw(name):
            self.folders.end(name, "stopped", "stopped before its turn came")
        elif not self.queue.stop(name) and self.folders.state(name) == "running":
            raise ConflictError("another process runs it: stop it there")

    def delete(self, name: str) -> None:
        """Delete a run with its folder; a waiting one is removed from the queue.

        Raises UnknownRunError, ConflictError, RunError: unknown, active, or cannot be deleted.
        """
        self.folders.path(name)
        with self._accepting:
            self.queue.withdraw(name)
            if self.is_running(name):
                raise ConflictError("the run is under way: stop it first")
            self.folders.delete(name)
        self.documents.forget(name)

    def view(self, name: str) -> RunView:
        """Return the view of a run for callers, or raise UnknownRunError."""
        return self._redacted_view(self.folders.view(name))

    def views(self, most: int, caller: Caller = OWNER) -> tuple[RunView, ...]:
        """Return a caller's newest runs, newest first, or raise RunError or BusyError if they cannot be read now."""
        with self._listings.hold(caller.name):
            return tuple(map(self._redacted_view, self.folders.views(most, caller)))

    def article(self, name: str) -> Article:
        """Return the article of a run without secrets, or raise the errors of :meth:`RunFolders.article`."""
        return self.redactor.article(self.folders.article(name))

    def shared_article(self, key: str) -> Article:
        """Return the article of a read-only link without the research behind it. Raises UnknownRunError."""
        article = self.article(self.shared(key))
        shown = Article(article.title, article.lead, article.sections, article.references, note=article.note)
        return replace(shown, usage=article.usage, written=article.written, language=article.language)

    def events(self, name: str, after: int = 0) -> "Iterator[tuple[int, dict[str, Any]] | None]":
        """Yield the events of a run as numbered records, and None while there are no new ones.

        They end with the run, or soon after the queue is halted. ``after``: number of the last known event. Raises
        UnknownRunError: no such run.
        """
        file = EventFile(self.folders.path(name), after)
        while True:
            is_over = not self.is_running(name)  # before reading, so that the last events are not missed
            read = ((n, {**record, "folder": name} if "folder" in record else record) for n, record in file.read())
            yield from self.redactor.numbered(read)
            closed = self.queue.closed
            if is_over or (closed is not None and time.monotonic() > closed):
                return
            yield None

    def ending(self, name: str) -> tuple[str, str]:
        """Return the state and reason at the end of a run's events. Raises UnknownRunError: the run was deleted."""
        view = self.view(name)
        is_left = view.state in ("running", "queued") and self.queue.closed is not None
        return "interrupted" if is_left else view.state, view.reason  # without waiting for calls in flight

    def is_running(self, name: str) -> bool:
        """Return whether a run is waiting or active, here or in another process."""
        with suppress(UnknownRunError):
            return self.queue.has(name) or self.folders.state(name) == "running"
        return False

    def close(self, seconds: float | None = None) -> bool:
        """Stop all runs gracefully and wait until they are saved; False after a timeout."""
        self.queue.halt()
        return self.queue.join(seconds)

    def __exit__(self, *error: object) -> None:
        self.close()

    def _caller(self, name: str) -> Caller | None:
        """Return a run's caller, None if the token was revoked, or raise UnknownRunError if there is no such run."""
        caller = self.folders.record(name).caller
        return self.tokens.by_name(caller) if caller else OWNER

    def _with_documents(self, settings: Settings, caller: Caller, documents: str | None) -> Settings:
        """Return the settings with a named set of documents as the search engine."""
        if documents is None:
            return settings
        return settings.model_copy(update={"search": f"corpus:{self.documents.path(caller, documents)}"})

    def _next_settings(self, name: str, given: Mapping[str, Any] | None = None) -> Settings:
        """Return the settings of a run's next session."""
        return self.remote.for_resuming(self.folders.own_settings(name), given or {})

    def _job(self, name: str, given: Mapping[str, Any], caller: Caller | None) -> Job:
        """Return the job of resuming a run, which stops once the token of its caller is revoked.

        ``caller``: None if it is revoked already: the run has no budget, and goes on as its owner decides.
        """
        record = self.folders.record(name)
        settings = self._with_documents(self._next_settings(name, given), Caller(record.caller), record.documents)
        folder = self.folders.path(name)
        before = self.folders.view(name).cost or 0.0

        def work(sink: EventSink, halt: threading.Event, allowed: float | None) -> None:
            def stop_if_revoked(_: Event) -> None:
                if caller and self.tokens.is_revoked(record.caller):
                    halt.set()

            sinks = [sink, CallbackSink(stop_if_revoked)]
            self._storm(_with_cap(settings, before, allowed)).resume(folder, sinks=sinks, halt=halt)

        left = self._left(settings, before, caller)
        return Job(name, work, self._record_failure, left, self._budgets.of(caller), record.caller)

    def _left(self, settings: Settings, before: float, caller: Caller | None) -> float:
        """Return the US dollars that a run may still cost, which it reserves from the budgets."""
        if settings.max_cost is not None:
            return max(0.0, settings.max_cost - before)
        counted = (self._budgets.of(caller), self._budgets.server)
        return min((budget.left for budget in counted if budget), default=0.0)

    def _record_failure(self, name: str, error: Exception) -> None:
        """Record why a waiting run could not begin."""
        try:
            if self.folders.state(name) == "queued":
                self.folders.end(name, "failed", self.redactor.text(str(error)))
        except RunError as other:
            logger.warning("%s: could not begin (%s), which could not be saved: %s", name, error, other)

    def _redacted_view(self, view: RunView) -> RunView:
        waiting, state = self.queue.waiting(), view.state
        position = waiting.index(view.run) + 1 if view.run in waiting else None
        if position is not None:
            state = "queued"
        elif state == "queued":
            state = "running" if self.queue.has(view.run) else "interrupted"
        return replace(view, state=state, position=position, reason=self.redactor.text(view.reason))


def _with_cap(settings: Settings, before: float, allowed: float | None) -> Settings:
    """Return the settings with a cap of ``allowed`` further US dollars; None: the cap of the settings."""
    if allowed is None:
        return settings
    most = before + allowed if settings.max_cost is None else min(settings.max_cost, before + allowed)
    return settings.model_copy(update={"max_cost": most})


def _parse_outline(order: RunOrder) -> Outline | None:
    """Return the outline of an order."""
    if order.outline is None:
        return None
    if not order.outline.strip():
        raise SettingsError("the outline is empty: write a line such as '# History' for each section")
    return _parse_pieces(order.topic, {"outline": order.outline}).outline


def _parse_pieces(topic: str, pieces: Mapping[str, Any]) -> UserPieces:
    """Return a caller's pieces, parsed from texts: a remote caller must not name a file."""
    try:
        parsed = parse_pieces(topic, pieces)
        require_whole(topic, pieces.get("outline", ""))
    except RunError as error:
        raise ContradictionError(str(error)) from error
    return parsed
