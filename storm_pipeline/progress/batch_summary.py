"""What is said of a batch when it has ended."""

from collections import Counter
from typing import get_args

from storm_pipeline.batch.topic_status import BatchReport, State, TopicStatus
from storm_pipeline.text.display import amount, clock, dollars, printable

COLUMNS = ("topic", "state", "sections", "words", "references", "calls", "time", "cost", "folder or error")

_LONGEST_TOPIC = 40


def rows_of(report: BatchReport) -> list[tuple[str, ...]]:
    """A row a topic, as :data:`COLUMNS` names its cells."""
    return [
        (
            shortened(printable(row.request.topic)),
            row.state,
            *(str(n) if row.state == "written" else "-" for n in (row.sections, row.words, row.references)),
            str(row.calls),
            clock(row.seconds),
            dollars(row.cost),
            _outcome(row),
        )
        for row in report.rows
    ]


def of_batch(report: BatchReport) -> str:
    """How many topics stand how, and what they took in all."""
    states = Counter(row.state for row in report.rows)
    stand = ", ".join(f"{states[state]} {state}" for state in get_args(State) if states[state])
    costs = [row.cost for row in report.rows]
    total = None if any(cost is None for cost in costs) else sum(cost for cost in costs if cost is not None)
    tokens_in = amount(sum(row.tokens_in for row in report.rows))
    tokens_out = amount(sum(row.tokens_out for row in report.rows))
    facts = f"{sum(row.calls for row in report.rows)} calls, {tokens_in} tokens in, {tokens_out} out"
    lines = [f"{len(report.rows)} topics: {stand}", f"{facts}, {dollars(total)}, {report.seconds:.0f} s"]
    if report.repeated:
        lines.append(f"{report.repeated} lines repeated others, which were written once")
    return "\n".join([str(report.folder), *(f"  {line}" for line in lines)])


def shortened(topic: str) -> str:
    """A topic as it fits a table."""
    return topic if len(topic) <= _LONGEST_TOPIC else topic[: _LONGEST_TOPIC - 1] + "…"


def _outcome(row: TopicStatus) -> str:
    return row.folder if row.state == "written" else printable(row.error) or "-"
