"""An experiment's results as one file: all that the report's pages are made from, and no text but our own."""

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from storm_pipeline.errors import ExperimentError
from storm_pipeline.evaluation.calibration import Calibration
from storm_pipeline.evaluation.metrics.base import JudgedMetric, Measure, Metric, Parameters
from storm_pipeline.files import write_atomically

FORMAT = 1
"""Version of the file; raised when an older reader would misread it."""
RESULTS = "results.json"
"""Name of the file in a report's folder."""


@dataclass(frozen=True)
class Result:
    """One article of an experiment and its scores.

    Attributes:
        method: what wrote it.
        topic: id of the topic.
        seed: of the run.
        values: name of a measure → value; None where the measure is not defined for the article (no entity in the
            truth, no citation …), absent where it was not scored.
        failure: why there is no article, in our own words; empty where there is one.
    """

    method: str
    topic: str
    seed: int
    values: Mapping[str, float | None] = field(default_factory=dict)
    failure: str = ""


@dataclass(frozen=True)
class Judged:
    """Measures that rest on a judge, and what the judge is worth.

    Attributes:
        measures: their names.
        judge: its name.
        parameters: what its answers depend on.
        calibration: how it was measured; None where it was not.
    """

    measures: tuple[str, ...]
    judge: str
    parameters: Parameters = field(default_factory=dict)
    calibration: Calibration | None = None


@dataclass(frozen=True)
class ExperimentResults:
    """All that a report is made from.

    Attributes:
        title: of the experiment.
        results: every article that was to be written; methods and topics are shown in the order they come in here.
        measures: what was measured.
        baseline: the method that the others are compared with.
        facts: what a reader must know to repeat it (versions, models, hashes of prompts), by name.
        calibrations: the judges of the judged measures.
        notes: paragraphs that the report opens with.

    Raises:
        ValueError: two results have the same method, topic and seed, or two measures the same name.
    """

    title: str
    results: tuple[Result, ...]
    measures: tuple[Measure, ...]
    baseline: str
    facts: Mapping[str, str] = field(default_factory=dict)
    calibrations: tuple[Judged, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        articles = Counter((result.method, result.topic, result.seed) for result in self.results)
        names = Counter(measure.name for measure in self.measures)
        for key, times in [*articles.most_common(1), *names.most_common(1)]:
            if times > 1:
                raise ValueError(f"{key!r} is there {times} times")

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in the order of the results."""
        return tuple(dict.fromkeys(result.method for result in self.results))

    @property
    def topics(self) -> tuple[str, ...]:
        """Ids of the topics, in the order of the results."""
        return tuple(dict.fromkeys(result.topic for result in self.results))


class _File(BaseModel):
    """Checks the file's content."""

    model_config = ConfigDict(extra="forbid")

    results: ExperimentResults


def judged(metric: Metric, calibration: Calibration | None = None) -> tuple[Judged, ...]:
    """What to print beside a metric's scores, a judge at a time; nothing where the metric asks none.

    Args:
        metric: which.
        calibration: of the judge of support.
    """
    if not isinstance(metric, JudgedMetric):
        return ()
    return tuple(
        Judged(
            tuple(measure.name for measure in measures),
            str(metric.parameters[kind]),
            metric.parameters,
            calibration if kind == "judge" else None,
        )
        for kind, measures in metric.rests_on
    )


def topic_means(results: ExperimentResults, method: str, measure: str) -> dict[str, float]:
    """Topic → mean over seeds of a method's values, for the topics that have one; what is not finite is none."""
    found: dict[str, list[float]] = {}
    for result in results.results:
        value = result.values.get(measure)
        if result.method == method and not result.failure and value is not None and math.isfinite(value):
            found.setdefault(result.topic, []).append(value)
    return {topic: sum(values) / len(values) for topic, values in found.items()}


def save_results(path: Path, results: ExperimentResults) -> None:
    """Write the file, whole or not at all; equal results give equal bytes.

    Numbers that JSON lacks stand as ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``; halves of characters (lone
    surrogates), which no file may hold, become question marks.

    Raises:
        ExperimentError: it cannot be written.
    """
    readable = _File(results=_plain(results)).results  # what is written can be read, and a whole number is a float
    content = {"format": FORMAT, **_plain(readable)}
    try:
        write_atomically(path, json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    except OSError as error:
        raise ExperimentError(f"cannot write {path}: {error.strerror}; choose another folder") from error


def load_results(path: Path) -> ExperimentResults:
    """Read what :func:`save_results` wrote.

    Args:
        path: the file, or the folder that holds it.

    Raises:
        ExperimentError: it is absent, damaged, or of a newer version.
    """
    path = path / RESULTS if path.is_dir() else path
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ExperimentError(f"cannot read {path}: {error.strerror}; is it the results of an experiment?") from error
    except (ValueError, RecursionError) as error:
        raise ExperimentError(f"{path} is damaged: it is no JSON ({error}); make it again") from error
    version = content.pop("format", None) if isinstance(content, dict) else None
    if type(version) is int and version > FORMAT:
        raise ExperimentError(f"{path} has format {version}, this version reads up to {FORMAT}: update storm-pipeline")
    if type(version) is not int or version < 1:
        raise ExperimentError(f"{path} holds no results of an experiment: it names no format; name a {RESULTS}")
    try:
        return _File(results=content).results
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/".join(str(part) for part in first["loc"][1:]) or "the whole"
        raise ExperimentError(f"{path} is damaged at {where}: {first['msg']}; make it again") from error


def _plain(value: Any) -> Any:
    """A value of strict JSON."""
    if dataclasses.is_dataclass(value):
        return {own.name: _plain(getattr(value, own.name)) for own in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {_plain(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
