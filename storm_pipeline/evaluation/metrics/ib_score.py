"""IB score: does the article answer what the infobox of the human article tells (WikiGenBench v1, section 3.2)."""

from collections.abc import Mapping, Sequence

from storm_pipeline.evaluation.judges.model import JudgeModel, fingerprint
from storm_pipeline.evaluation.judges.opening import Judging
from storm_pipeline.evaluation.metrics.base import Measure, Score
from storm_pipeline.evaluation.trimming import as_text, parts_of, trimmed
from storm_pipeline.evaluation.types import Case, Topic
from storm_pipeline.models.programs import Program
from storm_pipeline.signatures.judging import AnswerFromArticle, CompareAnswers
from storm_pipeline.text.words import MARKER, tidy

LONGEST = 4000
"""Words of an article that are shown."""
QUESTION = "An infobox about {topic} has the field {field}. What does it say?"
"""How a field is asked for."""
_UNKNOWN = "no information"
_NO_FACTS = frozenset(["coordinates", "website", "image", "caption", "map", "logo", "isbn", "oclc", "url"])
"""Fields that say how to find or show the subject, not what it is; no article is expected to tell them."""


class IbScore:
    """Share of the infobox's fields that the article tells.

    For each field a question is made, answered from the article alone, and the answer compared with the field's value
    (0 or 1). Where the answer is that the article does not tell, it counts 0 without a comparison. A human article
    without infobox has no score; a generated one without text has 0.

    Departures: the papers print no prompt for making questions, so a fixed sentence with the field's name asks; fields
    that only say how to find or show the subject (coordinates, website …) are left out.

    Args:
        model: answers and compares.
        longest: words of an article that are shown; longer ones are trimmed as in :class:`.rubric.RubricGrades`.
    """

    name = "ib_score"
    measures = (Measure("ib_score"),)
    rests_on = (("model", measures),)
    reference = "WikiGenBench v1, section 3.2, Figure 3 and appendix B.3"

    def __init__(self, model: JudgeModel, *, longest: int = LONGEST) -> None:
        self._model = model
        self._longest = longest
        self._answer = Program(AnswerFromArticle, token_limit=60, greedy=True)
        self._compare = Program(CompareAnswers, token_limit=10, greedy=True)

    @property
    def parameters(self) -> Mapping[str, str | int | float]:
        """The model, its settings, the question, a fingerprint of both prompts, and the longest text."""
        prompts = fingerprint(self._answer, self._compare)
        own: dict[str, str | int | float] = {"question": QUESTION, "prompts": prompts, "longest": self._longest}
        return {"model": self._model.name, **self._model.settings, **own}

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """Answer the questions of all cases in one batch, then compare all answers in another.

        Raises:
            MetricError: the model cannot be asked.
        """
        asked = [
            (i, question, value, text)
            for i, (case, text) in enumerate((case, self._text(case)) for case in cases)
            for question, value in questions(case.topic)
        ]
        shown = [(i, question, value, text) for i, question, value, text in asked if text]
        replies = self._model.ask(self._answer, [{"article": text, "question": q} for _, q, _, text in shown])
        told = [
            (i, {"question": question, "expected": value, "answer": reply.answer})
            for (i, question, value, _), reply in zip(shown, replies, strict=True)
            if _UNKNOWN not in reply.answer.casefold()
        ]
        same = self._model.ask(self._compare, [comparison for _, comparison in told])
        right = [i for (i, _), reply in zip(told, same, strict=True) if reply.same]
        fields = [i for i, *_ in asked]
        return [{"ib_score": right.count(i) / fields.count(i) if i in fields else None} for i in range(len(cases))]

    def _text(self, case: Case) -> str:
        parts = trimmed(parts_of(case.article), self._longest)
        return as_text(parts) if any(part.length for part in parts) else ""


def make(resources: Judging) -> IbScore:
    """The metric with the model of an evaluation."""
    return IbScore(resources.judge_model)


def questions(topic: Topic) -> list[tuple[str, str]]:
    """A question for each field of the infobox that states a fact, and its value without citation markers."""
    found = []
    for field, value in topic.human.infobox:
        name, told = tidy(field), tidy(MARKER.sub("", value))
        if name and told and name.casefold().rstrip("s") not in {known.rstrip("s") for known in _NO_FACTS}:
            found.append((QUESTION.format(topic=topic.title, field=repr(name)), told))
    return found
