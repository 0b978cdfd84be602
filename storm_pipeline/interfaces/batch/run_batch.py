"""Writing a batch: topics are written concurrently, each in its own run, and fail independently."""

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from storm_pipeline.errors import RunError, SettingsError, StormError
from storm_pipeline.interfaces.batch.batch_folder import BatchStore
from storm_pipeline.interfaces.batch.copies import Copies
from storm_pipeline.interfaces.batch.executors import AT_ONCE, Executor, JobLost, ThreadExecutor, require_importable
from storm_pipeline.interfaces.batch.topics import BatchReport, BatchSink, TopicRequest, TopicStatus, require_some_keys
from storm_pipeline.interfaces.batch.write_topic import (
    Ended,
    OpenStorm,
    TopicJob,
    events_of,
    storm_pool,
    with_usage,
    write_topic,
)
from storm_pipeline.method.context import read_outline
from storm_pipeline.method.saved_settings import resumed_settings
from storm_pipeline.models.prices import known_price
from storm_pipeline.run.concurrency import Tasks
from storm_pipeline.run.events import Event, RunStarted, RunStopped, StageFinished
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.run.limits import Limits, within
from storm_pipeline.settings import CONTENT, ROLES, Settings, discarded_settings, no_such_setting, option_name
from storm_pipeline.text.configuration.addresses import redact
from storm_pipeline.types import Outline

_IDLE_STORMS = 2  # idle ``Storm`` objects kept for topics that alternate between settings


