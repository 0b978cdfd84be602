"""The small judge: a logistic regression over what a claim has that its passages lack. No model is loaded."""

import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

from storm_pipeline.judges.base import Parameters, Question, Verdict, label_of
from storm_pipeline.judges.mismatches import Mismatches, mismatches

FEATURES = tuple(field.name for field in fields(Mismatches))
"""Names of the features, in their order."""


@dataclass(frozen=True)
class Regression:
    """The log-odds of support: a bias, and a weight of each of :data:`FEATURES`."""

    bias: float
    weights: tuple[float, ...]


LEARNT = Regression(1.49, (-1.53, -0.82, -1.54, -2.14, -1.02, -1.32, -1.78, -0.93, -0.76, -2.06, 0.74))
"""Printed by ``python -m storm_training.judge``, which says on what it is trained."""


class SmallJudge:
    """Scores a question by its mismatches (:class:`~storm_pipeline.judges.base.Judge`).

    It knows figures, denials and words that are not there. Names that are swapped within a passage, and opposites, it
    does not know. Trained on English; across languages it looks at figures alone.

    Args:
        regression: the weights.
        threshold: minimum probability of a supported claim, in [0, 1].
    """

    name = "small"

    def __init__(self, *, regression: Regression = LEARNT, threshold: float = 0.5) -> None:
        self.threshold = threshold
        self._regression = regression

    @property
    def parameters(self) -> Parameters:
        """Threshold, bias and weights."""
        weights = dict(zip(FEATURES, self._regression.weights, strict=True))
        return {"threshold": self.threshold, "bias": self._regression.bias, **weights}

    def judge(self, questions: Sequence[Question]) -> list[Verdict]:
        """As :class:`~storm_pipeline.judges.base.Judge`, without spans and reasons."""
        found = (self._probability(one) if one.has_words else 0.0 for one in questions)
        return [Verdict(label_of(probability, self.threshold), probability) for probability in found]

    def _probability(self, question: Question) -> float:
        terms = zip(self._regression.weights, astuple(mismatches(question)), strict=True)
        return 1 / (1 + math.exp(-self._regression.bias - sum(weight * value for weight, value in terms)))
