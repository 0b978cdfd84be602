"""The six perspectives, an equation each (section 3.3), and the kinds of models that they ask.

Each kind of model is a protocol of one method and a name: :mod:`.pair_models`, :mod:`.causal_model` and
:mod:`.sentence_order` have some.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from storm_bench.judges.base import Pair

Aggregate = Literal["min", "mean", "max"]
AGGREGATES: tuple[Aggregate, ...] = ("min", "mean", "max")


@dataclass(frozen=True)
class Entailment:
    """How likely a premise entails a hypothesis, says nothing of it, or refutes it.

    Each value lies in [0, 1]; together they are 1. CONNER names them factual-consistent, non-verified and
    factual-inconsistent.
    """

    entailed: float
    neutral: float
    refuted: float


UNVERIFIED = Entailment(0.0, 1.0, 0.0)
"""The verdict on a sentence for which no evidence was found."""


class Inference(Protocol):
    """Judges hypotheses (``Pair.claim``) by premises (``Pair.passage``): one verdict a pair, in order."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def verdicts(self, pairs: Sequence[Pair]) -> list[Entailment]: ...  # noqa: D102


class Matching(Protocol):
    """Matches a query with texts: one score in [0, 1] a text, in order."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def matches(self, query: str, texts: Sequence[str]) -> list[float]: ...  # noqa: D102


class LogProbabilities(Protocol):
    """Scores texts token by token.

    ``log_probabilities`` returns the natural logarithm of P(token | context, tokens before) for each token of ``text``
    that the model can score, in order; each is <= 0. None is returned for an empty text. Deterministic.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    def log_probabilities(self, context: str, text: str) -> Sequence[float]: ...  # noqa: D102


class DiscourseModel(Protocol):
    """Scores paragraphs, given as their sentences in order: one score in [0, 1] each, higher for better order."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def coherences(self, paragraphs: Sequence[Sequence[str]]) -> list[float]: ...  # noqa: D102


@dataclass(frozen=True)
class SentenceEvidence:
    """A sentence s_i and the passages E_i that it is checked against; none where nothing was found."""

    sentence: str
    evidence: tuple[str, ...]


def factuality(found: Sequence[Entailment], aggregate: Aggregate = "min") -> Entailment | None:
    """Eq. 1: S_fact(k, E) = min over sentences of f(s_i, E_i), f = max over evidence of NLI(s_i, e_ij).

    Both the maximum and the aggregate go along the entailment dimension: f is the whole verdict of the passage that
    entails the sentence most, and ``min`` (``max``) is the whole verdict of the sentence that is entailed least
    (most), so that the three scores always add up to 1, as in Table 2. ``mean`` averages each dimension.

    Departure: the equation leaves a sentence without evidence open; here it is non-verified.

    Args:
        found: f(s_i, E_i) of each sentence (:func:`sentence_verdicts`).
        aggregate: the error tolerance; the paper's tables use ``min``.

    Returns:
        Factual-consistent, non-verified, factual-inconsistent, each in [0, 1]; None for no sentence.
    """
    if not found:
        return None
    if aggregate == "mean":
        values = zip(*((v.entailed, v.neutral, v.refuted) for v in found), strict=True)
        return Entailment(*(sum(own) / len(found) for own in values))
    return min(found, key=_entailed) if aggregate == "min" else max(found, key=_entailed)


def sentence_verdicts(sentences: Sequence[SentenceEvidence], inference: Inference) -> list[Entailment]:
    """f(s_i, E_i) of each sentence, in order: the verdict of the evidence that entails it most.

    The evidence is the premise, the sentence the hypothesis.
    """
    pairs = [Pair(passage, checked.sentence) for checked in sentences for passage in checked.evidence]
    verdicts = iter(inference.verdicts(pairs))
    return [max((next(verdicts) for _ in checked.evidence), key=_entailed, default=UNVERIFIED) for checked in sentences]


def relevance(query: str, knowledge: str, matching: Matching) -> float | None:
    """Eq. 2: S_rel(k, q) = Matching(k, q), in [0, 1]; None for empty knowledge."""
    return matching.matches(query, [knowledge])[0] if knowledge.strip() else None


def sentence_coherence(sentences: Sequence[str], lm: LogProbabilities) -> float | None:
    """Eq. 3: S_coh_sent(k) = mean over sentences of 1 / PPL(s_i), in [0, 1]; None where no sentence has a token.

    Departures: none from the equation. The paper's released code instead takes one over the mean of the perplexities,
    each bounded above.
    """
    found = [mean_probability(lm.log_probabilities("", sentence)) for sentence in sentences]
    known = [value for value in found if value is not None]
    return sum(known) / len(known) if known else None


def paragraph_coherence(sentences: Sequence[str], model: DiscourseModel) -> float | None:
    """Eq. 4: S_coh_para(k) = Scorer_para(s_1, ..., s_m), in [0, 1]; None for no sentence.

    The equation speaks of a "normalized score" without saying how: each model here says how it normalises.
    """
    return model.coherences([sentences])[0] if sentences else None


def informativeness(prompt: str, knowledge: str, lm: LogProbabilities) -> float | None:
    """Eq. 5: S_info(k, q) = 1 - exp(mean over tokens of ln P(k_t | k_<t, q)), in [0, 1]; None where k has no token.

    ``prompt`` stands before the knowledge: the query as a zero-shot request, which the knowledge continues naturally.
    """
    expected = mean_probability(lm.log_probabilities(prompt, knowledge))
    return None if expected is None else 1 - expected


def mean_probability(log_probabilities: Sequence[float]) -> float | None:
    """Geometric mean of the tokens' probabilities, in [0, 1], the inverse of the perplexity; None for no token."""
    if not log_probabilities:
        return None
    return math.exp(min(0.0, math.fsum(log_probabilities) / len(log_probabilities)))


