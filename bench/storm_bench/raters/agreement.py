"""Agreement between raters, and between ratings and a metric's scores."""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

from storm_pipeline import MissingExtraError

Units = Mapping[tuple[Any, ...], Mapping[str, float]]
"""A rated unit → rater → value."""


def alpha(units: Units, level: Literal["ordinal", "nominal"]) -> float | None:
    """Return Krippendorff's alpha; None if no unit has two ratings, or all ratings are equal.

    ``level``: of measurement; choices without an order are nominal.
    """
    try:
        import krippendorff
    except ModuleNotFoundError as error:
        raise MissingExtraError("agreement needs krippendorff: pip install 'storm-bench[raters]'") from error
    raters = sorted({rater for values in units.values() for rater in values})
    data = [[values.get(rater, math.nan) for values in units.values()] for rater in raters]
    paired = [value for values in units.values() if len(values) > 1 for value in values.values()]
    if len(set(paired)) < 2:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return float(krippendorff.alpha(reliability_data=data, level_of_measurement=level))


def equal_share(units: Units, kinds: Mapping[str, str], pair: Sequence[str]) -> tuple[float, int] | None:
    """Return the share of pairs of ratings that are equal, and their number; None without a pair (FoRAG, table 7).

    ``kinds``: rater → ``person`` or ``model``; ``pair``: the kinds of the two raters.
    """
    pairs = [
        values[first] == values[second]
        for values in units.values()
        for first, second in combinations(sorted(values), 2)
        if sorted((kinds[first], kinds[second])) == sorted(pair)
    ]
    return (sum(pairs) / len(pairs), len(pairs)) if pairs else None


def somers_d(ratings: Iterable[float], scores: Iterable[float]) -> tuple[float, float] | None:
    """Return Somers' D of scores by ratings, and its p; None for fewer than two different ratings or scores.

    Of two texts that are rated unequally, D is how much more often the better one has the higher score than the lower
    one (CONNER, tables 9, 10 and 18).
    """
    from scipy.stats import somersd

    rated, scored = list(ratings), list(scores)
    if len(set(rated)) < 2 or len(set(scored)) < 2:
        return None
    found = somersd(rated, scored)
    return float(found.statistic), float(found.pvalue)
