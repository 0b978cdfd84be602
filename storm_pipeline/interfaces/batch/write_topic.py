"""The job of a batch that writes about one topic, in any process."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from storm_pipeline.errors import ModelAuthError, RunError, SettingsError, StoppedError, StormError, unforeseen
from storm_pipeline.interfaces.batch.executors import job_halt, workplace
from storm_pipeline.interfaces.batch.topics import TopicStatus
from storm_pipeline.method.context import parse_pieces
from storm_pipeline.method.session import require_known_prices
from storm_pipeline.run.events import CallbackSink, EventSink
from storm_pipeline.run.integrity import JOURNAL, LoggedEvents, logged_events, with_recorded_calls
from storm_pipeline.run.journal import Journal
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.run.replica import Workplace
from storm_pipeline.settings import Settings
from storm_pipeline.text.languages import length_in_words
from storm_pipeline.types import Article, Usage

if TYPE_CHECKING:
    from storm_pipeline.storm import Storm

OpenStorm = Callable[[Settings], "Storm"]
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class TopicJob:
    """A topic to write about."""

    row: TopicStatus
    settings: Mapping[str, Any]  # JSON values by field name
    out: Path  # the batch's folder, on the driver's machine
    outline: str | None  # the user's headings of every article, if any
    max_cost: float | None  # cap on the dollars of all topics
    accept_damage: bool
    # makes a ``Storm`` from settings: in the batch's process one that keeps them; in others the user's, or None
    open_storm: OpenStorm | None

    @property
    def task(self) -> str:
        """Its name at the recorder."""
        return str(self.row.number)


@dataclass(frozen=True)
class Ended:
    """The result of a :class:`TopicJob`."""

    row: TopicStatus
    fault: Literal["key", "settings", ""] = ""  # what must be changed before other topics with the same can be written


def write_topic(job: TopicJob) -> Ended:
    """Write or resume the article about a topic; failures are returned, never raised."""
    start, ledger, row = time.monotonic(), Ledger(), job.row
    try:
        with workplace(job.task) as place:
            try:
                article = _article(job, place, ledger)
            except StormError as error:
                error.args = (place.home(str(error)), *error.args[1:])
                raise
    except Exception as error:  # noqa: BLE001 - a crash must not end the other topics
        return _failed(row, error, ledger.usage(time.monotonic() - start))
    words = sum(length_in_words(sentence.text) for sentence in article.sentences())
    sections, references = len(article.sections), len(article.references)
    ended = replace(row, state="written", sections=sections, words=words, references=references)
    return Ended(with_usage(ended, article.usage))


def with_usage(row: TopicStatus, usage: Usage) -> TopicStatus:
    """Return the status with the usage of all sessions of a run; what is known to be spent stays so."""
    used = {name: getattr(usage, name) for name in ("calls", "tokens_in", "tokens_out", "seconds")}
    cost = None if usage.cost is None else max(row.cost or 0.0, row.cost_before + usage.cost)
    return replace(row, **used, cost=cost)


def events_of(folder: Path) -> LoggedEvents:
    """Return the events of a run's earlier sessions, with all calls on record. Raises RunError: it cannot be read."""
    return with_recorded_calls(logged_events(folder), Journal(folder / JOURNAL, read_only=True))


def _failed(row: TopicStatus, error: Exception, usage: Usage) -> Ended:
    row = with_usage(row, usage)
    if isinstance(error, StoppedError):
        return Ended(replace(row, state="stopped"))
    reason = str(error) if isinstance(error, StormError) else unforeseen(error)
    if isinstance(error, ModelAuthError):
        return Ended(replace(row, state="failed", error=reason), "key")
    if isinstance(error, SettingsError):
        reason = f"{row.request.place}: {reason}" if row.request.place else reason
        return Ended(replace(row, state="failed", error=reason), "settings")
    if not isinstance(error, StormError):
        _LOG.error("topic %d crashed", row.number, exc_info=error)
    return Ended(replace(row, state="failed", error=reason))


def _article(job: TopicJob, place: Workplace, ledger: Ledger) -> Article:
    keeps = job.open_storm if place.folder == place.root else None
    runs = place.runs()
    ledger.restore(events_of(runs[-1]) if runs else ())  # at once, so that no failure loses it
    settings = Settings.build({**job.settings, "out": job.out})
    require_known_prices(settings, job.max_cost)
    storm = (keeps or _kept(job.open_storm))(settings)
    sinks: list[EventSink] = [ledger, CallbackSink(place.on_event)]
    if not runs:
        outline = parse_pieces(job.row.request.topic, {"outline": job.outline}).outline
        return storm.write(job.row.request.topic, outline=outline, sinks=sinks, halt=job_halt())
    article = storm.resume(runs[-1], accept_damage=job.accept_damage, sinks=sinks, halt=job_halt())
    if not isinstance(article, Article):
        raise RunError(f"{runs[-1]} is the run of an outline, not of an article: move it away, then resume the batch")
    return article


@lru_cache(1)
def _kept(open_storm: OpenStorm | None) -> OpenStorm:
    """Return what a worker process opens and keeps ``Storm`` objects with."""
    return storm_pool(open_storm, size=4)


def storm_pool(open_storm: OpenStorm | None, *, size: int) -> OpenStorm:
    """Return a thread-safe function from settings to a ``Storm``, with a cache of the last ``size`` ones.

    An evicted object lives until its runs end. ``open_storm``: factory; None: the class itself.
    """
    from storm_pipeline.storm import Storm

    kept, lock = lru_cache(size)(open_storm or Storm), threading.Lock()

    def get(settings: Settings) -> "Storm":
        with lock:  # one object for equal settings
            return kept(settings)

    return get
