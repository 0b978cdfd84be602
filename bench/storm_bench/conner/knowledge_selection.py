"""The two uses of CONNER (section 5): Q = gamma^T S, by which demonstrations and knowledge are chosen."""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from typing import TypeVar

import numpy as np

T = TypeVar("T")
_RIDGE = 1.0  # weight of the penalty on standardised coefficients


@dataclass(frozen=True)
class Intrinsic:
    """S_intr of eq. 9, each value in [0, 1]."""

    factuality: float
    relevance: float
    coherence: float
    informativeness: float


@dataclass(frozen=True)
class Quality:
    """gamma of eq. 9: the weights of factuality, relevance, paragraph coherence and informativeness."""

    factuality: float = 0.25
    relevance: float = 0.25
    coherence: float = 0.25
    informativeness: float = 0.25

    def of(self, scores: Intrinsic) -> float:
        """Q_know(q, k) = gamma^T S_intr, unbounded."""
        return float(sum(weight * score for weight, score in zip(astuple(self), astuple(scores), strict=True)))


def fit_quality(scores: Sequence[Intrinsic], targets: Sequence[float]) -> Quality:
    """The weights of Q by ridge regression of a target on the four scores.

    Departure: the paper does not say where its gamma comes from. The scores are standardised for the fit, a penalty
    of 1 on the squared coefficients keeps small samples from extremes, and gamma applies to the scores as they are. A
    score that does not vary gets 0. Fit on other items than those the choice is measured on.

    ``targets``: what Q is to predict, such as the gain in helpfulness. Raises ValueError: there are fewer than two
    items, or the two sequences differ in length.
    """
    table, wanted = np.array([astuple(one) for one in scores], dtype=float), np.asarray(targets, dtype=float)
    if len(table) != len(wanted) or len(table) < 2:
        raise ValueError(f"{len(table)} scores and {len(wanted)} targets: give as many of each, two or more")
    spread = table.std(axis=0)
    safe = np.where(spread > 0, spread, 1.0)
    standard = (table - table.mean(axis=0)) / safe
    normal = standard.T @ standard + _RIDGE * np.eye(4)
    gamma = np.linalg.solve(normal, standard.T @ (wanted - wanted.mean())) / safe
    return Quality(*(float(weight) for weight in np.where(spread > 0, gamma, 0.0)))


def choose_demonstrations(samples: Sequence[T], quality: Callable[[T], float], n: int) -> tuple[T, ...]:
    """The ``n`` samples of highest quality for a few-shot prompt, best first; equal ones in their order.

    The paper has m = 30 samples and n = 8.
    """
    return tuple(sorted(samples, key=lambda sample: -quality(sample))[: max(0, n)])


def choose_knowledge(candidates: Sequence[T], quality: Callable[[T], float]) -> T:
    """The candidate of highest quality, the first of equal ones. The paper has r = 5 sampled with p = 0.9.

    Raises ValueError: there is no candidate.
    """
    return max(candidates, key=quality)
