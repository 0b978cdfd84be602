"""Interest, organisation, relevance and coverage, each graded 1 to 5 by a rubric (STORM, appendix C.2, Table 8)."""

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files

from storm_bench.judges.grading import GradingJudge, GradingRequest, Rubric
from storm_bench.metrics.base import Measure, Score
from storm_bench.trimming import as_text, parts_of, trimmed
from storm_bench.types import Case
from storm_pipeline.api import fingerprint

_FILE = tomllib.loads(files("storm_bench.metrics").joinpath("rubrics.toml").read_text(encoding="utf-8"))
BY_NAME = {name: Rubric(name, own["criterion"], tuple(own["grades"]), own["low"]) for name, own in _FILE.items()}
"""The rubrics of ``rubrics.toml``, in our own words, by name."""
RUBRICS = tuple(BY_NAME[name] for name in ("interest", "organisation", "relevance", "coverage"))
"""The paper's four criteria."""
LONGEST = 2000
"""Maximum words of a graded article (appendix C.2)."""


def writing_task(topic: str) -> str:
    """The task given to the author of a graded article."""
    return f"Write an article about the following topic, as an editor of an encyclopedia: {topic}"


def rubric_fingerprint(rubrics: Sequence[Rubric]) -> str:
    """A 12-digit hexadecimal hash of the rubrics' texts."""
    return fingerprint([(rubric.name, rubric.criterion, rubric.scale) for rubric in rubrics])[:12]


class RubricGrades:
    """Four grades of 1 to 5, without a reference article; None for an article without text.

    Departures: the wording of the rubrics is ours; the paper's grader is Prometheus 13B, here it is any grader (with
    ``form="prometheus"`` prompts have that model's format).

    Args:
        longest: maximum words graded, >= 1; longer articles are trimmed as in appendix C.2.
    """

    name = "rubric"
    measures = tuple(Measure(rubric.name, low=rubric.low, high=rubric.high) for rubric in RUBRICS)
    rests_on = (("grader", measures),)
    reference = "Shao et al. 2024 (STORM), appendix C.2 and Table 8"

    def __init__(self, grader: GradingJudge, *, longest: int = LONGEST) -> None:
        self._grader = grader
        self._longest = longest

    @property
    def parameters(self) -> Mapping[str, str | int | float]:
        """The grader and its parameters, a fingerprint of the rubrics, and the longest text."""
        own: dict[str, str | int | float] = {"rubrics": rubric_fingerprint(RUBRICS), "longest": self._longest}
        return {"grader": self._grader.name, **self._grader.parameters, **own}

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """Grade all cases in one batch. Raises MetricError: the grader cannot be called."""
        texts = [trimmed(parts_of(case.article), self._longest) for case in cases]
        requests = [
            GradingRequest(writing_task(case.topic.title), as_text(parts), rubric)
            for case, parts in zip(cases, texts, strict=True)
            if any(part.length for part in parts)
            for rubric in RUBRICS
        ]
        grades = iter(self._grader.grades(requests))
        return [
            {r.name: float(next(grades).score) if any(part.length for part in parts) else None for r in RUBRICS}
            for parts in texts
        ]
