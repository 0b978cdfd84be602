"""The units of work of an experiment: writing one article, or scoring one article by one metric."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from storm_bench.experiments.config import ExperimentConfig
from storm_bench.folders import is_file_name
from storm_bench.types import Topic


@dataclass(frozen=True)
class Unit:
    """One article of an experiment. Raises ValueError: its id would lead to another folder."""

    topic: str  # id of the topic
    method: str  # name of the method
    seed: int | None = None  # the run's seed; None without one

    def __post_init__(self) -> None:
        if not (is_file_name(self.topic) and is_file_name(self.method) and isinstance(self.seed, int | None)):
            raise ValueError(f"{self.id!r} is no article of an experiment")

    @property
    def id(self) -> str:
        """Stable and unique within an experiment."""
        return "/".join([self.topic, self.method, *([] if self.seed is None else [str(self.seed)])])


@dataclass(frozen=True)
class ArticleJob:
    """A job that writes one article; self-contained, so that another process can run it."""

    config: str  # the experiment as JSON
    cache: Path  # the cache folder
    folder: Path  # contains the article's run folder and, once written, ``article.json``
    unit: Unit  # which article

    @property
    def task(self) -> str:
        """Its name at the executor's recorder."""
        return self.unit.id


@dataclass(frozen=True)
class ScoreJob(ArticleJob):
    """A job that scores one article by one metric."""

    metric: str

    @property
    def task(self) -> str:
        """Its name at the executor's recorder."""
        return f"{self.unit.id}|{self.metric}"


@dataclass(frozen=True)
class Written:
    """Result of an :class:`ArticleJob`."""

    failure: str = ""  # why there is no article, in one sentence; empty if there is one
    stopped: bool = False  # whether it was stopped early and can be resumed
    seconds: float = 0.0  # wall time of this attempt
    words_asked: int = 0  # words that the prompts of the first drafts asked for; 0 if none or not known


@dataclass(frozen=True)
class Scored:
    """Result of a :class:`ScoreJob`."""

    # (measure, value) pairs in the metric's order; the value is None where undefined
    values: tuple[tuple[str, float | None], ...] = ()
    parameters: tuple[tuple[str, str | int | float], ...] = ()  # what the values depend on besides the article
    failure: str = ""  # why there are no values, in one sentence; empty if there are
    stopped: bool = False  # whether it was not started because the experiment was stopping


def units_of(config: ExperimentConfig, topics: Iterable[Topic]) -> tuple[Unit, ...]:
    """Return all articles of an experiment in topic order, so that partial results compare methods on the same topics.

    A system of the data set has no unit for topics it did not write about.
    """
    seeds: Sequence[int | None] = config.seeds or (None,)
    return tuple(
        Unit(topic.id, method.label, seed)
        for topic in topics
        for method in config.methods
        if not method.system or topic.written_by(method.system)
        for seed in (seeds if method.recipe else seeds[:1])
    )
