"""The units of work of an experiment: writing one article, or scoring one article by one metric."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from storm_bench.experiments.config import ExperimentConfig
from storm_bench.types import Topic


@dataclass(frozen=True)
class Unit:
    """One article of an experiment.

    Attributes:
        topic: id of the topic.
        method: name of the method.
        seed: the run's seed; None without one.
    """

    topic: str
    method: str
    seed: int | None = None

    @property
    def id(self) -> str:
        """Stable and unique within an experiment."""
        return "/".join([self.topic, self.method, *([] if self.seed is None else [str(self.seed)])])


@dataclass(frozen=True)
class ArticleJob:
    """A job that writes one article; self-contained, so that another process can run it.

    Attributes:
        config: the experiment as JSON.
        cache: the cache folder.
        folder: contains the article's run folder and, once written, ``article.json``.
        unit: which article.
    """

    config: str
    cache: Path
    folder: Path
    unit: Unit


@dataclass(frozen=True)
class ScoreJob:
    """A job that scores one article by one metric.

    Attributes:
        config: the experiment as JSON.
        cache: the cache folder.
        folder: the article's folder.
        unit: which article.
        metric: name of the metric.
    """

    config: str
    cache: Path
    folder: Path
    unit: Unit
    metric: str


@dataclass(frozen=True)
class Written:
    """Result of an :class:`ArticleJob`.

    Attributes:
        failure: why there is no article, in one sentence; empty if there is one.
        stopped: whether it was stopped early and can be resumed.
        seconds: wall time of this attempt.
    """

    failure: str = ""
    stopped: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Scored:
    """Result of a :class:`ScoreJob`.

    Attributes:
        values: (measure, value) pairs in the metric's order; the value is None where undefined.
        parameters: what the values depend on besides the article.
        failure: why there are no values, in one sentence; empty if there are.
        stopped: whether it was not started because the experiment was stopping.
    """

    values: tuple[tuple[str, float | None], ...] = ()
    parameters: tuple[tuple[str, str | int | float], ...] = ()
    failure: str = ""
    stopped: bool = False


def units_of(config: ExperimentConfig, topics: Iterable[Topic]) -> tuple[Unit, ...]:
    """All articles of an experiment in topic order, so that partial results compare methods on the same topics.

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
