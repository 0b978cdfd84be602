"""What an article cost: dollars, tokens, calls, seconds."""

import math
from collections.abc import Sequence

from storm_bench.metrics.base import Measure, Parameters, Score
from storm_bench.types import Case
from storm_pipeline import Article

_NAMES = ("dollars", "calls", "tokens_in", "tokens_cached", "tokens_out", "seconds")


class Cost:
    """Cost as recorded by the run.

    ``dollars`` is None if any model's price is unknown. ``tokens_in`` counts prompt tokens, including ``tokens_cached``
    (served from a prefix cache); ``seconds`` is wall time. All are None for an article without a record, such as
    another system's.
    """

    name = "cost"
    measures = tuple(
        Measure(name, high=math.inf, better="neither" if name == "tokens_cached" else "lower") for name in _NAMES
    )
    reference = "the run's own record"

    def __init__(self) -> None:
        self.parameters: Parameters = {}

    def score(self, cases: Sequence[Case]) -> list[Score]:
        """One score per case, in order."""
        return [_cost(case.article) for case in cases]


def _cost(article: Article) -> Score:
    usage = article.usage
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
