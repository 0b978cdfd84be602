"""Interest, organisation, relevance and coverage, each graded 1 to 5 by a rubric (STORM, appendix C.2, Table 8)."""

from collections.abc import Mapping, Sequence

from storm_bench.judges.grading import GradingJudge, GradingRequest, Rubric
from storm_bench.metrics.base import Measure, Score
from storm_bench.trimming import as_text, parts_of, trimmed
from storm_bench.types import Case
from storm_pipeline.api import fingerprint

RUBRICS = (
    Rubric(
        "interest",
        "Interest level: does the article draw the reader in and make them think?",
        (
            "Dull; nothing in it tries to win the reader's attention.",
            "A plain narrative that interests a little, without depth.",
            "Interesting in part, with several points that a reader will remember.",
            "Interesting for the most part: well told, with remarkable points that often hold the reader.",
            "Gripping from beginning to end; the telling never lets the reader's interest go.",
        ),
    ),
    Rubric(
        "organisation",
        "Coherence and organisation: is the article well ordered, and does it follow a logic?",
        (
            "Without order; parts do not hang together.",
            "There is the beginning of a structure, but the article often leaves it.",
            "A visible structure that is kept to most of the time; coherence is lost here and there.",
            "Well ordered; the structure is clear and coherence is lost in small things only.",
            "In perfect order; each part follows from the one before, and transitions are smooth.",
        ),
    ),
    Rubric(
        "relevance",
        "Relevance and focus: does the article keep to its topic?",
        (
            "About something else than its title says.",
            "About its topic in part; it strays often, and the core is not held on to.",
            "About its topic on the whole, with a few details that do not belong.",
            "Close to its topic nearly throughout; it strays seldom.",
            "Entirely about its topic; every single statement helps to understand it.",
        ),
    ),
    Rubric(
        "coverage",
        "Broad coverage: does the article treat all that matters about its topic, and in depth?",
        (
            "Hardly any main aspect is treated; the view is very narrow.",
            "Some main aspects are treated and others are missing; the picture is incomplete.",
            "Most main aspects are treated, with some details too many or some points too few.",
            "All major points are treated, with very little that is beside the point.",
            "Every aspect that matters is treated thoroughly, and nothing beside the point.",
        ),
    ),
)
"""The paper's four criteria and scales in our own words."""

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
        grader: gives the grades.
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
        """Grade all cases in one batch.

        Raises:
            MetricError: the grader cannot be called.
        """
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
