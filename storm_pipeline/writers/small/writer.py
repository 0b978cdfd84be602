"""The writer for small models (:class:`storm_pipeline.run.writer.Writer`).

A small model that rewords turns relations round, and one that is given many facts joins what does not belong together.
So the sentences are those of the sources, shortened and put in order by rules; the model plans, asks and names
sections.
"""

from collections.abc import Iterable, Sequence

from storm_pipeline.references.evidence import FEWEST_SENTENCES, Evidence
from storm_pipeline.references.facts import Fact
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.writer import Material, Writing
from storm_pipeline.text.words import word_count
from storm_pipeline.types import UNTITLED, Answer, Body, Conversation, Heading, Outline, Section, Sentence, Snippet
from storm_pipeline.writers.lead import lead_of
from storm_pipeline.writers.small.aspects import descriptions
from storm_pipeline.writers.small.choice import FEWEST, best_statements, beyond, for_lead, nearest_statements
from storm_pipeline.writers.small.evidence import FactEvidence
from storm_pipeline.writers.small.flow import flowing
from storm_pipeline.writers.small.headings import even_groups, fitting_heading, with_headings
from storm_pipeline.writers.small.order import in_paragraphs, in_reading_order
from storm_pipeline.writers.small.question_answers import nearest_sentences
from storm_pipeline.writers.small.sections import sections_of
from storm_pipeline.writers.small.statements import Statement, statements_about
from storm_pipeline.writers.small.subject import Subject, sources_of, subject_of

UNTITLED_SECTIONS = 5
"""Length of an article without an outline, in sections."""
_TITLES = 1500
"""Characters of source titles shown to whoever refines the outline."""
_STATEMENTS, _PER_SECTION = 56, 16
"""Maximum statements below the lead, and of a section: the less relevant are left out."""


class SmallWriter:
    """Writes from single statements of the sources."""

    sections = "five to seven sections"
    note = (
        "A small model planned this article; its sentences are its sources', shortened; a capable model writes more, "
        'in its own words: storm {command} "{topic}" --lm openai/gpt-4o.'
    )

    def answer(self, ctx: RunContext, topic: str, question: str, found: Sequence[Snippet]) -> Answer:
        """The statements about the topic that are nearest to the question, in the order of the snippets.

        A question that is its own topic has no subject: any sentence that is near it may answer it.
        """
        if topic == question:
            return nearest_sentences(ctx, question, found)
        statements = statements_about(_subject(ctx, topic, found), found, ctx.store)
        nearest = nearest_statements(ctx, statements, question, ctx.settings.answer_facts)
        ctx.store.add(
            snippet for snippet in found if any(snippet.id == one.fact.citation.snippet_id for one in nearest)
        )
        return Answer(tuple(Sentence(one.fact.text, (one.fact.citation,)) for one in nearest), tuple(found))

    def survey(self, ctx: RunContext, material: Material[FactEvidence]) -> str:
        """The titles of the pages that say something about the topic."""
        snippets = [snippet for source in ctx.store.sources() for snippet in source.snippets]
        statements = statements_about(_subject(ctx, material.outline.topic, snippets), snippets, ctx.store)
        ranked = sorted(statements, key=lambda one: -one.relevance)
        return "; ".join(dict.fromkeys(one.fact.title for one in ranked if one.fact.title))[:_TITLES]

    def gather(self, ctx: RunContext, material: Material[FactEvidence]) -> Evidence[FactEvidence]:
        """All statements about the topic: some for the lead, the others in sections by what there is to say.

        Planned sections that nothing was found for are added empty, unless further searches were made for them. Of
        given snippets, each section has the statements nearest to topic and heading.
        """
        if material.only is None:
            return _planned(ctx, material.outline, is_last=material.before is not None)
        outline, found = material.outline, material.only
        chosen = [_nearest_facts(ctx, outline.topic, one, found) if found else () for one in outline.sections]
        told = () if found else _told(ctx, material.conversations)
        return Evidence(
            outline,
            tuple(
                FactEvidence(heading, facts or told, _room(heading))
                for heading, facts in zip(outline.sections, chosen, strict=True)
            ),
        )

    def write(self, ctx: RunContext, writing: Writing[FactEvidence]) -> Section:
        """As many statements as there is room for, under the heading that fits them, or those of up to five sections.

        Raises:
            ModelAuthError: the endpoint refuses the key.
        """
        outline, evidence = writing.outline, writing.evidence
        facts = _fitting(ctx, evidence)
        title = evidence.heading.title
        if not outline.sections:
            body = with_headings(ctx, outline.topic, even_groups(in_paragraphs(facts), UNTITLED_SECTIONS))
            return Section(title, body.lead, body.sections)
        if len(facts) < FEWEST_SENTENCES:
            return Section(title)
        if title != UNTITLED and not evidence.is_named:
            title = fitting_heading(ctx, outline, evidence.heading, [fact.text for fact in facts])
        return Section(title, in_paragraphs(facts))

    def finish(self, ctx: RunContext, sections: tuple[Section, ...], evidence: Evidence[FactEvidence]) -> Body:
        """The lead, and the sections as they are: no statement was given to two of them."""
        with ctx.events.in_stage("lead"):
            return Body(lead_of(ctx, in_paragraphs(evidence.for_lead)), sections)


