"""Writing for small models: each sentence is one fact of one source in other words.

A small model that is given many facts ties together what does not belong together; given one, it is truthful.
"""

from collections.abc import Sequence

from storm_pipeline.context import RunContext
from storm_pipeline.references.evidence import FEW_FACTS, FEWEST_SENTENCES, Evidence, SectionEvidence
from storm_pipeline.references.facts import Fact, nearest_facts
from storm_pipeline.text import word_count
from storm_pipeline.types import UNTITLED, Body, Heading, Outline, Section, Sentence, Snippet
from storm_pipeline.writers.fact_sharing import share_facts
from storm_pipeline.writers.opening_fact import opening_fact
from storm_pipeline.writers.paragraphs import in_paragraphs
from storm_pipeline.writers.repetition import remove_repetition
from storm_pipeline.writers.replies import UNTITLED_SECTIONS, known_text
from storm_pipeline.writers.rewording import TRIES, in_own_words
from storm_pipeline.writers.section_headings import fitting_heading
from storm_pipeline.writers.self_contained import stands_alone
from storm_pipeline.writers.sentence_lead import take_lead


class SentenceWriter:
    """Writes sentence by sentence (:class:`storm_pipeline.context.Writer`)."""

    def can_use(self, text: str) -> bool:
        """One that makes sense by itself."""
        return stands_alone(text)

    def gather(self, ctx: RunContext, outline: Outline) -> Evidence:
        """Facts that make sense by themselves, each given to the section that it fits; the opening one is set aside."""
        opening = opening_fact(ctx, outline.topic)
        shared = share_facts(ctx, outline, usable=stands_alone, told=opening, weigh=lambda fit, _: fit)
        return Evidence(shared, (opening,) if opening else ())

    def material(self, ctx: RunContext, snippets: Sequence[Snippet], need: str, *, sections: int = 1) -> list[Fact]:
        """The sentences of all snippets that are nearest to the need and make sense by themselves."""
        return nearest_facts(snippets, need, ctx.settings.section_facts * sections, serves=stands_alone)

    def section(self, ctx: RunContext, outline: Outline, evidence: SectionEvidence) -> Section:
        """Each fact, as far as there is room, said again in other words.

        Raises:
            ModelAuthError: the endpoint refuses the key.
        """
        room = ctx.settings.section_words * evidence.room
        told: list[Fact] = []
        for fact in evidence.facts:
            room -= word_count(fact.text)
            if room > 0 or not told:
                told.append(fact)
        copies = [Sentence(fact.text, (fact.citation,)) for fact in told]
        tries = 2 * TRIES if len(told) < FEW_FACTS else TRIES
        reworded = in_own_words(ctx, copies, told, known_text(outline, evidence.heading), alone=True, tries=tries)
        title = evidence.heading.title
        if len(reworded) >= FEWEST_SENTENCES and evidence.heading in outline.sections:
            title = fitting_heading(ctx, outline, evidence.heading, reworded)
        return Section(title, in_paragraphs(reworded))

    def divide(self, ctx: RunContext, outline: Outline, facts: Sequence[Fact]) -> Sequence[SectionEvidence]:
        """By the outline; without one, a single section with room for the whole article."""
        if outline.sections:
            return self.gather(ctx, outline).sections
        return [SectionEvidence(Heading(UNTITLED), tuple(facts), UNTITLED_SECTIONS)]

    def article(self, ctx: RunContext, outline: Outline, facts: Sequence[Fact]) -> Body:
        """The sections into which :meth:`divide` divides it, without a lead."""
        return Body((), tuple(self.section(ctx, outline, own) for own in self.divide(ctx, outline, facts)))

    def finish(self, ctx: RunContext, topic: str, sections: tuple[Section, ...], evidence: Evidence) -> Body:
        """The lead takes sentences from the sections, after what they say twice is gone."""
        return take_lead(ctx, topic, remove_repetition(ctx, sections), evidence.for_lead)
