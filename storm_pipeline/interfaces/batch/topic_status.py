"""The status of a batch's topics, and the sinks that receive it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from storm_pipeline.interfaces.batch.topic_requests import TopicRequest
from storm_pipeline.run.events import Event

State = Literal["written", "running", "failed", "stopped", "waiting"]


@dataclass(frozen=True)
class TopicStatus:
    """The status of one topic of a batch, with its usage over all sessions."""

    number: int  # position in the batch, from 1
    request: TopicRequest  # topic and settings
    state: State = "waiting"  # ``running`` also if its process was killed; ``stopped`` if the user stopped it
    folder: str = ""  # name of its run's folder inside the batch's folder; empty before it starts
    error: str = ""  # the reason of a failure, in one sentence; else empty
    calls: int = 0  # replies received
    tokens_in: int = 0  # prompt tokens
    tokens_out: int = 0  # completion tokens
    cost: float | None = 0.0  # US dollars; None if a price is unknown
    seconds: float = 0.0  # wall time
    sections: int = 0  # first-level sections of the article
    words: int = 0  # words of the article, including the lead
    references: int = 0  # sources that the article cites


@dataclass(frozen=True)
class BatchReport:
    """The result of a finished or stopped batch."""

    folder: Path  # the batch's folder, for :func:`storm_pipeline.interfaces.batch.resume_batch`
    rows: tuple[TopicStatus, ...]  # one per topic, in order
    stopped: bool  # whether the user stopped it
    repeated: int  # number of duplicate requests dropped
    seconds: float  # wall time of this session
    # errors of endpoints that refused their key; topics with the same models and key are waiting
    refused: tuple[str, ...] = ()

    @property
    def all_written(self) -> bool:
        """Whether every topic has its article."""
        return all(row.state == "written" for row in self.rows)


class BatchSink(Protocol):
    """Receiver of a batch's events, one call at a time from any thread; must return quickly and not raise."""

    def begin(self, folder: Path, rows: Sequence[TopicStatus]) -> None:
        """Receive the start or resumption of the batch, with the status of its topics."""

    def event(self, number: int, event: Event) -> None:
        """Receive an event of the run of topic ``number``."""

    def row(self, row: TopicStatus) -> None:
        """Receive the new status of a topic."""