def _planned(ctx: RunContext, outline: Outline, *, is_last: bool) -> Evidence[FactEvidence]:
    """Sections planned from all that was found; if searches may follow, empty ones of the outline come last."""
    snippets = [snippet for source in ctx.store.sources() for snippet in source.snippets]
    subject = _subject(ctx, outline.topic, snippets)
    statements = statements_about(subject, snippets, ctx.store)
    lead = for_lead(subject, statements)
    others = beyond(lead, [one for one in statements if one not in lead and not one.leans])
    best = best_statements(others, _STATEMENTS)
    planned = sections_of(
        subject, _aspects(ctx), best, ctx.store, fewest=FEWEST, most=_PER_SECTION, words=ctx.settings.section_words
    )
    if not planned:
        lead = (*lead, *flowing(best, ctx.store, by_time=False))
    sections = [FactEvidence(own.heading, _facts(own.statements), is_named=own.is_named) for own in planned]
    if not is_last:
        named = {own.heading.title.casefold() for own in sections}
        sections += [FactEvidence(one) for one in outline.sections if one.title.casefold() not in named]
    return Evidence(Outline(outline.topic, tuple(own.heading for own in sections)), tuple(sections), _facts(lead))


def _nearest_facts(ctx: RunContext, topic: str, heading: Heading, snippets: Sequence[Snippet]) -> tuple[Fact, ...]:
    """The statements of the snippets that are nearest to topic and heading, in reading order."""
    need = topic if heading.title == UNTITLED else f"{topic} {heading.title}"
    statements = statements_about(_subject(ctx, topic, snippets), snippets, ctx.store)
    return _facts(
        in_reading_order(nearest_statements(ctx, statements, need, ctx.settings.section_facts * _room(heading)))
    )


def _told(ctx: RunContext, conversations: Sequence[Conversation]) -> tuple[Fact, ...]:
    """The sentences of all answers, without repetitions."""
    facts = dict.fromkeys(
        Fact(sentence.text, ctx.store.source(citation.source_id).title, citation)
        for conversation in conversations
        for turn in conversation.turns
        for sentence in turn.answer
        for citation in sentence.citations[:1]
    )
    return tuple(facts)


def _subject(ctx: RunContext, topic: str, snippets: Iterable[Snippet]) -> Subject:
    return ctx.subject if isinstance(ctx.subject, Subject) else subject_of(topic, sources_of(snippets))


def _aspects(ctx: RunContext) -> dict[str, str]:
    """What sections may be about: the user's own headings, or any aspect."""
    own = ctx.user_pieces.outline
    return descriptions([section.title for section in own.sections] if own else ())


def _fitting(ctx: RunContext, evidence: FactEvidence) -> list[Fact]:
    """As many facts as there is room for; at least one."""
    room = ctx.settings.section_words * evidence.room
    chosen: list[Fact] = []
    for fact in evidence.facts:
        room -= word_count(fact.text)
        if room > 0 or not chosen:
            chosen.append(fact)
    return chosen


def _facts(statements: Iterable[Statement]) -> tuple[Fact, ...]:
    return tuple(one.fact for one in statements)


def _room(heading: Heading) -> int:
    """Length allowed under a heading, in sections."""
    return UNTITLED_SECTIONS if heading.title == UNTITLED else 1
