"""Writing a batch: topics side by side, each in a run of its own, so that whatever befalls one leaves the others be."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from storm_pipeline.batch.store import BatchStore
from storm_pipeline.batch.storm_pool import StormPool
from storm_pipeline.batch.topic_requests import TopicRequest
from storm_pipeline.batch.topic_status import BatchReport, BatchSink, TopicStatus
from storm_pipeline.concurrency import Tasks
from storm_pipeline.errors import ModelAuthError, RunError, SettingsError, StoppedError, StormError
from storm_pipeline.languages import length_in_words
from storm_pipeline.run.events import CallbackSink, Event, EventSink, RunStarted, StageFinished, read_events
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.run.user_pieces import parse_pieces, read_outline
from storm_pipeline.settings import ROLES, Settings
from storm_pipeline.types import Article, Outline, Usage

if TYPE_CHECKING:
    from storm_pipeline.storm import Storm

AT_ONCE = 2
_MOST_AT_ONCE = 64
_KEPT_OPEN = 2
"""Storms of other settings than those in use that stay open, so that topics which alternate between them share them."""
_LOG = logging.getLogger(__name__)


class Batch:
    """Topics to write about, their folder, and the work on them. Use it in ``with``.

    Model calls in flight are bounded a run by ``workers`` and over all runs by ``process_workers``. Topics with equal
    settings share one :class:`storm_pipeline.storm.Storm`, so that search engine and models are opened once; the
    embedder is shared by all that name the same one. No article is kept in memory.

    Args:
        store: the batch's folder.
        settings: given now; on going on they take the place of the batch's and of the topics' own.
        sinks: told of everything.
        open_storm: makes what writes, from settings; give one to use search engines, models or embedders of your own.
    """

    def __init__(
        self,
        store: BatchStore,
        settings: Mapping[str, Any] | None = None,
        *,
        sinks: Sequence[BatchSink] = (),
        open_storm: "Callable[[Settings], Storm] | None" = None,
    ) -> None:
        self._store = store
        self._given = dict(settings or {})
        self._sinks = tuple(sinks)
        self._storms = StormPool(open_storm, most=store.at_once + _KEPT_OPEN)
        self._refused: dict[tuple[str | None, ...], str] = {}
        self._halts: set[threading.Event] = set()
        self._stopping = threading.Event()
        self._begun = threading.Event()
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
        sinks: Sequence[BatchSink] = (),
        open_storm: "Callable[[Settings], Storm] | None" = None,
    ) -> "Batch":
        """A new batch in a folder ``<name>-<time>`` below ``settings.out``; requests that repeat others count once.

        Raises:
            SettingsError: a request names a setting that does not exist, there is none, the outline cannot be used, or
                ``at_once`` is out of range.
            RunError: the folder cannot be made.
        """
        settings = settings or Settings.build({})
        _check_at_once(at_once)
        plain = [TopicRequest(request).plain() if isinstance(request, str) else request.plain() for request in requests]
        distinct: dict[str, TopicRequest] = {}
        for request in plain:
            distinct.setdefault(repr((request.topic, sorted(request.settings.items()))), request)
        rows = [TopicStatus(number, request) for number, request in enumerate(distinct.values(), 1)]
        if not rows:
            raise SettingsError("the batch has no topic: give at least one")
        store = BatchStore.create(
            settings.out,
            name,
            rows,
            settings=settings.model_dump(mode="json", exclude_unset=True, exclude={"out"}),
            outline=None if outline is None else read_outline(outline, ""),
            at_once=at_once,
            repeated=len(plain) - len(rows),
        )
        return cls(store, sinks=sinks, open_storm=open_storm)

    @classmethod
    def open(
        cls,
        folder: Path | str,
        settings: Settings | None = None,
        *,
        at_once: int | None = None,
        sinks: Sequence[BatchSink] = (),
        open_storm: "Callable[[Settings], Storm] | None" = None,
    ) -> "Batch":
        """A batch that was begun before: what is written stays, all else is gone on with or begun.

        Args:
            folder: the batch's.
            settings: those set explicitly take the place of the batch's and of the topics' own.
            at_once: articles side by side; default: as before.
            sinks: as for the class.
            open_storm: as for the class.

        Raises:
            SettingsError: ``at_once`` is out of range.
            RunError: it is no batch's folder, is damaged, or another process is writing to it.
        """
        if at_once is not None:
            _check_at_once(at_once)
        store = BatchStore.open(Path(folder))
        store.at_once = at_once or store.at_once
        given = settings.model_dump(mode="json", exclude_unset=True, exclude={"out"}) if settings else {}
        return cls(store, given, sinks=sinks, open_storm=open_storm)

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self._store.folder

    @property
    def running(self) -> bool:
        """Whether something was begun that is worth ending in order: not while the first run is being set up."""
        return self._begun.is_set()

    def stop(self) -> None:
        """Begin no further topic, and stop the runs in order; from any thread or signal handler."""
        self._stopping.set()
        for halt in tuple(self._halts):
            halt.set()

    def run(self) -> BatchReport:
        """Write every topic that has no article yet.

        A topic that fails, for whatever reason, is a row of the report; the others go on. Where an endpoint refuses its
        key, those that would ask the same models with the same key are left waiting.

        Raises:
            RunError: the batch's folder can no longer be written; the runs under way were stopped in order.
        """
        start = time.monotonic()
        store = self._store
        self._tell(lambda sink: sink.begin(store.folder, tuple(store.rows)))
        store.save(status="running")
        try:
            self._write_all(iter([row for row in store.rows if row.state != "written"]))
        finally:
            rows, stopped = tuple(store.rows), self._stopping.is_set()
            seconds, refused = round(time.monotonic() - start, 1), tuple(dict.fromkeys(self._refused.values()))
            report = BatchReport(store.folder, rows, stopped, store.repeated, seconds, refused)
            with self._lock:
                store.save(status="finished" if report.all_written else "stopped" if stopped else "failed")
        return report

    def close(self) -> None:
        """Let other processes have the folder. May be called again."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _write_all(self, waiting: Iterator[TopicStatus]) -> None:
        with Tasks(self._store.at_once) as tasks:
            workers: list[Future[None]] = []
            try:
                workers += [tasks.start(self._work, waiting) for _ in range(self._store.at_once)]
                for worker in workers:
                    worker.result()
            except BaseException as error:
                self.stop()
                if self.running or isinstance(error, Exception):
                    wait(workers)  # a second interruption ends the waiting
                raise

    def _work(self, waiting: Iterator[TopicStatus]) -> None:
        while True:
            with self._lock:
                row = next(waiting, None)
            if row is None or self._stopping.is_set():
                return
            if not self._is_in_vain(row):
                self._write(row)

    def _is_in_vain(self, row: TopicStatus) -> bool:
        """Whether an endpoint has refused the key with which the topic would ask it."""
        try:
            return bool(self._refused) and _asked_of(self._settings(row)) in self._refused
        except SettingsError:
            return False  # that is told when it is written

    def _write(self, row: TopicStatus) -> None:
        """One topic from its beginning to its row."""
        start, halt, ledger = time.monotonic(), threading.Event(), Ledger()
        usage: Usage | None = None
        self._halts.add(halt)
        if self._stopping.is_set():  # between the look at it and the line above
            halt.set()
        row = replace(row, state="running", error="")
        self._tell(lambda sink: sink.row(row))
        try:
            article = self._article(row, ledger, halt)
            usage = article.usage
            ended = _told(row, article)
        except StoppedError:
            ended = replace(row, state="stopped")
        except ModelAuthError as error:
            self._refused[_asked_of(self._settings(row))] = str(error)
            ended = replace(row, state="failed", error=str(error))
        except SettingsError as error:
            ended = replace(
                row, state="failed", error=f"{row.request.place}: {error}" if row.request.place else str(error)
            )
        except StormError as error:
            ended = replace(row, state="failed", error=str(error))
        except Exception as error:  # noqa: BLE001 - a crash too is a row, and the other topics go on
            _LOG.error("topic %d of %s crashed", row.number, self.folder, exc_info=error)
            ended = replace(row, state="failed", error=f"unexpected {type(error).__name__}: {error}")
        finally:
            self._halts.discard(halt)
        spent = usage or ledger.usage(time.monotonic() - start)
        self._put(replace(_with_usage(ended, spent), folder=self._store.rows[row.number - 1].folder))

    def _settings(self, row: TopicStatus) -> Settings:
        given = {**self._store.settings, **row.request.settings, **self._given}
        return Settings.build({**given, "out": self.folder})

    def _article(self, row: TopicStatus, ledger: Ledger, halt: threading.Event) -> Article:
        storm = self._storms.of(self._settings(row))
        sinks: list[EventSink] = [ledger, CallbackSink(lambda event: self._hear(row, event))]
        # an absolute path in a damaged file must not lead out of the batch's folder
        folder = self.folder / Path(row.folder).name
        if not row.folder or not folder.is_dir():
            outline = parse_pieces(row.request.topic, {"outline": self._store.outline}).outline
            return storm.write(row.request.topic, outline=outline, sinks=sinks, halt=halt)
        if (log := folder / "events.jsonl").is_file():
            ledger.restore(read_events(log))
        made = storm.resume(folder, sinks=sinks, halt=halt)
        if not isinstance(made, Article):
            raise RunError(f"{folder} is the run of an outline, not of an article: move it away, then resume the batch")
        return made

    def _hear(self, row: TopicStatus, event: Event) -> None:
        """An event of a topic's run."""
        if isinstance(event, RunStarted):
            self._put(replace(row, folder=Path(event.folder).name))
        if isinstance(event, StageFinished) and event.stage == "set-up":
            self._begun.set()
        self._tell(lambda sink: sink.event(row.number, event))

    def _put(self, row: TopicStatus) -> None:
        with self._lock:
            self._store.put(row)
            self._tell(lambda sink: sink.row(row))

    def _tell(self, say: Callable[[BatchSink], None]) -> None:
        with self._lock:
            for sink in self._sinks:
                say(sink)


def _check_at_once(at_once: int) -> None:
    if not 1 <= at_once <= _MOST_AT_ONCE:
        raise SettingsError(f"{at_once} articles at once is out of range: 1 to {_MOST_AT_ONCE} are allowed")


def _asked_of(settings: Settings) -> tuple[str | None, ...]:
    """Which models are asked, where, and with which key."""
    return (*map(settings.lm_of, ROLES), settings.api_base, settings.api_key_env)


def _told(row: TopicStatus, article: Article) -> TopicStatus:
    return replace(
        row,
        state="written",
        sections=len(article.sections),
        words=sum(length_in_words(sentence.text) for sentence in article.sentences()),
        references=len(article.references),
    )


def _with_usage(row: TopicStatus, usage: Usage) -> TopicStatus:
    return replace(
        row,
        calls=usage.calls,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost=usage.cost,
        seconds=usage.seconds,
    )
