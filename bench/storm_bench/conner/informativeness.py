"""Informativeness (eq. 5): how unexpected the knowledge is to a language model that is given the query."""

from storm_bench.conner.log_probabilities import LogProbabilities, mean_probability


def informativeness(prompt: str, knowledge: str, lm: LogProbabilities) -> float | None:
    """S_info(k, q) = 1 - exp(mean over tokens of ln P(k_t | k_<t, q)), in [0, 1]; None where k has no token.

    Args:
        prompt: what stands before the knowledge: the query in the wording of a zero-shot request, so that the
            knowledge is a natural continuation.
        knowledge: k.
        lm: the benchmark model.
    """
    expected = mean_probability(lm.log_probabilities(prompt, knowledge))
    return None if expected is None else 1 - expected
