"""Grades by rubrics (STORM, WikiGenBench), and the facts of an infobox (WikiGenBench), by a language model."""

import tomllib
from collections.abc import Sequence
from importlib.resources import files

from storm_bench.judges.grading import GradingRequest, LanguageModelGrader, Rubric
from storm_bench.judges.model_judge import JudgeModel
from storm_bench.metrics.base import BatchMetric, Measure, Score
from storm_bench.metrics.texts import body_headings
from storm_bench.sections import all_sections
from storm_bench.signatures.judging import LONGEST_GRADED, LONGEST_READ, AnswerFromArticle, CompareAnswers, GradeWriting
from storm_bench.trimming import as_shown
from storm_bench.types import Case, Topic
from storm_pipeline import Article
from storm_pipeline.api import Program, fingerprint, tidy, without_markers, words

_FILE = tomllib.loads(files("storm_bench.metrics").joinpath("rubrics.toml").read_text(encoding="utf-8"))
BY_NAME = {name: Rubric(name, own["criterion"], tuple(own["grades"]), own["low"]) for name, own in _FILE.items()}
"""The rubrics of ``rubrics.toml``, in our own words, by name."""
RUBRICS = tuple(BY_NAME[name] for name in ("interest", "organisation", "relevance", "coverage"))
"""The paper's four criteria."""
RUBRIC_MEASURES = tuple(Measure(rubric.name, low=rubric.low, high=rubric.high) for rubric in RUBRICS)
QUESTION = "An infobox about {topic} has the field {field}. What does it say?"
"""The question for an infobox field."""
_UNKNOWN = "no information"
_NON_DESCRIPTIVE_FIELDS = frozenset(
    ["coordinates", "website", "image", "caption", "map", "logo", "isbn", "oclc", "url"]
)
"""Fields that do not describe the subject; no article is expected to state them."""
IB_MEASURES = (Measure("ib_score"),)


def writing_task(topic: str) -> str:
    """Return the task given to the author of a graded article."""
    return f"Write an article about the following topic, as an editor of an encyclopedia: {topic}"


def rubric_fingerprint(rubrics: Sequence[Rubric]) -> str:
    """Return a 12-digit hexadecimal hash of the rubrics' texts."""
    return fingerprint([(rubric.name, rubric.criterion, rubric.scale) for rubric in rubrics])[:12]


def rubric_grades(grader: LanguageModelGrader) -> BatchMetric:
    """Return four grades of 1 to 5, without a reference article; None for an article without text.

    Articles of more than :data:`LONGEST_GRADED` words are trimmed as in appendix C.2. Departures: the wording of the
    rubrics is ours; the paper's grader is Prometheus 13B, here it is any grader (with ``form="prometheus"`` prompts
    have that model's format).
    """

    def score(cases: Sequence[Case]) -> list[Score]:
        texts = [as_shown(case.article, LONGEST_GRADED) for case in cases]
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
        RUBRIC_MEASURES,
        "Shao et al. 2024 (STORM), appendix C.2 and Table 8",
        score,
        {"grader": grader.name, **grader.parameters, "rubrics": rubric_fingerprint(RUBRICS), "longest": LONGEST_GRADED},
        (("grader", RUBRIC_MEASURES),),
    )


OUTLINE, FOCUS = BY_NAME["outline"], BY_NAME["focus"]
_GRADE_ZERO = "Nothing in the text can be graded by this criterion."


def _with_grade_zero(name: str) -> Rubric:
    """Return a STORM rubric with an added grade 0, as v2 uses those rubrics on a 0–5 scale."""
    return Rubric(name, BY_NAME[name].criterion, (_GRADE_ZERO, *BY_NAME[name].grades), low=0)


ORGANISATION, COVERAGE = _with_grade_zero("organisation"), _with_grade_zero("coverage")
_WRITING = ("fluency", "informativeness")
_RUBRICS = (OUTLINE, FOCUS, ORGANISATION, COVERAGE)
QUALITY_MEASURES = tuple(Measure(f"{own}_0_5", low=0, high=5) for own in (*_WRITING, *(r.name for r in _RUBRICS)))


