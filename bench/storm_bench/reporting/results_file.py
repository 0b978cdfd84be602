"""An experiment's results as one file: everything the report is made from; contains no article text."""

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import to_json, to_jsonable_python

from storm_bench.calibration import Calibration
from storm_bench.errors import ExperimentError
from storm_bench.metrics.base import Measure, Metric, Parameters
from storm_pipeline.api import read_plain, write_atomically

FORMAT = 1
"""Version of the file format; incremented when an older reader would misread it."""
RESULTS = "results.json"
"""File name in a report's folder."""
NO_JUDGE = "screen: no judge"
"""Placeholder for the judge, and for every figure, of support measures without a named judge."""
WORDS_ASKED = Measure("words_asked", high=math.inf, better="neither")
"""Words that an article's prompts asked for: the same for all methods, unless the passages of one hold too little."""


@dataclass(frozen=True)
class Result:
    """One article of an experiment and its scores."""

    method: str  # label of the method
    topic: str  # id of the topic
    seed: int  # seed of the run
    # measure → value; None if undefined for the article (no entity in the human article, no citation …), absent if not
    # scored
    values: Mapping[str, float | None] = field(default_factory=dict)
    failure: str = ""  # why there is no article; empty if there is one


@dataclass(frozen=True)
class JudgedMeasures:
    """Measures that depend on a judge, and the judge's calibration."""

    measures: tuple[str, ...]  # their names
    judge: str  # its name
    parameters: Parameters = field(default_factory=dict)  # what its answers depend on
    calibration: Calibration | None = None  # None if the judge is not calibrated


@dataclass(frozen=True)
class ExperimentResults:
    """All that a report is made from.

    Raises ValueError: two results have the same method, topic and seed, or two measures the same name.
    """

    title: str  # title of the experiment
    # every attempted article; methods and topics are shown in the order of first occurrence
    results: tuple[Result, ...]
    measures: tuple[Measure, ...]  # all measures
    baseline: str  # the method that the others are compared with
    facts: Mapping[str, str] = field(default_factory=dict)  # provenance (versions, models, prompt hashes …) by name
    calibrations: tuple[JudgedMeasures, ...] = ()  # the judges of the judged measures
    notes: tuple[str, ...] = ()  # opening paragraphs of the report
    # method → measure → value, as a paper prints them
    published: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    published_in: str = ""  # which paper and table, and what its values depend on

    def __post_init__(self) -> None:
        articles = Counter((result.method, result.topic, result.seed) for result in self.results)
        names = Counter(measure.name for measure in self.measures)
        for key, times in [*articles.most_common(1), *names.most_common(1)]:
            if times > 1:
                raise ValueError(f"duplicate {key!r}: it occurs {times} times")

    @cached_property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods, in the order of the results."""
        return tuple(dict.fromkeys(result.method for result in self.results))

    @property
    def unjudged(self) -> frozenset[str]:
        """Names of the measures that nobody judged."""
        return frozenset(name for c in self.calibrations if c.judge == NO_JUDGE for name in c.measures)

    @cached_property
    def topics(self) -> tuple[str, ...]:
        """Ids of the topics, in the order of the results."""
        return tuple(dict.fromkeys(result.topic for result in self.results))

    @cached_property
    def written(self) -> Mapping[str, list[Result]]:
        """Method → its results with an article."""
        found: dict[str, list[Result]] = {}
        for result in self.results:
            found.setdefault(result.method, []).extend(() if result.failure else (result,))
        return found


class _File(BaseModel):
    """Validates the file's content."""

    model_config = ConfigDict(extra="forbid")

    results: ExperimentResults


def judges_of(
    metric: Metric, calibrations: Mapping[str, Calibration | None] = MappingProxyType({})
) -> tuple[JudgedMeasures, ...]:
    """Return the judges of a metric; empty if it has none.

    ``calibrations``: parameter that names a judge, as in ``metric.rests_on`` → the judge's calibration.
    """
    return tuple(
        JudgedMeasures(
            tuple(measure.name for measure in measures),
            str(metric.parameters[kind]),
            metric.parameters,
            calibrations.get(kind),
        )
        for kind, measures in metric.rests_on
    )


def topic_means(results: ExperimentResults, method: str, measure: str) -> dict[str, float]:
    """Return topic → mean over seeds of a method's finite values, for the topics that have any."""
    found: dict[str, list[float]] = {}
    for result in results.written.get(method, ()):
        value = result.values.get(measure)
        if value is not None and math.isfinite(value):
            found.setdefault(result.topic, []).append(value)
    return {topic: sum(values) / len(values) for topic, values in found.items()}


def save_results(path: Path, results: ExperimentResults) -> None:
    """Write the file atomically; equal results give equal bytes.

    Non-finite numbers are written as ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``; lone surrogates become question
    marks. Raises ExperimentError: it cannot be written.
    """
    encodable = json.dumps({"results": to_jsonable_python(results)}, ensure_ascii=False).encode("utf-8", "replace")
    readable = _File.model_validate_json(encodable).results  # as it will be read: integers become floats
    content = {"format": FORMAT, **to_jsonable_python(readable)}
    try:
        write_atomically(path, to_json(content, indent=1, inf_nan_mode="strings") + b"\n")
    except OSError as error:
        raise ExperimentError(f"cannot write {path}: {error.strerror}; choose another folder") from error


def load_results(path: Path) -> ExperimentResults:
    """Read what :func:`save_results` wrote. Raises ExperimentError: it is absent, damaged, or has a newer format."""
    path = path / RESULTS if path.is_dir() else path
    try:
        content = json.loads(read_plain(path).decode("utf-8"))
    except OSError as error:
        raise ExperimentError(f"cannot read {path}: {error.strerror}; give an experiment's {RESULTS}") from error
    except (ValueError, RecursionError) as error:
        raise ExperimentError(f"{path} is not valid JSON ({error}); make the report again") from error
    version = content.pop("format", None) if isinstance(content, dict) else None
    if type(version) is int and version > FORMAT:
        raise ExperimentError(f"{path} has format {version}, this version reads up to {FORMAT}: update storm-pipeline")
    if type(version) is not int or version < 1:
        raise ExperimentError(f"{path} is not a results file: it has no format version; give an experiment's {RESULTS}")
    try:
        return _File(results=content).results
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = "/".join(str(part) for part in first["loc"][1:]) or "the top level"
        raise ExperimentError(f"{path} is damaged at {where}: {first['msg']}; make the report again") from error
