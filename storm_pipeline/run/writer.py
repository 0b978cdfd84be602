"""The protocol of the writer, which turns what was found into text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from storm_pipeline.references.evidence import NO_NOTES, Evidence, FindingNotes, PassageEvidence
from storm_pipeline.types import Answer, Body, Conversation, Outline, Section, Snippet

if TYPE_CHECKING:
    from storm_pipeline.run.context import RunContext


@dataclass(frozen=True)
class Material:
    """What evidence is taken from: by default all that the run has found."""

    outline: Outline  # of the article, or of a part of it; a section UNTITLED means an article without an outline
    conversations: Sequence[Conversation] = ()  # the interviews
    notes: FindingNotes = NO_NOTES  # what was noted of the interviews' findings
    # the snippets to take it from; None for the store. If there are none of these, the interviews alone tell
    only: Sequence[Snippet] | None = None
    sections: int = 1  # number of sections that share the article's length with this part


class Writer(Protocol):
    """Writes text from sources.

    Attributes:
        sections: how many an outline should have, as text for a prompt, in which ``{fewest}`` and ``{most}`` stand for
            the numbers that suit the article's length.
    """

    sections: str

    def answer(
        self, ctx: RunContext, topic: str, question: str, found: Sequence[Snippet], beside: Sequence[Snippet] = ()
    ) -> Answer:
        """The expert's answer to a question, from the snippets found for it. Raises ModelError: the model fails.

        ``beside``: all passages of the pages that were read for it, in the order of each page.
        """
        ...

    def survey(self, ctx: RunContext, material: Material) -> str:
        """A digest of interviews and sources, as input for refining the outline."""
        ...

    def gather(self, ctx: RunContext, material: Material) -> Evidence:
        """The evidence for each section of the outline; sections may be merged, or planned anew."""
        ...

    def write(
        self, ctx: RunContext, outline: Outline, evidence: PassageEvidence, conversations: Sequence[Conversation] = ()
    ) -> Section:
        """A section from its evidence, possibly empty; an article without an outline is one section with subsections.

        Raises ModelError: the model fails. ``conversations``: interviews shown in full, where the writer reads them.
        """
        ...

    def finish(self, ctx: RunContext, sections: tuple[Section, ...], evidence: Evidence) -> Body:
        """The body: a lead, and the sections without repetition."""
        ...
