"""Confidence intervals and paired significance tests over topics."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

SMALL = 12
"""Up to this many topics intervals are Student's t: there bootstrap intervals under-cover (simulated coverage of 95 %
BCa intervals: 0.74 for 3 topics, 0.84 for 6)."""
EXACT = 20
"""Up to this many topics the permutation test enumerates all sign flips."""
_RESAMPLES = 10_000
_FLIPS = 1 << 20
"""Random sign flips beyond that; the standard error of p = 0.05 is 0.0002."""
_HELD, _BATCH = 1 << 28, 500
"""About as many signs, and as many resamples, are held at once."""
_SEED = 20240229
_NO_SPREAD = 1e-12
"""Relative range up to which values count as equal (rounding error)."""


@dataclass(frozen=True)
class MeanInterval:
    """A mean over topics and its 95 % interval: Student's t up to :data:`SMALL` topics, else BCa bootstrap."""

    mean: float  # over the topics with a value
    low: float | None  # lower bound; None for one topic
    high: float | None  # upper bound; None for one topic
    topics: int  # number of topics with a value


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same topics; both p-values are two-sided, and None for fewer than two topics."""

    difference: float  # mean of first minus second
    topics: int  # number of topics for which both have a value
    t_test: float | None  # of the paired t-test, as the papers report it; None without spread
    permutation: float | None  # of the paired permutation test (sign flips), exact up to :data:`EXACT` topics


def interval(values: Sequence[float], lowest: float = -math.inf, highest: float = math.inf) -> MeanInterval:
    """Return the mean and its interval; reproducible.

    ``values``: one for each topic; ``lowest``: smallest value that a mean can have; the interval is cut there, which
    keeps its coverage; ``highest``: largest value, likewise. Raises ValueError: there is no value.
    """
    from scipy.stats import bootstrap, sem, t

    if not values:
        raise ValueError("an interval needs at least one value")
    sample = np.asarray(values, dtype=float)
    mean = float(sample.mean())
    if len(sample) < 2:
        return MeanInterval(mean, None, None, len(sample))
    error = sem(sample)
    if np.ptp(sample) <= _NO_SPREAD * np.abs(sample).max() or error == 0:  # squares of tiny values underflow
        return MeanInterval(mean, mean, mean, len(sample))
    if len(sample) <= SMALL:
        low, high = t.interval(0.95, len(sample) - 1, loc=mean, scale=error)
    else:
        rng = np.random.default_rng(_SEED)  # the method is BCa
        low, high = bootstrap((sample,), np.mean, n_resamples=_RESAMPLES, batch=_BATCH, rng=rng).confidence_interval
    return MeanInterval(mean, max(float(low), lowest), min(float(high), highest), len(sample))


def compare(first: Mapping[str, float], second: Mapping[str, float]) -> Comparison:
    """Return the paired tests over the topics for which both methods have a value.

    ``first`` and ``second``: topic → value. Raises ValueError: they share no topic.
    """
    shared = sorted(first.keys() & second.keys())
    if not shared:
        raise ValueError("the two methods have no topic in common")
    a, b = (np.array([values[topic] for topic in shared], dtype=float) for values in (first, second))
    permutation = permutation_p(a - b) if len(shared) > 1 else None
    return Comparison(float((a - b).mean()), len(shared), paired_t(a, b), permutation)


def paired_t(first: npt.ArrayLike, second: npt.ArrayLike) -> float | None:
    """Return the two-sided p of the paired t-test; None for fewer than two pairs, or without spread."""
    from scipy.stats import ttest_rel

    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    spread = np.ptp(a - b) > _NO_SPREAD * max(np.abs(a).max(), np.abs(b).max())
    return float(ttest_rel(a, b).pvalue) if spread else None


def permutation_p(differences: npt.NDArray[np.float64], *, seed: int = _SEED) -> float:
    """Return the two-sided p of the paired permutation test: the share of sign flips with at least the observed |sum|.

    ``differences``: one per topic, at least one; ``seed``: of the random flips, which are drawn beyond :data:`EXACT`
    topics; there p is (hits + 1) / (flips + 1).
    """
    observed = abs(differences.sum()) - _NO_SPREAD * np.abs(differences).sum()
    if len(differences) <= EXACT:
        return float((np.abs(_sums(differences)) >= observed).mean())
    parts = np.pad(differences, (0, -len(differences) % 16)).reshape(-1, 16)
    rows = min(_FLIPS, 2 ** (_HELD // len(differences)).bit_length())
    hits = 0
    for start in range(0, _FLIPS, rows):
        signs = _signs(len(differences), seed, start, rows)
        sums = sum(_sums(part)[flips] for part, flips in zip(parts, signs, strict=True))
        hits += int((np.abs(sums) >= observed).sum())
    return (hits + 1) / (_FLIPS + 1)


@lru_cache(2)
def _signs(topics: int, seed: int, start: int, rows: int) -> npt.NDArray[np.uint16]:
    """Return some of the random flips, drawn once where they are few: in each row, a bit for each of 16 topics."""
    width = (topics + 7) // 8
    drawn, rng = np.zeros((rows, width + width % 2), dtype=np.uint8), np.random.default_rng(seed)
    rng.bit_generator.advance(start * width // 8)  # type: ignore[attr-defined]  # a step of PCG64 gives eight bytes
    drawn[:, :width] = rng.integers(0, 256, (rows, width), dtype=np.uint8)
    return np.ascontiguousarray(drawn.view(">u2").T, dtype=np.uint16)


def _sums(differences: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the sums of differences under all signs: the highest bit of an index flips the first."""
    sums = np.zeros(1)
    for difference in differences:
        sums = np.stack([sums + difference, sums - difference], axis=1).ravel()
    return sums


def smallest_p(topics: int) -> float | None:
    """Return the smallest p that :func:`permutation_p` can give for a number of topics; None for fewer than two.

    Two of the 2^n sign flips are as extreme as possible; with random flips, (0 + 1) / (flips + 1).
    """
    if topics < 2:
        return None
    return 2 / 2**topics if topics <= EXACT else 1 / (_FLIPS + 1)


def holm(values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values corrected by Holm's step-down method, in the given order; None stays None."""
    known = sorted((value, position) for position, value in enumerate(values) if value is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (value, position) in enumerate(known):
        largest = max(largest, min(1.0, value * (len(known) - rank)))
        corrected[position] = largest
    return corrected
