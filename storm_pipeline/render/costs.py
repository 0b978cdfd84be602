"""What a run used, as the rows of a table for people."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from storm_pipeline.text.display import clock, dollars
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Usage, UsageRow

_STAGES = (
    *("draft outline", "related topics", "perspectives", "conversations", "outline"),
    *("sections", "polish", "lead"),
)
"""Stages in the order of the method; others come after them, by name."""


@dataclass(frozen=True)
class CostRow:
    """Numbers as they are shown, with ≈ where some are estimated.

    ``seconds`` of calls are summed, and calls overlap; ``cost`` may be ``unknown``.
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
    """A row for each stage and role, whatever the model, in the order of the method."""
    found = sorted(usage.rows, key=_place)
    return tuple(_row(*key, rows) for key, rows in groupby(found, key=lambda row: (row.stage, row.role)))


def cost_total(usage: Usage) -> CostRow:
    """All rows in one; its time is the whole run's."""
    return _shown("", "", usage, usage.seconds)


def _place(row: UsageRow) -> tuple[int, str, str]:
    known = _STAGES.index(row.stage) if row.stage in _STAGES else len(_STAGES)
    return known, row.stage, row.role


def _row(stage: str, role: str, rows: Iterable[UsageRow]) -> CostRow:
    usage = Usage(tuple(rows))
    return _shown(stage, role, usage, sum(row.seconds for row in usage.rows))


def _shown(stage: str, role: str, usage: Usage, seconds: float) -> CostRow:
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
