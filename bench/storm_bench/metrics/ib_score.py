"""IB score: does the article contain the facts of the human article's infobox (WikiGenBench v1, section 3.2)?"""

from collections.abc import Sequence

from storm_bench.judges.model_judge import JudgeModel
from storm_bench.judges.probability import prompt_fingerprint
from storm_bench.metrics.base import BatchMetric, Measure, Score
from storm_bench.signatures.judging import AnswerFromArticle, CompareAnswers
from storm_bench.trimming import as_shown
from storm_bench.types import Case, Topic
from storm_pipeline.api import Program, tidy, without_markers

LONGEST = 4000
"""Maximum words of an article shown to the model."""
QUESTION = "An infobox about {topic} has the field {field}. What does it say?"
"""The question for an infobox field."""
_UNKNOWN = "no information"
_NON_DESCRIPTIVE_FIELDS = frozenset(
    ["coordinates", "website", "image", "caption", "map", "logo", "isbn", "oclc", "url"]
)
"""Fields that do not describe the subject; no article is expected to state them."""
MEASURES = (Measure("ib_score"),)


def ib_score(model: JudgeModel, *, longest: int = LONGEST) -> BatchMetric:
    """Share of the infobox's fields that the article states.

    Each field becomes a question, which is answered from the article alone; the answer is compared with the field's
    value (0 or 1). "No information" counts 0 without a comparison. None if the human article has no infobox, 0 if the
    generated one has no text.

    Departures: the papers print no prompt for generating questions, so a fixed template is used; fields that do not
    describe the subject (coordinates, website …) are left out.

    ``longest``: maximum words shown; longer articles are trimmed as in :func:`.rubric.rubric_grades`.
    """
    answer = Program(AnswerFromArticle, token_limit=60, greedy=True)
    compare = Program(CompareAnswers, token_limit=10, greedy=True)

    def score(cases: Sequence[Case]) -> list[Score]:
        """Answer the questions of all cases in one batch, then compare all answers in another."""
        asked = [
            (i, question, value, text)
            for i, (case, text) in enumerate((case, as_shown(case.article, longest)) for case in cases)
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
        MEASURES,
        "WikiGenBench v1, section 3.2, Figure 3 and appendix B.3",
        score,
        {
            "model": model.name,
            **model.settings,
            "question": QUESTION,
            "prompts": prompt_fingerprint(answer, compare),
            "longest": longest,
        },
        (("model", MEASURES),),
    )


def questions(topic: Topic) -> list[tuple[str, str]]:
    """(question, value without citation markers) for each infobox field that describes the subject."""
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
