"""Test doubles of the judges: they answer by a script, and note what they were asked."""

from collections.abc import Callable, Sequence

from storm_pipeline.evaluation.judges.base import Pair, Parameters
from storm_pipeline.evaluation.judges.grading import Grade, Work


class ScriptedSupportJudge:
    """A test double: the score of a pair is what a function says.

    Args:
        script: passage and claim → score in [0, 1], or a verdict.
        threshold: least score of a supported claim.

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

    def scores(self, pairs: Sequence[Pair]) -> list[float]:
        """The script's scores."""
        self.batches.append(tuple(pairs))
        return [float(self._script(pair.passage, pair.claim)) for pair in pairs]


class ScriptedGrader:
    """A test double: the grade of a work is what a function says.

    Attributes:
        works: all that was graded, in order.
    """

    name = "test double"

    def __init__(self, script: Callable[[Work], int]) -> None:
        self.works: list[Work] = []
        self._script = script

    @property
    def parameters(self) -> Parameters:
        """None: a script has no settings."""
        return {}

    def grades(self, works: Sequence[Work]) -> list[Grade]:
        """The script's grades."""
        self.works += works
        return [Grade(self._script(work)) for work in works]
