"""Gathers the evidence for each section (paper section 3.4)."""

from collections.abc import Sequence

from storm_pipeline.evidence.evidence import NO_NOTES, Evidence, FindingNotes
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.allocation import allocate
from storm_pipeline.types import Conversation, Outline


def gather_evidence(
    ctx: RunContext, outline: Outline, conversations: Sequence[Conversation] = (), notes: FindingNotes = NO_NOTES
) -> Evidence:
    """Return the evidence for each section, from all results of the run and the notes on its findings."""
    with ctx.events.in_stage("evidence"):
        return allocate(ctx, outline, conversations, notes)
