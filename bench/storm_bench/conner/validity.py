"""Validity (eq. 7 and 8): whether the answer that a task gave with the knowledge is factually right."""

from collections.abc import Sequence

from storm_bench.conner.inference import Inference
from storm_bench.judges.base import Pair


def span_validity(query: str, truth: str, answer: str, inference: Inference) -> float:
    """S_val(q, a*, a) = NLI_fact((q, a), (q, a*)): the true answer is the premise; in [0, 1].

    For short answers, which form no sentence: question and answer are joined on both sides. An empty answer scores 0.
    """
    if not answer.strip():
        return 0.0
    return inference.verdicts([Pair(_joined(query, truth), _joined(query, answer))])[0].entailed


def open_validity(answer: str, evidence: Sequence[str], inference: Inference) -> float:
    """S_val(a, E) = max over evidence of NLI_fact(a, e_i), in [0, 1]; 0 without evidence or answer."""
    if not answer.strip() or not evidence:
        return 0.0
    return max(verdict.entailed for verdict in inference.verdicts([Pair(passage, answer) for passage in evidence]))


def _joined(query: str, answer: str) -> str:
    question = query.strip()
    return f"{question}{'' if question.endswith('?') else '?'} {answer.strip()}"
