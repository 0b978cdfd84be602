"""The protocol of the writers, which turn what was found into text; chosen once per run, by the model's capability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol

from storm_pipeline.references.evidence import NO_NOTES, E, Evidence, FindingNotes
from storm_pipeline.types import Answer, Body, Conversation, Outline, Section, Snippet

if TYPE_CHECKING:
    from storm_pipeline.run.context import RunContext


@dataclass(frozen=True)
class Material(Generic[E]):
    """What evidence is taken from: by default all that the run has found."""

    outline: Outline  # of the article, or of a part of it; a section UNTITLED means an article without an outline
    conversations: Sequence[Conversation] = ()  # the interviews
    before: Evidence[E] | None = None  # evidence from before further searches, whose lead is kept
    notes: FindingNotes = NO_NOTES  # what was noted of the interviews' findings
    # the snippets to take it from; None for the store. If there are none of these, the interviews alone tell
    only: Sequence[Snippet] | None = None
    sections: int = 1  # number of sections that share the article's length with this part


class Writer(Protocol[E]):
    """Writes text from sources.

    Attributes:
        sections: how many an outline should have, as text for a prompt, in which ``{fewest}`` and ``{most}`` stand for
            the numbers that suit the article's length.
        note: what a reader must know about the text, ``{topic}`` and ``{command}`` in it standing for
            the topic and for ``write`` or ``answer``; empty if nothing.
    """

    sections: str
    note: str

    def answer(
        self, ctx: RunContext, topic: str, question: str, found: Sequence[Snippet], beside: Sequence[Snippet] = ()
    ) -> Answer:
        """The expert's answer to a question, from the snippets found for it. Raises ModelError: the model fails.

        ``beside``: all passages of the pages that were read for it, in the order of each page.
        """
        ...

    def survey(self, ctx: RunContext, material: Material[E]) -> str:
        """A digest of interviews and sources, as input for refining the outline."""
        ...

    def gather(self, ctx: RunContext, material: Material[E]) -> Evidence[E]:
        """The evidence for each section of the outline; sections may be merged, or planned anew."""
        ...

    def write(
        self, ctx: RunContext, outline: Outline, evidence: E, conversations: Sequence[Conversation] = ()
    ) -> Section:
        """A section from its evidence, possibly empty; an article without an outline is one section with subsections.

        Raises ModelError: the model fails. ``conversations``: interviews shown in full, where the writer reads them.
        """
        ...

    def finish(self, ctx: RunContext, sections: tuple[Section, ...], evidence: Evidence[E]) -> Body:
        """The body: a lead, and the sections without repetition."""
        ...
