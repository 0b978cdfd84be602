"""The usage of a run as table rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from storm_pipeline.text.formatting import clock, dollars
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Usage, UsageRow

_STAGES = (
    *("draft outline", "related topics", "perspectives", "conversations", "outline"),
    *("sections", "polish", "lead"),
)
"""Stages in the order of the method; others follow, sorted by name."""


@dataclass(frozen=True)
class CostRow:
    """Formatted numbers, with ≈ where some are estimated.

    ``time`` sums over calls, which may overlap; ``cost`` may be ``unknown``.
    """

    stage: str
    role: str
    calls: str
    fresh: str
    cached: str
    written: str
    time: str
    cost: str


def cost_rows(usage: Usage) -> tuple[CostRow, ...]:
    """One row per stage and role, summed over models; stages in the order in which a run takes them."""
    rows = sorted(usage.rows, key=_sort_key)
    return tuple(_row(*key, group) for key, group in groupby(rows, key=lambda row: (row.stage, row.role)))


def cost_total(usage: Usage) -> CostRow:
    """The sum of all rows; its time is the run's wall time."""
    return _formatted("", "", usage, usage.seconds)


def _sort_key(row: UsageRow) -> tuple[int, str, str]:
    position = _STAGES.index(row.stage) if row.stage in _STAGES else len(_STAGES)
    return position, row.stage, row.role


def _row(stage: str, role: str, rows: Iterable[UsageRow]) -> CostRow:
    usage = Usage(tuple(rows))
    return _formatted(stage, role, usage, sum(row.seconds for row in usage.rows))


def _formatted(stage: str, role: str, usage: Usage, seconds: float) -> CostRow:
    about = "≈" if usage.estimated else ""
    return CostRow(
        tidy(stage),
        tidy(role),
        f"{usage.calls:,}",
        f"{about}{max(0, usage.tokens_in - usage.tokens_cached):,}",
        f"{usage.tokens_cached:,}",
        f"{about}{usage.tokens_out:,}",
        clock(seconds),
        dollars(usage.cost),
    )
