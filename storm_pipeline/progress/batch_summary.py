"""The summary of a batch that has ended."""

from collections import Counter
from collections.abc import Mapping
from typing import get_args

from storm_pipeline.batch.topic_status import BatchReport, State, TopicStatus
from storm_pipeline.text.formatting import amount, clock, counted, dollars, printable

COLUMNS = ("topic", "state", "sections", "words", "references", "calls", "time", "cost", "folder or error")

_MAX_TOPIC_LENGTH = 40


def rows_of(report: BatchReport) -> list[tuple[str, ...]]:
    """A row per topic, with the cells that :data:`COLUMNS` names."""
    return [
        (
            short_topic(row),
            row.state,
            *(str(n) if row.state == "written" else "-" for n in (row.sections, row.words, row.references)),
            str(row.calls),
            clock(row.seconds),
            dollars(row.cost),
            row.folder if row.state == "written" else printable(row.error) or "-",
        )
        for row in report.rows
    ]


def of_batch(report: BatchReport) -> str:
    """Topics by state, and their total usage."""
    costs = [row.cost for row in report.rows]
    total = None if any(cost is None for cost in costs) else sum(cost for cost in costs if cost is not None)
    tokens_in = amount(sum(row.tokens_in for row in report.rows))
    tokens_out = amount(sum(row.tokens_out for row in report.rows))
    usage = f"{counted(sum(row.calls for row in report.rows), 'call')}, {tokens_in} tokens in, {tokens_out} out"
    lines = [state_counts(Counter(row.state for row in report.rows))]
    lines.append(f"{usage}, {dollars(total)}, {report.seconds:.0f} s")
    if report.repeated:
        lines.append(f"{report.repeated} repeated topics were written once")
    return "\n".join([str(report.folder), *(f"  {line}" for line in lines)])


def state_counts(states: Mapping[State, int]) -> str:
    """``5 topics: 3 written, 2 failed``."""
    counts = ", ".join(f"{states[state]} {state}" for state in get_args(State) if states.get(state))
    return f"{sum(states.values())} topics: {counts}"


def short_topic(row: TopicStatus) -> str:
    """The topic, shortened to fit a table."""
    topic = printable(row.request.topic)
    return topic if len(topic) <= _MAX_TOPIC_LENGTH else topic[: _MAX_TOPIC_LENGTH - 1] + "…"