def answer_loss(prompt: str, answer: str, lm: LogProbabilities) -> float | None:
    """L(q, k, a) = -mean over the answer's tokens of ln P(a_t | a_<t, prompt), in nats, >= 0; None for no token.

    ``prompt`` holds query and knowledge in the wording of the downstream task; ``answer`` is the true one.
    """
    found = lm.log_probabilities(prompt, answer)
    return max(0.0, -math.fsum(found) / len(found)) if found else None


def relative_gain(loss: float, random_losses: Sequence[float]) -> float | None:
    """1 - L(q, k, a) / mean over i of L(q, k_i-, a): eq. 6 without its max(0, .), as Table 16 reports it; at most 1.

    ``random_losses`` are those with u pieces of irrelevant knowledge. None where there is none, or the answer is
    certain with all of them, so that nothing can be gained.
    """
    baseline = math.fsum(random_losses) / len(random_losses) if random_losses else 0.0
    return 1 - loss / baseline if baseline > 0 else None


def helpfulness(loss: float, random_losses: Sequence[float]) -> float | None:
    """Eq. 6: S_help = max(0, 1 - L(q, k, a) / mean of L(q, k_i-, a)), in [0, 1]; None as in :func:`relative_gain`.

    Departure: the second line of eq. 6 divides by the sum over the u random pieces, where the first divides by their
    mean; this is the first.
    """
    gain = relative_gain(loss, random_losses)
    return None if gain is None else max(0.0, gain)


def span_validity(query: str, truth: str, answer: str, inference: Inference) -> float:
    """Eq. 7: S_val(q, a*, a) = NLI_fact((q, a), (q, a*)): the true answer is the premise; in [0, 1].

    For short answers, which form no sentence: question and answer are joined on both sides. An empty answer scores 0.
    """
    if not answer.strip():
        return 0.0
    question = query.strip() + ("" if query.strip().endswith("?") else "?")
    return inference.verdicts([Pair(f"{question} {truth.strip()}", f"{question} {answer.strip()}")])[0].entailed


def open_validity(answer: str, evidence: Sequence[str], inference: Inference) -> float:
    """Eq. 8: S_val(a, E) = max over evidence of NLI_fact(a, e_i), in [0, 1]; 0 without evidence or answer."""
    if not answer.strip() or not evidence:
        return 0.0
    return max(verdict.entailed for verdict in inference.verdicts([Pair(passage, answer) for passage in evidence]))


def _entailed(verdict: Entailment) -> tuple[float, float]:
    """Of verdicts that entail equally, the one that refutes less ranks higher: the result depends on no order."""
    return verdict.entailed, -verdict.refuted