def wikigen_quality(model: JudgeModel, grader: LanguageModelGrader) -> BatchMetric:
    """Return six grades of 0 to 5 for writing quality and informativeness.

    Fluency and informativeness come from one call (v1, appendix B.3; its third grade, faithfulness, is not reported
    there and not requested here). Focus is the mean over first-level sections, each graded with its subsections against
    its heading; a section without text gets 0 without a call. All grades are None for an article without text; one
    without headings gets 0 for the outline without a call, and None for focus.

    Departures: the wording is ours; v1 gives no scale for the outline. Focus is v1's: v2 uses STORM's relevance rubric
        on the whole article, so its tables are not comparable with ``focus_0_5``.

    ``grader``: gives the other grades; may be the same model. It and the model see :data:`LONGEST_READ` words at most;
    longer articles and sections are trimmed as in :func:`rubric_grades`.
    """
    program = Program(GradeWriting, token_limit=40, greedy=True)

    def score(cases: Sequence[Case]) -> list[Score]:
        """Grade all cases in two batches."""
        texts = [as_shown(case.article, LONGEST_READ) for case in cases]
        written = [(case, text) for case, text in zip(cases, texts, strict=True) if text]
        writing = iter(model.ask(program, [{"topic": case.topic.title, "text": text} for case, text in written]))
        requests = [_requests(case, text) for case, text in written]
        grades = iter(grader.grades([request for own in requests for request in own]))
        scores = iter(
            [
                _score(case.article, next(writing), [(request, next(grades).score) for request in own])
                for (case, _), own in zip(written, requests, strict=True)
            ]
        )
        return [next(scores) if text else {m.name: None for m in QUALITY_MEASURES} for text in texts]

    writer = {f"writing_{n}": v for n, v in {"model": model.name, **model.parameters(program)}.items()}
    own = {"rubrics": rubric_fingerprint(_RUBRICS), "longest": LONGEST_READ, **writer}
    return BatchMetric(
        "wikigen_quality",
        QUALITY_MEASURES,
        "WikiGenBench v1, section 3 and appendix B.3; v2, section 3 and appendix D",
        score,
        {"grader": grader.name, **grader.parameters, **own},
        (("writing_model", QUALITY_MEASURES[: len(_WRITING)]), ("grader", QUALITY_MEASURES[len(_WRITING) :])),
    )


def _requests(case: Case, text: str) -> list[GradingRequest]:
    article, asked = case.article, writing_task(case.topic.title)
    requests = [GradingRequest(asked, text, rubric) for rubric in (ORGANISATION, COVERAGE)]
    if not body_headings(article):
        return requests
    requests.append(
        GradingRequest(f"Write the outline of an article about: {case.topic.title}", _outline(article), OUTLINE)
    )
    texts = [(s.heading, as_shown(Article(article.title, sections=(s,)), LONGEST_READ)) for s in article.sections]
    sections = (
        GradingRequest(f"{asked}\nThis is its section {heading!r}.", own, FOCUS) for heading, own in texts if own
    )
    return [*requests, *sections]


def _score(article: Article, writing: object, graded: Sequence[tuple[GradingRequest, int]]) -> Score:
    found: dict[str, float | None] = {f"{name}_0_5": float(getattr(writing, name)) for name in _WRITING}
    sections = len(article.sections) if body_headings(article) else 0
    for rubric in _RUBRICS:
        # Ungraded texts count as 0: sections without text, the outline of an article without headings.
        count = sections if rubric is FOCUS else 1
        total = sum(score for request, score in graded if request.rubric is rubric)
        found[f"{rubric.name}_0_5"] = total / count if count else None
    return found


def _outline(article: Article) -> str:
    found = ((len(path), section.heading) for path, section in all_sections(article))
    return "\n".join(f"{'#' * level} {heading}" for level, heading in found if words(heading))


def ib_score(model: JudgeModel) -> BatchMetric:
    """Return the share of the infobox's fields that the article states.

    Each field becomes a question, which is answered from the article alone; the answer is compared with the field's
    value (0 or 1). "No information" counts 0 without a comparison. None if the human article has no infobox, 0 if the
    generated one has no text.

    Departures: the papers print no prompt for generating questions, so a fixed template is used; fields that do not
    describe the subject (coordinates, website …) are left out. :data:`LONGEST_READ` words are shown at most; longer
    articles are trimmed as in :func:`rubric_grades`.
    """
    answer = Program(AnswerFromArticle, token_limit=60, greedy=True)
    compare = Program(CompareAnswers, token_limit=10, greedy=True)

    def score(cases: Sequence[Case]) -> list[Score]:
        """Answer the questions of all cases in one batch, then compare all answers in another."""
        asked = [
            (i, question, value, text)
            for i, (case, text) in enumerate((case, as_shown(case.article, LONGEST_READ)) for case in cases)
            for question, value in questions(case.topic)
        ]
        shown = [(i, question, value, text) for i, question, value, text in asked if text]
        replies = model.ask(answer, [{"article": text, "question": q} for _, q, _, text in shown])
        comparisons = [
            (i, {"question": question, "expected": value, "answer": reply.answer})
            for (i, question, value, _), reply in zip(shown, replies, strict=True)
            if _UNKNOWN not in reply.answer.casefold()
        ]
        same = model.ask(compare, [comparison for _, comparison in comparisons])
        correct = [i for (i, _), reply in zip(comparisons, same, strict=True) if reply.same]
        fields = [i for i, *_ in asked]
        return [{"ib_score": correct.count(i) / fields.count(i) if i in fields else None} for i in range(len(cases))]

    return BatchMetric(
        "ib_score",
        IB_MEASURES,
        "WikiGenBench v1, section 3.2, Figure 3 and appendix B.3",
        score,
        {"model": model.name, **model.parameters(answer, compare), "question": QUESTION, "longest": LONGEST_READ},
        (("model", IB_MEASURES),),
    )


def questions(topic: Topic) -> list[tuple[str, str]]:
    """Return (question, value without citation markers) for each infobox field that describes the subject."""
    found = []
    for field, value in topic.human.infobox:
        name, plain = tidy(field), tidy(without_markers(value))
        if (
            name
            and plain
            and name.casefold().rstrip("s") not in {known.rstrip("s") for known in _NON_DESCRIPTIVE_FIELDS}
        ):
            found.append((QUESTION.format(topic=topic.title, field=repr(name)), plain))
    return found
