"""Test doubles of the judges: they answer from a script and record their inputs."""

from collections.abc import Callable, Sequence

from storm_bench.judges.base import Pair, Parameters
from storm_bench.judges.grading import Grade, GradingRequest, LanguageModelGrader
from storm_pipeline.evidence.judges.base import Question, Verdict, label_of


class ScriptedSupportJudge:
    """A test double that computes scores with a function.

    Args:
        script: passage and claim → score in [0, 1], or a verdict.
        threshold: minimum score of a supported claim.

    Attributes:
        batches: the pairs of each call, in order.
    """

    name = "test double"

    def __init__(self, script: Callable[[str, str], float], *, threshold: float = 0.5) -> None:
        self.threshold = threshold
        self.batches: list[tuple[Pair, ...]] = []
        self._script = script

    @property
    def parameters(self) -> Parameters:
        """The threshold."""
        return {"threshold": self.threshold}

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """The script's scores."""
        pairs = tuple(Pair("\n".join(one.passages), one.claim) for one in questions)
        self.batches.append(pairs)
        found = [float(self._script(pair.passage, pair.claim)) for pair in pairs]
        return [Verdict(label_of(score, self.threshold), score) for score in found]


class ScriptedGrader(LanguageModelGrader):
    """A test double that computes grades with a function.

    Attributes:
        requests: all requests so far, in order.
    """

    def __init__(self, script: Callable[[GradingRequest], int]) -> None:
        self.name = "test double"
        self.requests: list[GradingRequest] = []
        self._script = script

    @property
    def parameters(self) -> Parameters:
        """Empty: a script has no settings."""
        return {}

    def grades(self, requests: Sequence[GradingRequest]) -> list[Grade]:
        """The script's grades."""
        self.requests += requests
        return [Grade(self._script(request)) for request in requests]
