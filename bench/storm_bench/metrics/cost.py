"""What an article cost: dollars, tokens, calls, seconds."""

import math

from storm_bench.metrics.base import CaseMetric, Measure, Score
from storm_bench.types import Case

_NAMES = ("dollars", "calls", "tokens_in", "tokens_cached", "tokens_out", "seconds")


def _cost(case: Case) -> Score:
    usage = case.article.usage
    if not usage.rows:
        return dict.fromkeys(_NAMES, None)
    return {
        "dollars": usage.cost,
        "calls": usage.calls,
        "tokens_in": usage.tokens_in,
        "tokens_cached": sum(row.tokens_cached for row in usage.rows),
        "tokens_out": usage.tokens_out,
        "seconds": usage.seconds,
    }


COST = CaseMetric(
    "cost",
    tuple(Measure(name, high=math.inf, better="neither" if name == "tokens_cached" else "lower") for name in _NAMES),
    "the run's own record",
    _cost,
)
"""Cost as recorded by the run.

``dollars`` is None if any model's price is unknown. ``tokens_in`` counts prompt tokens, including ``tokens_cached``
(served from a prefix cache); ``seconds`` is wall time. All are None for an article without a record, such as another
system's.
"""
