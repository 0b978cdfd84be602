"""The pieces that an experiment is cut into: one article, or one metric of one article. Each is done as a whole."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from storm_pipeline.evaluation.types import Topic
from storm_pipeline.experiments.config import ExperimentConfig


@dataclass(frozen=True)
class Unit:
    """One article of an experiment.

    Attributes:
        topic: id of the topic.
        method: name of the method.
        seed: of the run; None without one.
    """

    topic: str
    method: str
    seed: int | None = None

    @property
    def id(self) -> str:
        """Stable, unique within an experiment."""
        return "/".join([self.topic, self.method, *([] if self.seed is None else [str(self.seed)])])


@dataclass(frozen=True)
class ArticleJob:
    """Writing one article; holds all that a worker in another process needs.

    Attributes:
        config: the experiment as JSON.
        cache: the cache folder.
        folder: where the article's run lies or is made; the article itself becomes ``article.json`` in it.
        unit: which article.
    """

    config: str
    cache: Path
    folder: Path
    unit: Unit


@dataclass(frozen=True)
class ScoreJob:
    """Scoring one article by one metric.

    Attributes:
        config: the experiment as JSON.
        cache: the cache folder.
        folder: that of the article.
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
    """What came of an :class:`ArticleJob`.

    Attributes:
        failure: why there is no article, in one sentence; empty where there is one.
        stopped: whether it was stopped before its end, and can be gone on with.
        seconds: wall time of this attempt.
    """

    failure: str = ""
    stopped: bool = False
    seconds: float = 0.0


@dataclass(frozen=True)
class Scored:
    """What came of a :class:`ScoreJob`.

    Attributes:
        values: name of a measure and its value, None where it is not defined; in the metric's order.
        parameters: what the values depend on beside the article.
        failure: why there are no values, in one sentence; empty where there are.
        stopped: whether it was not begun because the experiment was being stopped.
    """

    values: tuple[tuple[str, float | None], ...] = ()
    parameters: tuple[tuple[str, str | int | float], ...] = ()
    failure: str = ""
    stopped: bool = False


def units_of(config: ExperimentConfig, topics: Iterable[Topic]) -> tuple[Unit, ...]:
    """All articles of an experiment, topic by topic, so that a part of the work is a part of the comparison.

    A system of the data set has none on a topic on which it wrote nothing.
    """
    seeds: Sequence[int | None] = config.seeds or (None,)
    return tuple(
        Unit(topic.id, method.label, seed)
        for topic in topics
        for method in config.methods
        if not method.system or topic.written_by(method.system)
        for seed in (seeds if method.recipe else seeds[:1])
    )
