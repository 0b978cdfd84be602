"""Agreement between raters, and between ratings and a metric's scores."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np

Units = Mapping[tuple[Any, ...], Mapping[str, Any]]
"""A rated unit → rater → value."""


def alpha(units: Units, level: Literal["ordinal", "nominal"]) -> float | None:
    """Return Krippendorff's alpha; None if no unit has two ratings, or all ratings are equal.

    ``level``: of measurement; choices without an order are nominal.
    """
    paired = [Counter(values.values()) for values in units.values() if len(values) > 1]
    total = Counter(chain.from_iterable(unit.elements() for unit in paired))
    if len(total) < 2:
        return None
    ranks, below = dict[Any, int](), 0
    for value, count in sorted(total.items()):
        ranks[value] = 2 * below + count  # twice the mean rank
        below += count

    def distance(values: Counter[Any]) -> int:
        """Return the sum of the distances of all ordered pairs of values; that of two ranks is squared."""
        if level == "nominal":
            return values.total() ** 2 - sum(count**2 for count in values.values())
        ranked, squared = (sum(n * ranks[value] ** power for value, n in values.items()) for power in (1, 2))
        return 2 * (values.total() * squared - ranked**2)

    observed = sum(distance(unit) / (unit.total() - 1) for unit in paired)
    return 1 - observed * (total.total() - 1) / distance(total)


def equal_share(units: Units, kinds: Mapping[str, str], pair: Sequence[str]) -> tuple[float, int] | None:
    """Return the share of pairs of ratings that are equal, and their number; None without a pair (FoRAG, table 7).

    ``kinds``: rater → ``person`` or ``model``; ``pair``: the kinds of the two raters.
    """
    equal = total = 0
    for values in units.values():
        first, second = (Counter(value for rater, value in values.items() if kinds[rater] == kind) for kind in pair)
        itself = first.total() if pair[0] == pair[1] else 0  # each rating is a pair with itself
        equal += sum(count * second[value] for value, count in first.items()) - itself
        total += first.total() * second.total() - itself
    return (equal / total, total // (1 + (pair[0] == pair[1]))) if total else None


def somers_d(ratings: Iterable[float], scores: Iterable[float]) -> tuple[float, float] | None:
    """Return Somers' D of scores by ratings, and its p; None for fewer than two different ratings or scores.

    Of two texts that are rated unequally, D is how much more often the better one has the higher score than the lower
    one (CONNER, tables 9, 10 and 18). Its p is that of SciPy, or 1 where each text has as many pairs for as against.
    """
    x, y = (np.unique(list(values), return_inverse=True)[1] for values in (ratings, scores))
    if not (x.any() and y.any()):
        return None
    balances = [int((np.sign(x - rank) * np.sign(y - other)).sum()) for rank, other in zip(x, y, strict=True)]
    balance, size = sum(balances), len(balances)
    spread = size * sum(one**2 for one in balances) - balance**2
    z = abs(balance) / math.sqrt(4 * spread / size) if spread else math.inf if balance else 0.0
    return balance / (size**2 - int((np.bincount(x) ** 2).sum())), math.erfc(z / math.sqrt(2))
