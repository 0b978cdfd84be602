"""Values of FoRAG's tables for its 7B model on WebGPT's questions, for comparison."""

from collections.abc import Mapping

MEASURES = ("coherence", "helpfulness", "by_query", "by_sentence")
_SCORES: Mapping[tuple[str, str], tuple[float, ...]] = {
    ("original", "-"): (0.5221, 0.8676, 0.8750, 0.9728),  # Table 4
    ("original", "subclaim"): (0.5368, 0.8860, 0.8970, 0.9818),
    ("unplanned", "-"): (0.9779, 0.9522),  # Table 6, which has no more measures
    ("outlined", "-"): (0.9816, 0.9559, 0.7978, 0.9768),  # Table 5
    ("outlined", "unlikelihood"): (0.9816, 0.9522, 0.8419, 0.9794),
    ("outlined", "filtering"): (0.9852, 0.9522, 0.7831, 0.9754),
    ("outlined", "holistic+token"): (0.9816, 0.9485, 0.8382, 0.9768),
    ("outlined", "sentence+token"): (0.9816, 0.9559, 0.8603, 0.9836),
    ("outlined", "subclaim+token"): (0.9852, 0.9559, 0.8713, 0.9851),
    ("outlined", "holistic"): (0.9852, 0.9559, 0.8493, 0.9797),
    ("outlined", "sentence"): (0.9889, 0.9595, 0.8787, 0.9866),
    ("outlined", "subclaim"): (0.9889, 0.9595, 0.8897, 0.9894),
}
_HOURS = {
    "holistic": 33.1,
    "sentence": 50.2,
    "subclaim": 55.5,
    "holistic+token": 34.1,
    "sentence+token": 51.7,
    "subclaim+token": 58.0,
}
"""Table 8: reward model and RLHF together."""


def scores(style: str, model: str) -> tuple[float, ...]:
    """Return coherence, helpfulness, and factuality by query and by sentence, as far as the paper has them.

    Models rewarded by true labels are compared with the paper's sequence-level ones.
    """
    return _SCORES.get((style, model.removeprefix("true ")), ())


def score(style: str, model: str, measure: str) -> float:
    """Return one of these scores of a model."""
    return scores(style, model)[MEASURES.index(measure)]


def extra_time(model: str) -> float:
    """Return hours of a cell over those of the holistic one of its granularity: 0.5 is half as long again (Table 8)."""
    return _HOURS[model] / _HOURS[holistic(model)] - 1


def holistic(model: str) -> str:
    """Return the cell of holistic rewards that has a cell's granularity."""
    return "holistic" + "".join(model.partition("+")[1:])
