"""Merges sections with hardly any evidence into their neighbours before writing."""

from collections.abc import Sequence

from storm_pipeline.references.evidence import PassageEvidence
from storm_pipeline.run.context import RunContext
from storm_pipeline.types import Heading, Outline

_TOO_LITTLE = 60  # words of evidence below which a section is merged into its neighbour


def merge_small(ctx: RunContext, outline: Outline, shares: Sequence[PassageEvidence]) -> Outline:
    """Make each heading with hardly any evidence a subheading of the previous section, or else of the next one.

    Each merge is recorded. If no section has enough evidence, the outline is returned unchanged.
    """
    kept: list[Heading] = []
    waiting: list[Heading] = []
    for share in shares:
        if share.words < _TOO_LITTLE:
            waiting.append(share.heading)
            if not kept:
                continue
        else:
            kept.append(share.heading)
        for heading in waiting:
            _record(ctx, heading, kept[-1])
        kept[-1] = _under(kept[-1], waiting)
        waiting = []
    return Outline(outline.topic, tuple(kept)) if kept else outline


def _under(heading: Heading, others: Sequence[Heading]) -> Heading:
    return Heading(heading.title, (*heading.children, *(Heading(other.title) for other in others)))


def _record(ctx: RunContext, heading: Heading, other: Heading) -> None:
    ctx.events.degraded(
        f"section {heading.title!r} was merged into {other.title!r} before writing: hardly any evidence for it"
    )
