"""Helpfulness (eq. 6): how far the knowledge lowers the loss of the true answer, beside random knowledge."""

import math
from collections.abc import Sequence

from storm_bench.conner.log_probabilities import LogProbabilities


def answer_loss(prompt: str, answer: str, lm: LogProbabilities) -> float | None:
    """L(q, k, a) = -mean over the answer's tokens of ln P(a_t | a_<t, prompt), in nats, >= 0; None for no token.

    Args:
        prompt: query and knowledge, in the wording of the downstream task.
        answer: the true answer.
        lm: the downstream model.
    """
    found = lm.log_probabilities(prompt, answer)
    return max(0.0, -math.fsum(found) / len(found)) if found else None


def relative_gain(loss: float, random_losses: Sequence[float]) -> float | None:
    """1 - L(q, k, a) / mean over i of L(q, k_i-, a), at most 1, without a lower bound.

    Eq. 6 without its max(0, .), as Table 16 reports it.

    Args:
        loss: with the knowledge.
        random_losses: with u pieces of irrelevant knowledge.

    Returns:
        None where there is no random loss, or the answer is certain with all of them, so that nothing can be gained.
    """
    baseline = math.fsum(random_losses) / len(random_losses) if random_losses else 0.0
    return 1 - loss / baseline if baseline > 0 else None


def helpfulness(loss: float, random_losses: Sequence[float]) -> float | None:
    """S_help = max(0, 1 - L(q, k, a) / mean of L(q, k_i-, a)), in [0, 1]; None as in :func:`relative_gain`.

    Departure: the second line of eq. 6 divides by the sum over the u random pieces, where the first divides by their
    mean; this is the first.
    """
    gain = relative_gain(loss, random_losses)
    return None if gain is None else max(0.0, gain)
