"""The status of a batch's topics, and the sinks that receive it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from storm_pipeline.batch.topic_requests import TopicRequest
from storm_pipeline.run.events import Event

State = Literal["written", "running", "failed", "stopped", "waiting"]


@dataclass(frozen=True)
class TopicStatus:
    """The status of one topic of a batch, with its usage over all sessions.

    Attributes:
        number: position in the batch, from 1.
        request: topic and settings.
        state: ``running`` also if its process was killed; ``stopped`` if the user stopped it.
        folder: name of its run's folder inside the batch's folder; empty if it has none yet.
        error: why it failed, in one sentence; empty if it did not.
        calls: replies received.
        tokens_in: prompt tokens.
        tokens_out: completion tokens.
        cost: US dollars; None if a price is unknown.
        seconds: wall time.
        sections: first-level sections of the article.
        words: words of the article, its lead included.
        references: sources that the article cites.
    """

    number: int
    request: TopicRequest
    state: State = "waiting"
    folder: str = ""
    error: str = ""
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0
    sections: int = 0
    words: int = 0
    references: int = 0


@dataclass(frozen=True)
class BatchReport:
    """The result of a batch that has ended or was stopped.

    Attributes:
        folder: the batch's folder, for :func:`storm_pipeline.batch.resume_batch`.
        rows: one per topic, in order.
        stopped: whether the user stopped it.
        repeated: number of duplicate requests dropped.
        seconds: wall time of this session.
        refused: errors of endpoints that refused their key; topics with the same models and key still wait.
    """

    folder: Path
    rows: tuple[TopicStatus, ...]
    stopped: bool
    repeated: int
    seconds: float
    refused: tuple[str, ...] = ()

    @property
    def all_written(self) -> bool:
        """Whether every topic has its article."""
        return all(row.state == "written" for row in self.rows)


class BatchSink(Protocol):
    """Receives everything that happens, one call at a time from any thread; must return quickly and not raise."""

    def begin(self, folder: Path, rows: Sequence[TopicStatus]) -> None:
        """The batch starts or is resumed, with topics of this status."""

    def event(self, number: int, event: Event) -> None:
        """An event of the run of topic ``number``."""

    def row(self, row: TopicStatus) -> None:
        """A topic has a new status."""
