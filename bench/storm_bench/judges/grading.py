"""The protocol of graders, which grade a text by a rubric, and its implementation by a language model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from storm_bench.errors import MetricError
from storm_bench.judges.model_judge import JudgeModel
from storm_bench.judges.probability import prompt_fingerprint
from storm_bench.signatures.judging import GradeOneToFive, GradeZeroToFive
from storm_pipeline.api import Program
from storm_pipeline.judges.base import Parameters


@dataclass(frozen=True)
class Rubric:
    """A criterion and what each grade of its scale means.

    Attributes:
        name: short; also the measure's name.
        criterion: the question to grade by.
        grades: descriptions of all grades, lowest first.
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


class GradingJudge(Protocol):
    """Grades requests, in order. Deterministic."""

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def parameters(self) -> Parameters: ...  # noqa: D102

    def grades(self, requests: Sequence[GradingRequest]) -> list[Grade]: ...  # noqa: D102


class LanguageModelGrader:
    """A language model that grades on scales of 1–5 and 0–5.

    A model opened with ``form="prometheus"`` gets that prompt format (:mod:`.prometheus`).
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
        return {**self._model.settings, "prompt": prompt_fingerprint(*self._programs.values())}

    def grades(self, requests: Sequence[GradingRequest]) -> list[Grade]:
        """As :class:`GradingJudge`; equal requests are graded once.

        Raises MetricError: the model cannot be called or returns no valid grade, or a rubric has another scale.
        """
        for request in requests:
            if (request.rubric.low, request.rubric.high) not in self._programs:
                raise MetricError(
                    f"the rubric {request.rubric.name!r} has grades {request.rubric.low} to {request.rubric.high}: "
                    "language models grade from 1 to 5 or from 0 to 5"
                )
        found: dict[int, Grade] = {}
        for (low, high), program in self._programs.items():
            indices = [
                i for i, request in enumerate(requests) if (request.rubric.low, request.rubric.high) == (low, high)
            ]
            replies = self._model.ask(program, [_question(requests[i]) for i in indices])
            found |= {i: Grade(r.score, r.feedback) for i, r in zip(indices, replies, strict=True)}
        return [found[i] for i in range(len(requests))]


def _question(request: GradingRequest) -> dict[str, str]:
    return {
        "task": request.task,
        "text": request.text,
        "criterion": request.rubric.criterion,
        "scale": request.rubric.scale,
    }
