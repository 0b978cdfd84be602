"""Somers' D between two measures of the same items (Tables 5, 6, 9, 15 and 18)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_RESAMPLES = 2000
_SEED = 20231206
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Correlation:
    """Somers' D with its p-value and interval."""

    d: float  # D(dependent | independent), in [-1, 1]
    p: float  # two-sided, of no association, by the asymptotic test of ``scipy.stats.somersd``
    low: float  # lower end of the 95 % percentile bootstrap interval over items
    high: float  # upper end
    items: int  # how many there were

    @property
    def significant(self) -> bool:
        """Whether p < 0.05, as the paper marks it."""
        return self.p < 0.05

    def __str__(self) -> str:
        """As in a table: ``0.12† [0.03, 0.21]``."""
        return f"{self.d:.2f}{'†' if self.significant else ''} [{self.low:.2f}, {self.high:.2f}]"


def somers_d(
    independent: Sequence[float], dependent: Sequence[float], groups: Sequence[str] | None = None
) -> Correlation | None:
    """Somers' D of ``dependent`` given ``independent``; reproducible.

    Ties of the independent measure are left out of the denominator, ties of the dependent one are not.

    Args:
        independent: the intrinsic measure, or the metric that is validated; one value an item.
        dependent: the extrinsic measure, or people's grades; in the same order.
        groups: what each value belongs to, where several belong to one item: the interval then draws whole groups. The
            p-value takes all values as independent, as the paper's does, and is too small for groups.

    Returns:
        None for fewer than three items, or where either is constant.
    """
    from scipy.stats import somersd

    x, y = np.asarray(independent, dtype=float), np.asarray(dependent, dtype=float)
    if len(x) < 3 or not np.ptp(x) or not np.ptp(y):
        return None
    found = somersd(x, y)
    low, high = _interval(x, y, np.unique(groups, return_inverse=True)[1] if groups else np.arange(len(x)))
    return Correlation(float(found.statistic), float(found.pvalue), low, high, len(x))


def _interval(x: Floats, y: Floats, group: npt.NDArray[np.intp]) -> tuple[float, float]:
    """Percentiles of D over samples of the groups; a pair of copies of one item is a tie in both."""
    own = np.sign(x[:, None] - x[None, :])
    concordance = own * np.sign(y[:, None] - y[None, :])
    untied = np.abs(own)
    rng = np.random.default_rng(_SEED)
    values = []
    number = int(group.max()) + 1
    for _ in range(_RESAMPLES):
        weights = np.bincount(rng.integers(0, number, number), minlength=number).astype(float)[group]
        if pairs := weights @ untied @ weights:
            values.append(weights @ concordance @ weights / pairs)
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)
