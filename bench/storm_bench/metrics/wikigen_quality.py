"""Fluency, informativeness, outline, focus, organisation and coverage, graded 0 to 5 (WikiGenBench v1 B.3, v2 D)."""

from collections.abc import Sequence

from storm_bench.judges.grading import GradingJudge, GradingRequest, Rubric
from storm_bench.judges.model_judge import JudgeModel
from storm_bench.judges.probability import prompt_fingerprint
from storm_bench.metrics.base import BatchMetric, Measure, Score
from storm_bench.metrics.rubric import BY_NAME, rubric_fingerprint, writing_task
from storm_bench.metrics.texts import body_headings
from storm_bench.sections import all_sections
from storm_bench.signatures.judging import GradeWriting
from storm_bench.trimming import as_shown
from storm_bench.types import Case
from storm_pipeline import Article
from storm_pipeline.api import Program, words

OUTLINE, FOCUS = BY_NAME["outline"], BY_NAME["focus"]
LONGEST = 4000
"""Maximum words of a graded article or section."""
_GRADE_ZERO = "Nothing in the text can be graded by this criterion."


def _with_grade_zero(name: str) -> Rubric:
    """A STORM rubric with an added grade 0, as v2 uses those rubrics on a 0–5 scale."""
    return Rubric(name, BY_NAME[name].criterion, (_GRADE_ZERO, *BY_NAME[name].grades), low=0)


ORGANISATION, COVERAGE = _with_grade_zero("organisation"), _with_grade_zero("coverage")
_WRITING = ("fluency", "informativeness")
_RUBRICS = (OUTLINE, FOCUS, ORGANISATION, COVERAGE)
MEASURES = tuple(Measure(f"{own}_0_5", low=0, high=5) for own in (*_WRITING, *(r.name for r in _RUBRICS)))


def wikigen_quality(model: JudgeModel, grader: GradingJudge, *, longest: int = LONGEST) -> BatchMetric:
    """Six grades of 0 to 5 for writing quality and informativeness.

    Fluency and informativeness come from one call (v1, appendix B.3; its third grade, faithfulness, is not reported
    there and not requested here). Focus is the mean over first-level sections, each graded with its subsections against
    its heading; a section without text gets 0 without a call. All grades are None for an article without text; one
    without headings gets 0 for the outline without a call, and None for focus.

    Departures: the wording is ours; v1 gives no scale for the outline. Focus is v1's: v2 uses STORM's relevance rubric
        on the whole article, so its tables are not comparable with ``focus_0_5``.

    Args:
        grader: gives the other grades; may be the same model.
        longest: maximum words graded; longer articles and sections are trimmed as in :func:`.rubric.rubric_grades`.
    """
    program = Program(GradeWriting, token_limit=40, greedy=True)

    def score(cases: Sequence[Case]) -> list[Score]:
        """Grade all cases in two batches."""
        texts = [as_shown(case.article, longest) for case in cases]
        written = [(case, text) for case, text in zip(cases, texts, strict=True) if text]
        writing = iter(model.ask(program, [{"topic": case.topic.title, "text": text} for case, text in written]))
        requests = [_requests(case, text, longest) for case, text in written]
        grades = iter(grader.grades([request for own in requests for request in own]))
        scores = iter(
            [
                _score(case.article, next(writing), [(request, next(grades).score) for request in own])
                for (case, _), own in zip(written, requests, strict=True)
            ]
        )
        return [next(scores) if text else {m.name: None for m in MEASURES} for text in texts]

    told = {"model": model.name, **model.settings, "prompt": prompt_fingerprint(program)}
    own = {"rubrics": rubric_fingerprint(_RUBRICS), "longest": longest, **{f"writing_{n}": v for n, v in told.items()}}
    return BatchMetric(
        "wikigen_quality",
        MEASURES,
        "WikiGenBench v1, section 3 and appendix B.3; v2, section 3 and appendix D",
        score,
        {"grader": grader.name, **grader.parameters, **own},
        (("writing_model", MEASURES[: len(_WRITING)]), ("grader", MEASURES[len(_WRITING) :])),
    )


def _requests(case: Case, text: str, longest: int) -> list[GradingRequest]:
    article, asked = case.article, writing_task(case.topic.title)
    requests = [GradingRequest(asked, text, rubric) for rubric in (ORGANISATION, COVERAGE)]
    if not body_headings(article):
        return requests
    requests.append(
        GradingRequest(f"Write the outline of an article about: {case.topic.title}", _outline(article), OUTLINE)
    )
    texts = [(s.heading, as_shown(Article(article.title, sections=(s,)), longest)) for s in article.sections]
    sections = (
        GradingRequest(f"{asked}\nThis is its section {heading!r}.", own, FOCUS) for heading, own in texts if own
    )
    return [*requests, *sections]


def _score(article: Article, writing: object, graded: Sequence[tuple[GradingRequest, int]]) -> Score:
    found: dict[str, float | None] = {f"{name}_0_5": float(getattr(writing, name)) for name in _WRITING}
    sections = len(article.sections) if body_headings(article) else 0
    for rubric in _RUBRICS:
        # What was not graded counts as 0: sections without text, the outline of an article without headings.
        count = sections if rubric is FOCUS else 1
        total = sum(score for request, score in graded if request.rubric is rubric)
        found[f"{rubric.name}_0_5"] = total / count if count else None
    return found


def _outline(article: Article) -> str:
    found = ((len(path), section.heading) for path, section in all_sections(article))
    return "\n".join(f"{'#' * level} {heading}" for level, heading in found if words(heading))