class Batch(AbstractContextManager["Batch"]):
    """Topics to write about and their folder; :meth:`run` writes them. Use it in ``with``.

    Concurrent model calls are limited per run by ``workers`` and over all runs by ``process_workers``. When the dollars
    of ``batch_max_cost`` are spent, the runs stop and no further topic is started. Topics with equal settings share one
    :class:`storm_pipeline.storm.Storm`, so that search engine and models are opened once; the embedder is shared by
    name. No article is kept in memory.

    Args:
        store: the batch's folder.
        settings: of all topics; default: those of the folder.
        overrides: override the settings of the batch and of its topics when it is resumed.
        executor: where articles are written, and how many concurrently, whatever the folder says: it may be another's.
        accept_damage: as for :meth:`storm_pipeline.storm.Storm.resume`, for every topic.
        sinks: receive all events.
        open_storm: makes a ``Storm`` from settings, to use custom search engines, models or embedders; with an executor
            of other processes, a function of a module that they can import.
        copies: where finished articles are copied, if anywhere.
    """

    def __init__(
        self,
        store: BatchStore,
        settings: Mapping[str, Any] | None = None,
        *,
        overrides: Mapping[str, Any] | None = None,
        executor: Executor,
        accept_damage: bool = False,
        sinks: Sequence[BatchSink] = (),
        open_storm: OpenStorm | None = None,
        copies: Copies | None = None,
    ) -> None:
        self._store = store
        self._shared = store.settings if settings is None else settings
        self._overrides = dict(overrides or {})
        self._max_cost, self._copies = store.max_cost, copies
        self._left_out = discarded_settings({"lm"} & self._overrides.keys())
        self._accept_damage, self._executor = accept_damage, executor
        self._sinks = tuple(sinks)
        self._open_storm = storm_pool(open_storm, size=executor.at_once + _IDLE_STORMS) if executor.here else open_storm
        self._refused_keys: dict[tuple[str | None, ...], str] = {}
        self._wrong_settings: list[SettingsError] = []
        self._halt = threading.Event()  # of all runs
        self._set_up = threading.Event()
        self._lock = threading.RLock()  # guards the rows and the sinks

    @classmethod
    def create(
        cls,
        requests: Iterable[TopicRequest | str],
        settings: Settings | None = None,
        *,
        name: str = "batch",
        outline: Outline | Path | str | None = None,
        at_once: int = AT_ONCE,
        executor: Executor | None = None,
        batch_max_cost: float | None = None,
        to: str | None = None,
        sinks: Sequence[BatchSink] = (),
        open_storm: OpenStorm | None = None,
    ) -> "Batch":
        """Create a batch in a folder ``<name>-<time>`` below ``settings.out``; duplicate requests are dropped.

        Raises:
            SettingsError: an unknown setting, no requests, an unusable outline or address, ``at_once`` or
                ``batch_max_cost`` out of range, or missing keys for every topic.
            RunError: the folder cannot be made.
        """
        settings = settings or Settings.build({})
        executor = _checked(executor or ThreadExecutor(at_once), batch_max_cost, open_storm)
        copies = Copies(to) if to else None
        plain = [TopicRequest(request).plain() if isinstance(request, str) else request.plain() for request in requests]
        distinct: dict[str, TopicRequest] = {}
        for request in plain:
            distinct.setdefault(repr((request.topic, sorted(request.settings.items()))), request)
        rows = [TopicStatus(number, request) for number, request in enumerate(distinct.values(), 1)]
        if not rows:
            raise SettingsError("the batch has no topics: give at least one")
        given = settings.model_dump(mode="json", exclude_unset=True, exclude={"out"})
        sections = None if outline is None else read_outline(outline, "")
        if open_storm is None:
            require_some_keys(given, list(distinct.values()))
        facts = {"outline": sections, "repeated": len(plain) - len(rows), "max_cost": batch_max_cost, "to": to}
        store = BatchStore.create(settings.out, name, rows, settings=given, **facts)
        return cls(store, executor=executor, sinks=sinks, open_storm=open_storm, copies=copies)

    @classmethod
    def open(
        cls,
        folder: Path | str,
        settings: Settings | None = None,
        *,
        user: Settings | None = None,
        allow: Iterable[str] = (),
        at_once: int = AT_ONCE,
        executor: Executor | None = None,
        batch_max_cost: float | None = None,
        to: str | None = None,
        accept_damage: bool = False,
        sinks: Sequence[BatchSink] = (),
        open_storm: OpenStorm | None = None,
    ) -> "Batch":
        """Open an existing batch to resume it.

        Args:
            folder: the batch's folder.
            settings: explicit ones override the settings of the batch and of its topics. Its model, engine and other
                non-default settings must be given again, as for :meth:`storm_pipeline.storm.Storm.resume`.
            user: as for :meth:`storm_pipeline.storm.Storm.resume`.
            allow: settings that its topics may have in addition to content settings.
            batch_max_cost: as for :func:`write_batch`; None: as before.
            to: as for :func:`write_batch`; must be given again, or be "none".
            at_once, executor: as for :func:`write_batch`.
            accept_damage, sinks, open_storm: as for the class.

        Raises:
            SettingsError: ``at_once`` or ``batch_max_cost`` is out of range, or settings of the batch must be given
                again; the message names them.
            RunError: not a batch's folder, damaged, or locked by another process.
        """
        executor = _checked(executor or ThreadExecutor(at_once), batch_max_cost, open_storm)
        copies = Copies(to) if to and to != "none" else None
        store = BatchStore.open(Path(folder))
        store.max_cost = batch_max_cost or store.max_cost
        overrides = settings.model_dump(mode="json", exclude_unset=True, exclude={"out"}) if settings else {}
        try:
            _require_destination(store, to)
            shared = _shared_settings(store, settings or Settings(), user, {*overrides, *allow})
        except SettingsError:
            store.close()
            raise
        more: dict[str, Any] = {"overrides": overrides, "sinks": sinks, "open_storm": open_storm, "copies": copies}
        return cls(store, shared, executor=executor, accept_damage=accept_damage, **more)

    @property
    def folder(self) -> Path:
        """The batch's folder."""
        return self._store.folder

    @property
    def running(self) -> bool:
        """Whether a run is in progress after its set-up, so that a graceful stop saves work."""
        return self._set_up.is_set()

    def stop(self) -> None:
        """Start no more topics, and stop the runs gracefully; safe from any thread or signal handler."""
        self._halt.set()

    def run(self) -> BatchReport:
        """Write all topics without an article.

        A failed topic is a row of the report, and the others continue. If an endpoint refuses its key, topics with the
        same models and key remain waiting.

        Raises:
            SettingsError: no topic of a new batch can begin with its settings or executor; the folder is deleted.
            RunError: the batch's folder can no longer be written; the active runs were stopped gracefully.
        """
        start = time.monotonic()
        store = self._store
        store.rows = [replace(row, error="") if row.state == "written" else row for row in store.rows]
        self._notify(lambda sink: sink.begin(store.folder, tuple(store.rows)))
        to = self._copies.address if self._copies else ""
        store.save(status="running", max_cost=self._max_cost, to=to)
        spent = 0.0 if self._max_cost is None else sum(map(self._spent_on, store.rows))
        self._limits = Limits(self._max_cost, spent)
        try:
            self._save_all(row for row in store.rows if row.state == "written" and to and row.copied != to)
            with within(self._limits):
                self._save_all(self._write_all([row for row in store.rows if row.state != "written"]))
        except SettingsError:  # of the executor
            if store.is_new and not any(row.folder for row in store.rows):
                store.discard()
            raise
        finally:
            rows, stopped = tuple(store.rows), self._halt.is_set()
            seconds, refused = round(time.monotonic() - start, 1), tuple(dict.fromkeys(self._refused_keys.values()))
            if self._limits.is_spent:
                refused += (f"all {self._max_cost:g} dollars of the batch are spent: raise --batch-max-cost",)
            report = BatchReport(store.folder, rows, stopped, store.repeated, seconds, refused)
            with self._lock:
                done = report.all_written and not report.uncopied
                store.save(status="finished" if done else "stopped" if stopped else "failed")
        if store.is_new and len(self._wrong_settings) == len(rows) and not any(row.request.settings for row in rows):
            store.discard()
            raise self._wrong_settings[0]
        return report

    def close(self) -> None:
        """Release the folder. Idempotent."""
        self._store.close()

    def __exit__(self, *error: object) -> None:
        self.close()

    def _save_all(self, rows: Iterable[TopicStatus]) -> None:
        """Save the status of topics as they come, while the articles of others are copied."""
        with Tasks(8) as tasks:
            copied: list[Future[None]] = []
            for row in rows:
                if self._copies and row.state == "written":
                    copied.append(tasks.start(self._save, row))
                else:
                    self._save(row)
            for saved in copied:
                saved.result()

    def _write_all(self, rows: Sequence[TopicStatus]) -> Iterator[TopicStatus]:
        """Write articles, and yield the status of each topic when it ends."""
        executor = self._executor
        done = executor.run(write_topic, self._jobs(rows), halt=self._halt, is_patient=lambda: self.running)
        for job, result in done:
            executor.recorder.finish(job.task)
            ended = self._lost(job, result) if isinstance(result, JobLost) else result
            if ended.fault == "key":
                self._refused_keys[_models_and_key(self._settings(ended.row))] = ended.row.error
            elif ended.fault == "settings":
                self._wrong_settings.append(SettingsError(ended.row.error))
            yield replace(ended.row, folder=self._store.rows[job.row.number - 1].folder)

    def _jobs(self, rows: Sequence[TopicStatus]) -> Iterator[TopicJob]:
        """Yield the jobs of topics, each placed when it is about to start."""
        for waiting in rows:
            if self._limits.is_spent or self._has_refused_key(waiting):
                continue
            folder = self._folder_of(waiting)
            before = waiting.cost_before if folder else self._spent_on(waiting)
            row = replace(waiting, state="running", error="", cost_before=before)
            job = TopicJob(
                row,
                self._values(row),
                self.folder,
                outline=self._store.outline,
                max_cost=self._max_cost,
                accept_damage=self._accept_damage,
                open_storm=self._open_storm,
            )
            self._executor.recorder.place(
                job.task,
                self.folder,
                {folder.name} if folder else set(),
                on_start=partial(self._show, row),
                on_event=partial(self._on_event, row),
            )
            yield job

    def _lost(self, job: TopicJob, lost: JobLost) -> Ended:
        """Return the status of a topic whose workers died, with the usage that they recorded."""
        ledger, folder = Ledger(), self._folder_of(self._store.rows[job.row.number - 1])
        ledger.restore(events_of(folder) if folder else ())
        row = replace(job.row, state="failed", error=f"its worker was lost: {lost.reason}")
        return Ended(with_usage(row, ledger.usage(0)))

    def _has_refused_key(self, row: TopicStatus) -> bool:
        with suppress(SettingsError):  # reported when the topic is written
            return bool(self._refused_keys) and _models_and_key(self._settings(row)) in self._refused_keys
        return False

    def _values(self, row: TopicStatus) -> dict[str, Any]:
        row_settings = row.request.settings
        shared = {n: v for n, v in self._shared.items() if n not in discarded_settings({"lm"} & row_settings.keys())}
        values = {n: v for n, v in {**shared, **row_settings}.items() if n not in self._left_out}
        return {**values, **self._overrides}

    def _settings(self, row: TopicStatus) -> Settings:
        return Settings.build({**self._values(row), "out": self.folder})

    def _spent_on(self, row: TopicStatus) -> float:
        """Return the dollars of a topic's earlier sessions, also of a killed process and of deleted runs."""
        known, is_known = max(row.cost or 0.0, row.cost_before), row.state == "written" and row.cost is not None
        with suppress(StormError):  # reported when the topic is written
            if folder := None if is_known else self._folder_of(row):
                price_of = partial(known_price, settings=self._settings(row))
                return max(known, row.cost_before + Ledger().restore(events_of(folder), price_of).dollars)
        return known

    def _folder_of(self, row: TopicStatus) -> Path | None:
        """Return the folder of a topic's run, by name only, so that a damaged file cannot lead out of the batch's."""
        folder = self.folder / Path(row.folder).name
        return folder if row.folder and folder.is_dir() else None

    def _on_event(self, row: TopicStatus, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._save(replace(row, folder=Path(event.folder).name))
        if isinstance(event, RunStopped) and not event.kept:
            self._save(replace(row, folder=""))
        if isinstance(event, StageFinished) and event.stage == "set-up":
            self._set_up.set()
        if isinstance(event, StageFinished) and self._max_cost is not None:  # the folder may be deleted after a kill
            with self._lock:
                known = self._store.rows[row.number - 1]
                self._put(replace(known, cost=self._spent_on(known)))
        self._notify(lambda sink: sink.event(row.number, event))

    def _save(self, row: TopicStatus) -> None:
        if self._copies and row.state == "written":
            row = self._copies.add(self.folder, row)
        row = replace(row, error=redact(row.error))
        with self._lock:
            self._put(row)
            self._show(row)

    def _put(self, row: TopicStatus) -> None:
        try:
            self._store.put(row)
        except RunError:
            self.stop()  # here, so that this thread begins no further topic
            raise

    def _show(self, row: TopicStatus) -> None:
        self._notify(lambda sink: sink.row(row))

    def _notify(self, call: Callable[[BatchSink], None]) -> None:
        with self._lock:
            for sink in self._sinks:
                call(sink)


def _shared_settings(store: BatchStore, given: Settings, user: Settings | None, allowed: set[str]) -> dict[str, Any]:
    """Return the settings with which all topics of a batch continue.

    Raises SettingsError: a model or another setting must be given again, or a topic has a setting that is not
    ``allowed``.
    """
    if all(row.state == "written" for row in store.rows):
        return store.settings  # no model is asked
    default = Settings().model_dump(mode="json")
    settings = resumed_settings(store.folder, default | store.settings, given, user)
    others = {name for row in store.rows for name in row.request.settings if name not in CONTENT | allowed}
    if unknown := sorted(others - Settings.model_fields.keys()):
        raise SettingsError(f"a topic of {store.folder} has a setting of its own: {no_such_setting(unknown[0])}")
    if others:
        raise SettingsError(
            f"topics of {store.folder} have settings of their own that are for you to decide: give "
            f"{', '.join(map(option_name, sorted(others)))} for all of them"
        )
    named = store.settings.keys() | given.model_fields_set | (user.model_fields_set - CONTENT if user else set())
    return {name: value for name, value in settings.model_dump(mode="json").items() if name in named}


def _require_destination(store: BatchStore, to: str | None) -> None:
    """Raise SettingsError if articles were to be copied to an address that is not given: the folder may be foreign."""
    known = store.to
    if known and to is None and any(row.state != "written" or row.copied != known for row in store.rows):
        raise SettingsError(f"articles of {store.folder} were copied to {known}: give --to {known}, or --to none")


def _checked(executor: Executor, max_cost: float | None, open_storm: OpenStorm | None) -> Executor:
    if open_storm and not executor.here:
        require_importable(open_storm, "open_storm")
    if max_cost is not None and not 0 < max_cost < math.inf:
        raise SettingsError(f"a cap of {max_cost:g} dollars on the batch is out of range: give more than 0")
    return executor


def _models_and_key(settings: Settings) -> tuple[str | None, ...]:
    return (*map(settings.lm_of, ROLES), settings.api_base, settings.api_key_env)


def write_batch(
    requests: Iterable[TopicRequest | str],
    *,
    name: str = "batch",
    outline: Outline | Path | str | None = None,
    at_once: int = AT_ONCE,
    executor: Executor | None = None,
    batch_max_cost: float | None = None,
    to: str | None = None,
    sinks: Sequence[BatchSink] = (),
    open_storm: OpenStorm | None = None,
    **settings: Any,
) -> BatchReport:
    """Write an article about each topic, in a folder ``<name>-<time>`` below ``out``.

    Args:
        requests: topics, or the result of :func:`storm_pipeline.interfaces.batch.read_topics`.
        name: prefix of the folder's name.
        outline: the sections of every article, as for :meth:`storm_pipeline.storm.Storm.write`.
        at_once: articles written concurrently, 1 to 64.
        executor: where they are written, such as ``open_executor(processes=4)``; default: threads of this process.
        batch_max_cost: cap on the dollars of all topics together, also when the batch is resumed; ``max_cost`` is that
            of each topic.
        to: address such as ``s3://bucket/prefix`` (extra ``s3``) to which each finished article is copied.
        sinks: receive all events, see :class:`storm_pipeline.interfaces.batch.BatchSink`.
        open_storm: makes a ``Storm`` from settings, to use custom search engines, models or embedders.
        **settings: fields of :class:`storm_pipeline.settings.Settings` for all topics; a topic's settings take
            precedence.

    Returns one row per topic, including failed ones, which :func:`resume_batch` retries. Errors as for
    :meth:`Batch.create`.
    """
    given = Settings.build(settings)
    more: dict[str, Any] = {"batch_max_cost": batch_max_cost, "to": to, "sinks": sinks, "open_storm": open_storm}
    with Batch.create(requests, given, name=name, outline=outline, at_once=at_once, executor=executor, **more) as batch:
        return batch.run()


def resume_batch(
    folder: Path | str,
    *,
    allow: Iterable[str] = (),
    at_once: int = AT_ONCE,
    executor: Executor | None = None,
    batch_max_cost: float | None = None,
    to: str | None = None,
    accept_damage: bool = False,
    sinks: Sequence[BatchSink] = (),
    open_storm: OpenStorm | None = None,
    **settings: Any,
) -> BatchReport:
    """Resume a batch: keep finished articles, resume interrupted and failed topics, start the others.

    Arguments and errors as for :meth:`Batch.open`; settings given here override those of the batch and of its topics.
    """
    given = Settings.build(settings)
    more: dict[str, Any] = {"batch_max_cost": batch_max_cost, "to": to, "sinks": sinks, "open_storm": open_storm}
    more |= {"executor": executor, "accept_damage": accept_damage}
    with Batch.open(folder, given, allow=allow, at_once=at_once, **more) as batch:
        return batch.run()
