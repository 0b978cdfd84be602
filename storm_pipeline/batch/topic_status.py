"""How the topics of a batch stand, and who is told of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from storm_pipeline.batch.topic_requests import TopicRequest
from storm_pipeline.run.events import Event

State = Literal["written", "running", "failed", "stopped", "waiting"]


@dataclass(frozen=True)
class TopicStatus:
    """One topic of a batch: how it stands, and what it took over all its sessions.

    Attributes:
        number: its place in the batch, from 1.
        request: what is to be written.
        state: ``running`` also where the process that wrote it was killed; ``stopped`` by the user.
        folder: name of its run's folder, which lies in the batch's; empty before it has one.
        error: why it failed, in one sentence.
        calls: replies received.
        tokens_in: prompt tokens.
        tokens_out: completion tokens.
        cost: US dollars; None where a price is unknown.
        seconds: wall time.
        sections: of the article.
        words: of the article, its lead included.
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
    """How a batch stands when it has come to its end, or was stopped.

    Attributes:
        folder: the batch's folder, which :func:`storm_pipeline.batch.resume_batch` goes on with.
        rows: one a topic, in order.
        stopped: whether it was stopped by the user.
        repeated: requests that repeated others, which were written once.
        seconds: wall time of this session.
        refused: what was said where an endpoint refused its key; topics with the same models and key still wait.
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
    """Is told of everything, one at a time from whatever thread; must return quickly and not raise."""

    def begin(self, folder: Path, rows: Sequence[TopicStatus]) -> None:
        """The batch begins, or goes on, with its topics standing like this."""

    def event(self, number: int, event: Event) -> None:
        """Something happened in the run of this topic."""

    def row(self, row: TopicStatus) -> None:
        """A topic stands differently now."""
