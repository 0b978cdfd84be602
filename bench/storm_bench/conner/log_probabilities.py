"""Log-probabilities of given texts under a causal language model: the seam of eq. 3, 5 and 6."""

import math
from collections.abc import Sequence
from typing import Protocol


class LogProbabilities(Protocol):
    """Scores texts token by token.

    ``log_probabilities`` returns the natural logarithm of P(token | context, tokens before) for each token of ``text``
    that the model can score, in order; each is <= 0. None is returned for an empty text. Deterministic.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    def log_probabilities(self, context: str, text: str) -> Sequence[float]: ...  # noqa: D102


def mean_probability(log_probabilities: Sequence[float]) -> float | None:
    """Geometric mean of the tokens' probabilities, exp of the mean logarithm, in [0, 1]; None for no token.

    Its inverse is the perplexity.
    """
    if not log_probabilities:
        return None
    return math.exp(min(0.0, math.fsum(log_probabilities) / len(log_probabilities)))
