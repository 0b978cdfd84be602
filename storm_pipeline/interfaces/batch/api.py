"""Writing or resuming a batch in one call."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storm_pipeline.interfaces.batch.run_batch import AT_ONCE, Batch
from storm_pipeline.interfaces.batch.topic_requests import TopicRequest
from storm_pipeline.interfaces.batch.topic_status import BatchReport, BatchSink
from storm_pipeline.settings import Settings
from storm_pipeline.types import Outline

if TYPE_CHECKING:
    from storm_pipeline.storm import Storm


def write_batch(
    requests: Iterable[TopicRequest | str],
    *,
    name: str = "batch",
    outline: Outline | Path | str | None = None,
    at_once: int = AT_ONCE,
    sinks: Sequence[BatchSink] = (),
    open_storm: "Callable[[Settings], Storm] | None" = None,
    **settings: Any,
) -> BatchReport:
    """Write an article about each topic, in a folder ``<name>-<time>`` below ``out``.

    Args:
        requests: topics, or the result of :func:`storm_pipeline.interfaces.batch.read_topics`.
        name: prefix of the folder's name.
        outline: the sections of every article, as for :meth:`storm_pipeline.storm.Storm.write`.
        at_once: articles written concurrently, 1 to 64.
        sinks: receive all events, see :class:`storm_pipeline.interfaces.batch.BatchSink`.
        open_storm: makes a ``Storm`` from settings, to use custom search engines, models or embedders.
        **settings: fields of :class:`storm_pipeline.settings.Settings` for all topics; a topic's settings take
            precedence.

    Returns one row per topic, including failed ones, which :func:`resume_batch` retries. Errors as for
    :meth:`Batch.create`.
    """
    given = Settings.build(settings)
    with Batch.create(
        requests, given, name=name, outline=outline, at_once=at_once, sinks=sinks, open_storm=open_storm
    ) as batch:
        return batch.run()


def resume_batch(
    folder: Path | str,
    *,
    allow: Iterable[str] = (),
    at_once: int = AT_ONCE,
    accept_damage: bool = False,
    sinks: Sequence[BatchSink] = (),
    open_storm: "Callable[[Settings], Storm] | None" = None,
    **settings: Any,
) -> BatchReport:
    """Resume a batch: keep finished articles, resume interrupted and failed topics, start the others.

    Arguments and errors as for :meth:`Batch.open`; settings given here override those of the batch and of its topics.
    """
    given = Settings.build(settings)
    with Batch.open(
        folder, given, allow=allow, at_once=at_once, accept_damage=accept_damage, sinks=sinks, open_storm=open_storm
    ) as batch:
        return batch.run()
