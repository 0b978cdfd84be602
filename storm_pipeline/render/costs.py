"""The usage of a run as table rows."""

from dataclasses import dataclass
from itertools import groupby

from storm_pipeline.text.formatting import clock, dollars
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Usage, UsageRow

_STAGES = (
    "draft outline", "related topics", "perspectives", "conversations", "outline", "points", "look-ups", "sections",
    "polish", "lead",
)  # fmt: skip
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

    def place(row: UsageRow) -> tuple[int, str, str]:
        known = _STAGES.index(row.stage) if row.stage in _STAGES else len(_STAGES)
        return known, row.stage, row.role

    groups = groupby(sorted(usage.rows, key=place), key=lambda row: (row.stage, row.role))
    sums = ((names, Usage(tuple(rows))) for names, rows in groups)
    return tuple(_row(*names, own, sum(row.seconds for row in own.rows)) for names, own in sums)


def cost_total(usage: Usage) -> CostRow:
    """The sum of all rows; its time is the run's wall time."""
    return _row("", "", usage, usage.seconds)


def _row(stage: str, role: str, usage: Usage, seconds: float) -> CostRow:
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
