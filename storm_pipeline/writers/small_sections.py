"""Headings over next to nothing, put under another heading before anything is written."""

from collections.abc import Sequence

from storm_pipeline.references.evidence import PassageEvidence
from storm_pipeline.run.context import RunContext
from storm_pipeline.types import Heading, Outline

_TOO_LITTLE = 60
"""Words of passages below which a section is merged into its neighbour."""


def merge_small(ctx: RunContext, outline: Outline, shares: Sequence[PassageEvidence]) -> Outline:
    """The outline in which a heading over next to nothing is a subheading of the section before it, or behind it.

    Each such heading is recorded. Where no section has enough, the outline stays.

    Args:
        ctx: the run.
        outline: of the article.
        shares: what each section is written from.
    """
    kept: list[Heading] = []
    waiting: list[Heading] = []
    for own in shares:
        if own.words < _TOO_LITTLE:
            waiting.append(own.heading)
            if not kept:
                continue
        else:
            kept.append(own.heading)
        for heading in waiting:
            _tell(ctx, heading, kept[-1])
        kept[-1] = _under(kept[-1], waiting)
        waiting = []
    return Outline(outline.topic, tuple(kept)) if kept else outline


def _under(heading: Heading, others: Sequence[Heading]) -> Heading:
    return Heading(heading.title, (*heading.children, *(Heading(other.title) for other in others)))


def _tell(ctx: RunContext, heading: Heading, other: Heading) -> None:
    ctx.events.degraded(
        f"section {heading.title!r} became a part of {other.title!r} before writing: hardly anything that was found "
        "bears on it"
    )
