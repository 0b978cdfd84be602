"""A language model that grades texts by rubrics."""

from collections.abc import Sequence
from dataclasses import dataclass

from storm_bench.judges.base import Parameters
from storm_bench.judges.model_judge import JudgeModel
from storm_bench.signatures.judging import GradeOneToFive, GradeZeroToFive
from storm_pipeline.api import Program


@dataclass(frozen=True)
class Rubric:
    """A criterion and what each grade of its scale means."""

    name: str  # short; also the measure's name
    criterion: str  # the question to grade by
    grades: tuple[str, ...]  # descriptions of all grades, lowest first, up to 5
    low: int = 1  # the lowest grade, 0 or 1

    @property
    def high(self) -> int:
        """The highest grade."""
        return self.low + len(self.grades) - 1

    @property
    def scale(self) -> str:
        """One line per grade: ``Score 1: …``."""
        return "\n".join(f"Score {grade}: {text}" for grade, text in enumerate(self.grades, self.low))


@dataclass(frozen=True)
class GradingRequest:
    """A text to grade, the task its author was given, and the rubric."""

    task: str
    text: str
    rubric: Rubric


@dataclass(frozen=True)
class Grade:
    """A grade on the rubric's scale, and the grader's feedback."""

    score: int
    feedback: str = ""


class LanguageModelGrader:
    """A language model that grades on scales of 1–5 and 0–5.

    A model opened with ``form="prometheus"`` gets that prompt format (:mod:`.prometheus`).
    """

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self._programs = {  # by the lowest grade
            1: Program(GradeOneToFive, token_limit=450, greedy=True),
            0: Program(GradeZeroToFive, token_limit=450, greedy=True),
        }
        self.name = f"lm:{model.name}"

    @property
    def parameters(self) -> Parameters:
        """Settings of the model and a fingerprint of the prompts."""
        return self._model.parameters(*self._programs.values())

    def grades(self, requests: Sequence[GradingRequest]) -> list[Grade]:
        """Return the grades of requests, in order; equal requests are graded once.

        Raises MetricError: the model cannot be called or returns no valid grade.
        """
        found: dict[int, Grade] = {}
        for low, program in self._programs.items():
            own = {i: request for i, request in enumerate(requests) if request.rubric.low == low}
            replies = self._model.ask(program, [_question(request) for request in own.values()])
            found |= {i: Grade(reply.score, reply.feedback) for i, reply in zip(own, replies, strict=True)}
        return [found[i] for i in range(len(requests))]


def _question(request: GradingRequest) -> dict[str, str]:
    rubric = request.rubric
    return {"task": request.task, "text": request.text, "criterion": rubric.criterion, "scale": rubric.scale}
