"""Interest, organisation, relevance and coverage, each graded 1 to 5 by a rubric (STORM, appendix C.2, Table 8)."""

import tomllib
from collections.abc import Sequence
from importlib.resources import files

from storm_bench.judges.grading import GradingJudge, GradingRequest, Rubric
from storm_bench.metrics.base import BatchMetric, Measure, Score
from storm_bench.trimming import as_shown
from storm_bench.types import Case
from storm_pipeline.api import fingerprint

_FILE = tomllib.loads(files("storm_bench.metrics").joinpath("rubrics.toml").read_text(encoding="utf-8"))
BY_NAME = {name: Rubric(name, own["criterion"], tuple(own["grades"]), own["low"]) for name, own in _FILE.items()}
"""The rubrics of ``rubrics.toml``, in our own words, by name."""
RUBRICS = tuple(BY_NAME[name] for name in ("interest", "organisation", "relevance", "coverage"))
"""The paper's four criteria."""
LONGEST = 2000
"""Maximum words of a graded article (appendix C.2)."""
MEASURES = tuple(Measure(rubric.name, low=rubric.low, high=rubric.high) for rubric in RUBRICS)


def writing_task(topic: str) -> str:
    """The task given to the author of a graded article."""
    return f"Write an article about the following topic, as an editor of an encyclopedia: {topic}"


def rubric_fingerprint(rubrics: Sequence[Rubric]) -> str:
    """A 12-digit hexadecimal hash of the rubrics' texts."""
    return fingerprint([(rubric.name, rubric.criterion, rubric.scale) for rubric in rubrics])[:12]


def rubric_grades(grader: GradingJudge, *, longest: int = LONGEST) -> BatchMetric:
    """Four grades of 1 to 5, without a reference article; None for an article without text.

    Departures: the wording of the rubrics is ours; the paper's grader is Prometheus 13B, here it is any grader (with
    ``form="prometheus"`` prompts have that model's format).

    ``longest``: maximum words graded, >= 1; longer articles are trimmed as in appendix C.2.
    """

    def score(cases: Sequence[Case]) -> list[Score]:
        texts = [as_shown(case.article, longest) for case in cases]
        requests = [
            GradingRequest(writing_task(case.topic.title), text, rubric)
            for case, text in zip(cases, texts, strict=True)
            if text
            for rubric in RUBRICS
        ]
        grades = iter(grader.grades(requests))
        return [{r.name: float(next(grades).score) if text else None for r in RUBRICS} for text in texts]

    return BatchMetric(
        "rubric",
        MEASURES,
        "Shao et al. 2024 (STORM), appendix C.2 and Table 8",
        score,
        {
            "grader": grader.name,
            **grader.parameters,
            "rubrics": rubric_fingerprint(RUBRICS),
            "longest": longest,
        },
        (("grader", MEASURES),),
    )
