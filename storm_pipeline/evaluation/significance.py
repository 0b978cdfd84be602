"""Confidence intervals and paired significance tests over topics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

_RESAMPLES = 10_000
_SEED = 20240229
_NO_SPREAD = 1e-12
"""Relative range up to which values count as equal (rounding error)."""


@dataclass(frozen=True)
class MeanInterval:
    """A mean over topics and its 95 % bootstrap interval: BCa, for two topics percentile, for fewer none (None).

    Attributes:
        mean: over the topics with a value.
        low: lower bound.
        high: upper bound.
        topics: number of topics with a value.
    """

    mean: float
    low: float | None
    high: float | None
    topics: int


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same topics.

    Attributes:
        difference: mean of first minus second.
        topics: number of topics for which both have a value.
        t_test: p of the paired t-test, two-sided, as the papers report it; None for fewer than two topics or no spread.
        permutation: p of the paired permutation test (signs flipped), two-sided, exact for 13 topics or fewer; None for
            fewer than two topics.
    """

    difference: float
    topics: int
    t_test: float | None
    permutation: float | None


def interval(values: Sequence[float]) -> MeanInterval:
    """The mean and its interval; reproducible.

    Raises:
        ValueError: there is no value.
    """
    from scipy.stats import bootstrap

    if not values:
        raise ValueError("an interval needs at least one value")
    sample = np.asarray(values, dtype=float)
    mean = float(sample.mean())
    if len(sample) < 2:
        return MeanInterval(mean, None, None, len(sample))
    if np.ptp(sample) <= _NO_SPREAD * np.abs(sample).max():
        return MeanInterval(mean, mean, mean, len(sample))
    method = "BCa" if len(sample) > 2 else "percentile"
    found = bootstrap((sample,), np.mean, n_resamples=_RESAMPLES, method=method, rng=np.random.default_rng(_SEED))
    low, high = (float(bound) for bound in found.confidence_interval)
    return MeanInterval(mean, low, high, len(sample))


def compare(first: Mapping[str, float], second: Mapping[str, float]) -> Comparison:
    """Paired tests over the topics for which both methods have a value.

    Args:
        first: topic → value.
        second: topic → value.

    Raises:
        ValueError: they share no topic.
    """
    from scipy.stats import permutation_test, ttest_rel

    shared = sorted(first.keys() & second.keys())
    if not shared:
        raise ValueError("the two methods have no topic in common")
    a, b = (np.array([values[topic] for topic in shared], dtype=float) for values in (first, second))
    difference = float((a - b).mean())
    if len(shared) < 2:
        return Comparison(difference, len(shared), None, None)
    spread = np.ptp(a - b) > _NO_SPREAD * max(np.abs(a).max(), np.abs(b).max())
    flipped = permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=_RESAMPLES,
        rng=np.random.default_rng(_SEED),
    )
    t_test = float(ttest_rel(a, b).pvalue) if spread else None
    return Comparison(difference, len(shared), t_test, float(flipped.pvalue))


def smallest_p(topics: int) -> float | None:
    """The least p that the permutation test of :func:`compare` can give for so many topics; None for fewer than two.

    Two of the 2^n ways to flip signs are the extreme ones: 2 / 2^n, and where the flips are drawn, 2 / (draws + 1).
    """
    return max(2 / 2**topics, 2 / (_RESAMPLES + 1)) if topics > 1 else None


def holm(values: Sequence[float | None]) -> list[float | None]:
    """P-values corrected by Holm's step-down method, in the given order; None stays None."""
    known = sorted((value, position) for position, value in enumerate(values) if value is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (value, position) in enumerate(known):
        largest = max(largest, min(1.0, value * (len(known) - rank)))
        corrected[position] = largest
    return corrected
