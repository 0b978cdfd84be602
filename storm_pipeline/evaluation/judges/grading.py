"""The seam of graders: a grade for a text by the rubric of one criterion; and a language model behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from storm_pipeline.errors import MetricError
from storm_pipeline.evaluation.judges.base import Parameters
from storm_pipeline.evaluation.judges.model import JudgeModel, fingerprint
from storm_pipeline.models.programs import Program
from storm_pipeline.signatures.judging import GradeOneToFive, GradeZeroToFive


@dataclass(frozen=True)
class Rubric:
    """A criterion and what each grade of its scale means.

    Attributes:
        name: short; the measure is called so.
        criterion: the question that the grade answers.
        grades: descriptions from the lowest grade up, without gaps.
        low: the lowest grade, 0 or 1.
    """

    name: str
    criterion: str
    grades: tuple[str, ...]
    low: int = 1

    @property
    def high(self) -> int:
        """The highest grade."""
        return self.low + len(self.grades) - 1

    @property
    def scale(self) -> str:
        """One line a grade: ``Score 1: …``."""
        return "\n".join(f"Score {grade}: {text}" for grade, text in enumerate(self.grades, self.low))


@dataclass(frozen=True)
class Work:
    """What is graded: the text, what its author was asked for, and the rubric."""

    task: str
    text: str
    rubric: Rubric


@dataclass(frozen=True)
class Grade:
    """A grade of the rubric's scale, and the grader's reasons."""

    score: int
    feedback: str = ""


class GradingJudge(Protocol):
    """Grades works, one grade for each, in order. Deterministic."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def parameters(self) -> Parameters: ...  # noqa: D102

    def grades(self, works: Sequence[Work]) -> list[Grade]: ...  # noqa: D102


class LanguageModelGrader:
    """A language model that grades, by scales of 1–5 and of 0–5.

    Opened with ``form="prometheus"`` it is asked in that form (:mod:`.prometheus`).
    """

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self._programs = {
            (1, 5): Program(GradeOneToFive, token_limit=450, greedy=True),
            (0, 5): Program(GradeZeroToFive, token_limit=450, greedy=True),
        }

    @property
    def name(self) -> str:
        """Name of the model."""
        return f"lm:{self._model.name}"

    @property
    def parameters(self) -> Parameters:
        """Settings of the model and a fingerprint of the prompts."""
        return {**self._model.settings, "prompt": fingerprint(*self._programs.values())}

    def grades(self, works: Sequence[Work]) -> list[Grade]:
        """As :class:`GradingJudge`; equal works are graded once.

        Raises:
            MetricError: the model cannot be asked, or gives no grade of the scale; a rubric has another scale.
        """
        for work in works:
            if (work.rubric.low, work.rubric.high) not in self._programs:
                raise MetricError(
                    f"the rubric {work.rubric.name!r} goes from {work.rubric.low} to {work.rubric.high}: "
                    "language models are asked for grades of 1 to 5 or 0 to 5"
                )
        found: dict[int, Grade] = {}
        for (low, high), program in self._programs.items():
            places = [i for i, work in enumerate(works) if (work.rubric.low, work.rubric.high) == (low, high)]
            replies = self._model.ask(program, [_question(works[i]) for i in places])
            found |= {i: Grade(r.score, r.feedback) for i, r in zip(places, replies, strict=True)}
        return [found[i] for i in range(len(works))]


def _question(work: Work) -> dict[str, str]:
    return {
        "task": work.task,
        "text": work.text,
        "criterion": work.rubric.criterion,
        "scale": work.rubric.scale,
    }
