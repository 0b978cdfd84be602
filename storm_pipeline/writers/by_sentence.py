"""Writing for small models: each sentence is a rewording of one fact from one source.

A small model that is given many facts combines unrelated ones; given a single fact, it is truthful.
"""

from collections.abc import Sequence

from storm_pipeline.references.evidence import FEW_FACTS, FEWEST_SENTENCES, Evidence, FactEvidence
from storm_pipeline.references.facts import Fact, nearest_facts
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.words import word_count
from storm_pipeline.types import UNTITLED, Answer, Body, Conversation, Heading, Outline, Section, Sentence, Snippet
from storm_pipeline.writers.fact_answers import answer_from_facts
from storm_pipeline.writers.fact_sharing import share_facts
from storm_pipeline.writers.opening_fact import opening_fact
from storm_pipeline.writers.paragraphs import in_paragraphs
from storm_pipeline.writers.repetition import remove_repetition
from storm_pipeline.writers.rewording import TRIES, in_own_words
from storm_pipeline.writers.section_headings import even_groups, fitting_heading, with_headings
from storm_pipeline.writers.self_contained import stands_alone
from storm_pipeline.writers.sentence_lead import take_lead

UNTITLED_SECTIONS = 5
"""Length of an article without an outline, in sections."""
_TITLES = 1500
"""Characters of source titles shown to whoever refines the outline."""


class SentenceWriter:
    """Writes sentence by sentence (:class:`storm_pipeline.run.context.Writer`)."""

    def answer(self, ctx: RunContext, topic: str, question: str, found: Sequence[Snippet]) -> Answer:
        """An answer from the facts that are nearest to the question.

        Raises:
            ModelError: the model fails.
        """
        return answer_from_facts(ctx, topic, question, found)

    def gather(
        self,
        ctx: RunContext,
        outline: Outline,
        conversations: Sequence[Conversation] = (),  # noqa: ARG002
        before: Evidence[FactEvidence] | None = None,  # noqa: ARG002
        draft: str = "",  # noqa: ARG002
    ) -> Evidence[FactEvidence]:
        """Self-contained facts, each assigned to one section; the opening fact is reserved for the lead."""
        opening = opening_fact(ctx, outline.topic)
        shared = share_facts(ctx, outline, usable=stands_alone, opening=opening)
        return Evidence(outline, shared, (opening,) if opening else ())

    def warm_up(self, ctx: RunContext, draft: Outline, conversations: Sequence[Conversation]) -> None:
        """Index and embed what the draft's sections need."""
        self.gather(ctx, draft, conversations)

    def wanted_sections(self, ctx: RunContext) -> str:  # noqa: ARG002
        """As many as a small model can plan."""
        return "five to seven sections"

    def survey(self, ctx: RunContext, draft: Outline, conversations: Sequence[Conversation]) -> str:  # noqa: ARG002
        """The titles of the sources."""
        titles = "; ".join(dict.fromkeys(source.title for source in ctx.store.sources() if source.title))
        return titles[:_TITLES]

    def select(
        self,
        ctx: RunContext,
        heading: Heading,
        snippets: Sequence[Snippet],
        need: str,
        sections: int = 1,  # noqa: ARG002
    ) -> FactEvidence:
        """The self-contained sentences of all snippets that are nearest to the need."""
        room = _room(heading)
        facts = nearest_facts(snippets, need, ctx.settings.section_facts * room, serves=stands_alone)
        return FactEvidence(heading, tuple(facts), room)

    def recall(self, ctx: RunContext, heading: Heading, conversations: Sequence[Conversation]) -> FactEvidence:
        """The self-contained sentences of all answers, each with its first source."""
        facts = [
            Fact(sentence.text, ctx.store.source(citation.source_id).title, citation)
            for conversation in conversations
            for turn in conversation.turns
            for sentence in turn.answer
            for citation in sentence.citations[:1]
            if stands_alone(sentence.text)
        ]
        return FactEvidence(heading, tuple(facts), _room(heading))

    def section(self, ctx: RunContext, outline: Outline, evidence: FactEvidence) -> Section:
        """The section: as many facts as there is room for, reworded.

        Raises:
            ModelAuthError: the endpoint refuses the key.
        """
        reworded = _reworded(ctx, outline.topic, evidence)
        title = evidence.heading.title
        if len(reworded) < FEWEST_SENTENCES:
            return Section(title)
        if evidence.heading in outline.sections:
            title = fitting_heading(ctx, outline, evidence.heading, reworded)
        return Section(title, in_paragraphs(reworded))

    def revise(
        self,
        ctx: RunContext,
        outline: Outline,
        evidence: FactEvidence,
        before: FactEvidence,  # noqa: ARG002
        section: Section,  # noqa: ARG002
    ) -> Section:
        """The section, rewritten from all facts.

        Raises:
            ModelError: the model fails.
        """
        return self.section(ctx, outline, evidence)

    def article(
        self,
        ctx: RunContext,
        topic: str,
        evidence: FactEvidence,
        conversations: Sequence[Conversation] = (),  # noqa: ARG002 - their answers are the facts
    ) -> Body:
        """The facts in their order, reworded, in up to five sections that get their headings afterwards.

        Raises:
            ModelAuthError: the endpoint refuses the key.
        """
        paragraphs = in_paragraphs(_reworded(ctx, topic, evidence))
        return with_headings(ctx, topic, even_groups(paragraphs, UNTITLED_SECTIONS))

    def finish(self, ctx: RunContext, sections: tuple[Section, ...], evidence: Evidence[FactEvidence]) -> Body:
        """Remove repetition, then move sentences from the sections to the lead."""
        return take_lead(ctx, evidence.outline.topic, remove_repetition(ctx, sections), evidence.for_lead)


def _reworded(ctx: RunContext, topic: str, evidence: FactEvidence) -> tuple[Sentence, ...]:
    """As many facts as there is room for, reworded."""
    room = ctx.settings.section_words * evidence.room
    chosen: list[Fact] = []
    for fact in evidence.facts:
        room -= word_count(fact.text)
        if room > 0 or not chosen:
            chosen.append(fact)
    copies = [Sentence(fact.text, (fact.citation,)) for fact in chosen]
    tries = 2 * TRIES if len(chosen) < FEW_FACTS else TRIES
    return in_own_words(ctx, copies, chosen, " ".join((topic, *evidence.heading.titles())), alone=True, tries=tries)


def _room(heading: Heading) -> int:
    """Length allowed under a heading, in sections."""
    return UNTITLED_SECTIONS if heading.title == UNTITLED else 1
