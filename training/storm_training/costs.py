"""Estimated cost of a teacher's replies."""

from storm_pipeline import Settings
from storm_pipeline.interfaces.estimate import estimate
from storm_pipeline.types import Range


def expected(settings: Settings, recipe: str, topic: str, number: int) -> str:
    """Return an estimate, on one line, of calls, tokens and dollars of ``number`` texts by the writer's model.

    Args:
        settings: of the runs.
        recipe: that writes like the teacher; what other models than the writer are asked is left aside.
        topic: of one of the texts; the others are taken to be like it.
    """
    made = estimate(settings, topic, recipe=recipe)
    rows = [row for row in made.rows if row.role == "writer"]

    def amounts(*ranges: Range) -> str:
        return Range(*(number * end for end in Range.sum(ranges).ends)).amounts()

    calls, sent, replied = (
        amounts(*(getattr(row, name) for row in rows)) for name in ("calls", "tokens_in", "tokens_out")
    )
    known = [row.dollars.likely for row in rows if row.dollars is not None]
    dollars = f"about ${number * sum(known):.2f}" if len(known) == len(rows) else "unknown dollars"
    return f"{number} texts by {settings.lm}: {calls} calls, {sent} tokens in, {replied} out, {dollars}"
