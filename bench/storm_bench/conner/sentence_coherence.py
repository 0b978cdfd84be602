"""Sentence-level cohesion (eq. 3): how probable each sentence of the knowledge is by itself."""

from collections.abc import Sequence

from storm_bench.conner.log_probabilities import LogProbabilities, mean_probability


def sentence_coherence(sentences: Sequence[str], lm: LogProbabilities) -> float | None:
    """S_coh_sent(k) = mean over sentences of 1 / PPL(s_i), in [0, 1]; None where no sentence has a token.

    Departures: none from the equation. The paper's released code instead takes one over the mean of the perplexities,
    each bounded above.
    """
    found = [mean_probability(lm.log_probabilities("", sentence)) for sentence in sentences]
    known = [value for value in found if value is not None]
    return sum(known) / len(known) if known else None
