"""Factuality (eq. 1): whether external evidence entails the knowledge, sentence by sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from storm_bench.conner.inference import UNVERIFIED, Entailment, Inference
from storm_bench.judges.base import Pair

Aggregate = Literal["min", "mean", "max"]
AGGREGATES: tuple[Aggregate, ...] = ("min", "mean", "max")


@dataclass(frozen=True)
class SentenceEvidence:
    """A sentence s_i and the passages E_i that it is checked against; none where nothing was found."""

    sentence: str
    evidence: tuple[str, ...]


def factuality(
    sentences: Sequence[SentenceEvidence], inference: Inference, aggregate: Aggregate = "min"
) -> Entailment | None:
    """S_fact(k, E) = min over sentences of f(s_i, E_i), f = max over evidence of NLI(s_i, e_ij).

    Both the maximum and the aggregate go along the entailment dimension: f is the whole verdict of the passage that
    entails the sentence most, and ``min`` (``max``) is the whole verdict of the sentence that is entailed least
    (most), so that the three scores always add up to 1, as in Table 2. ``mean`` averages each dimension.

    Departure: the equation leaves a sentence without evidence open; here it is non-verified.

    Args:
        sentences: of the knowledge, in any order.
        inference: the NLI model; the evidence is the premise, the sentence the hypothesis.
        aggregate: the error tolerance; the paper's tables use ``min``.

    Returns:
        Factual-consistent, non-verified, factual-inconsistent, each in [0, 1]; None for no sentence.
    """
    return aggregated(sentence_verdicts(sentences, inference), aggregate)


def aggregated(found: Sequence[Entailment], aggregate: Aggregate) -> Entailment | None:
    """The outer operation of eq. 1 over f(s_i, E_i); None for no sentence. See :func:`factuality`."""
    if not found:
        return None
    if aggregate == "mean":
        n = len(found)
        return Entailment(
            sum(v.entailed for v in found) / n, sum(v.neutral for v in found) / n, sum(v.refuted for v in found) / n
        )
    return min(found, key=_entailed) if aggregate == "min" else max(found, key=_entailed)


def sentence_verdicts(sentences: Sequence[SentenceEvidence], inference: Inference) -> list[Entailment]:
    """f(s_i, E_i) of each sentence, in order: the verdict of the evidence that entails it most."""
    pairs = [Pair(passage, checked.sentence) for checked in sentences for passage in checked.evidence]
    verdicts = iter(inference.verdicts(pairs))
    return [max((next(verdicts) for _ in checked.evidence), key=_entailed, default=UNVERIFIED) for checked in sentences]


def _entailed(verdict: Entailment) -> tuple[float, float]:
    """Of verdicts that entail equally, the one that refutes less ranks higher: the result depends on no order."""
    return verdict.entailed, -verdict.refuted
