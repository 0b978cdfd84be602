"""What all metrics for optimisers share."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import dspy
import numpy as np

from storm_pipeline.references.passages import Passage
from storm_pipeline.retrieval.embedder import Embed
from storm_pipeline.text.words import numbers

NAMED = 4
"""Things of a kind that feedback names."""
Examples = Sequence[dspy.Example]
_WORD = re.compile(r"[^\W\d_][\w'’-]+")


Metric = Callable[..., dspy.Prediction]
"""A metric as DSPy's optimisers call it: example and prediction → ``score`` in [0, 1] and ``feedback``."""
MakeMetric = Callable[[Embed, Examples], Metric]
"""An encoder (texts to unit vectors) and all examples of a job → the metric."""
Score = Callable[[Embed, dspy.Example, dspy.Prediction], tuple[float, str]]
"""An encoder, an example and a prediction → score and feedback."""


@dataclass(frozen=True)
class Gold:
    """What a metric compares a reply with; prompts, sets and optimisers' summaries of examples do not show it."""

    text: str = field(default="", repr=False)
    # what that rests on, in the order in which a prompt numbers them
    passages: tuple[Passage, ...] = field(default=(), repr=False)
    # what else the article has: sentences that a conversation has not come to, or other sections' passages
    left: tuple[str, ...] = field(default=(), repr=False)


def by_itself(score: Score) -> Callable[..., Metric]:
    """What makes a metric of a function that needs no other examples than the one that it is given."""
    return lambda embed, _=(): as_metric(partial(score, embed))


def as_metric(score: Callable[[dspy.Example, dspy.Prediction], tuple[float, str]]) -> Metric:
    """A function that returns score and feedback as a metric; scores are kept in [0, 1]."""

    def metric(
        gold: dspy.Example,
        pred: dspy.Prediction,
        trace: Any = None,  # noqa: ARG001 - what optimisers pass
        pred_name: Any = None,  # noqa: ARG001
        pred_trace: Any = None,  # noqa: ARG001
    ) -> dspy.Prediction:
        value, feedback = score(gold, pred)
        return dspy.Prediction(score=min(1.0, max(0.0, float(value))), feedback=feedback)

    return metric


def mean_with_interval(differences: Sequence[float], seed: int = 0) -> tuple[float, tuple[float, float]]:
    """The mean of paired differences, and its 95 % interval (bootstrap percentiles, 2,000 resamples).

    ``differences``: one a topic; at least one.
    """
    values = np.asarray(differences, dtype=np.float64)
    draws = np.random.default_rng(seed).choice(values, size=(2000, len(values))).mean(axis=1)
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(values.mean()), (float(low), float(high))


def names_in(text: str) -> frozenset[str]:
    """The entities of a text as far as spelling shows them: words that are capitalised throughout, and numbers."""
    found = _WORD.findall(text)
    plain = {word for word in found if word[0].islower()}
    return frozenset(word.casefold() for word in found if word[0].isupper() and word.lower() not in plain) | frozenset(
        numbers(text)
    )


def with_title(passage: Passage) -> str:
    """A passage as it is searched."""
    return f"{passage.title}. {passage.text}"


def share_of(wanted: frozenset[str], found: frozenset[str]) -> float:
    """The share of what is wanted that was found; 1.0 if nothing is."""
    return len(wanted & found) / len(wanted) if wanted else 1.0
