"""The writer for small models (:class:`storm_pipeline.run.writer.Writer`), which puts an extract together.

A small model that rewords turns relations round. So the sentences are the sources' own, unchanged: the model's
questions and queries find them, it names the sections, and it reads each candidate and says whether it matters.
"""

from collections.abc import Iterator, Sequence
from math import ceil

from storm_pipeline.references.evidence import FEWEST_SENTENCES, Evidence
from storm_pipeline.references.facts import Fact, facts_of
from storm_pipeline.references.subject import Subject, related, subject_of
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.writer import Material, Writing
from storm_pipeline.text.words import word_count
from storm_pipeline.types import UNTITLED, Answer, Body, Conversation, Section, Sentence, Snippet
from storm_pipeline.writers.lead import lead_of
from storm_pipeline.writers.small.choice import by_heading, candidates, chosen
from storm_pipeline.writers.small.evidence import Candidate, SentenceEvidence
from storm_pipeline.writers.small.headings import even_groups, with_headings
from storm_pipeline.writers.small.paragraphs import distinct, fitting, in_paragraphs, without_repeated

_SECTIONS = 5
"""Sections of a long extract."""
_TITLES = 600
"""Characters of source titles shown to the model that names the sections."""


class SmallWriter:
    """Writes from single sentences of the sources."""

    sections = "three to five sections"
    note = (
        "An extract: its sentences are its sources', unchanged. A small model decided what to look up and, in an "
        "article, the sections and which sentences they tell. A capable model writes in its own words: "
        'storm {command} "{topic}" --lm openai/gpt-4o.'
    )

    def answer(self, ctx: RunContext, topic: str, question: str, found: Sequence[Snippet]) -> Answer:
        """Return the sentences that are nearest to the question, in the order of the snippets."""
        subject = _subject(ctx, topic, found)
        usable = found if topic == question else related(subject, found, ctx.store)
        facts = list({fact.text: fact for snippet in usable for fact in facts_of(snippet)}.values())
        if not facts:
            return Answer((), tuple(found))
        near = _nearness(ctx, question, facts)
        best = sorted(range(len(facts)), key=lambda i: (-near[i], i))[: ctx.settings.answer_facts]
        told = [facts[i] for i in sorted(best)]
        ctx.store.add(s for s in found if any(s.id == fact.citation.snippet_id for fact in told))
        return Answer(tuple(Sentence(fact.text, (fact.citation,)) for fact in told), tuple(found))

    def survey(self, ctx: RunContext, material: Material[SentenceEvidence]) -> str:
        """Return the titles of the related pages, those with most sentences near to the topic first."""
        subject, snippets = _all(ctx, material.outline.topic)
        ranked = sorted(candidates(ctx, subject, snippets), key=_by_nearness)
        return "; ".join(dict.fromkeys(one.fact.title for one in ranked if one.fact.title))[:_TITLES]

    def gather(self, ctx: RunContext, material: Material[SentenceEvidence]) -> Evidence[SentenceEvidence]:
        """Return the candidates for each section, and the lead: the topic's own page, or else the best sentences."""
        outline = material.outline
        subject, snippets = _all(ctx, outline.topic)
        if material.only is not None:
            subject, snippets = _subject(ctx, outline.topic, material.only), tuple(material.only)
        found = candidates(ctx, subject, snippets)
        if [section.title for section in outline.sections] == [UNTITLED]:
            told = _own(subject, snippets) if snippets else _told(ctx, material.conversations)
            first = [Candidate(fact, (-1, i), fact, nearness=1.0) for i, fact in enumerate(told)]
            nearest = sorted(found, key=_by_nearness)[: ctx.settings.section_facts * _SECTIONS]
            return Evidence(outline, (SentenceEvidence(outline.sections[0], (*first, *nearest), room=_SECTIONS),))
        lead = material.before.for_lead if material.before else self._lead(ctx, subject, snippets, found)
        others = [one for one in found if one.fact not in lead]
        facts, sharing = ctx.settings.section_facts, max(material.sections, len(outline.sections))
        read = max(facts, facts * _SECTIONS // max(1, sharing))  # the fewer sections, the more for each
        shares = by_heading(ctx, subject, outline.sections, others, read)
        sections = tuple(
            SentenceEvidence(heading, own, read) for heading, own in zip(outline.sections, shares, strict=True)
        )
        return Evidence(outline, sections, lead)

    def write(self, ctx: RunContext, writing: Writing[SentenceEvidence]) -> Section:
        """Return the sentences that the model chooses, as many as there is room for.

        Raises:
            ModelAuthError: the endpoint refuses the key.
        """
        outline, evidence = writing.outline, writing.evidence
        words = ctx.settings.section_words * evidence.room
        if not outline.sections or evidence.heading.title == UNTITLED:
            facts = distinct(fact for one in evidence.candidates for fact in (one.opening, one.fact))
            told = list(fitting(facts, words))
            number = ceil(sum(word_count(fact.text) for fact in told) / ctx.settings.section_words)
            body = with_headings(ctx, outline.topic, even_groups(in_paragraphs(told), number))
            return Section(evidence.heading.title, body.lead, body.sections)
        facts = list(fitting(chosen(ctx, _all(ctx, outline.topic)[0], evidence.candidates), words))
        return Section(evidence.heading.title, in_paragraphs(facts) if len(facts) >= FEWEST_SENTENCES else ())

    def finish(self, ctx: RunContext, sections: tuple[Section, ...], evidence: Evidence[SentenceEvidence]) -> Body:
        """Return the lead, and the sections without what was told before."""
        with ctx.events.in_stage("lead"):
            lead = lead_of(ctx, in_paragraphs(evidence.for_lead))
        told = {sentence.text for paragraph in lead for sentence in paragraph.sentences}
        return Body(lead, tuple(own for section in sections if (own := without_repeated(section, told)).paragraphs))

    @staticmethod
    def _lead(
        ctx: RunContext, subject: Subject, snippets: Sequence[Snippet], found: Sequence[Candidate]
    ) -> tuple[Fact, ...]:
        if own := _own(subject, snippets):
            return own
        nearest = sorted(found, key=_by_nearness)[: ctx.settings.section_facts]
        return tuple(fitting(chosen(ctx, subject, nearest), ctx.settings.section_words // 2))


def _all(ctx: RunContext, topic: str) -> tuple[Subject, tuple[Snippet, ...]]:
    """Return the subject, and all that the run has found."""
    snippets = tuple(snippet for source in ctx.store.sources() for snippet in source.snippets)
    return _subject(ctx, topic, snippets), snippets


def _subject(ctx: RunContext, topic: str, snippets: Sequence[Snippet]) -> Subject:
    return ctx.subject if isinstance(ctx.subject, Subject) else subject_of(topic, snippets)


def _own(subject: Subject, snippets: Sequence[Snippet]) -> tuple[Fact, ...]:
    """Return the sentences of the topic's own page."""
    return tuple(fact for snippet in snippets if snippet.source_id in subject.own for fact in facts_of(snippet))


def _told(ctx: RunContext, conversations: Sequence[Conversation]) -> Iterator[Fact]:
    """Yield the sentences of all answers."""
    for sentence in (one for own in conversations for turn in own.turns for one in turn.answer):
        for citation in sentence.citations[:1]:
            yield Fact(sentence.text, ctx.store.source(citation.source_id).title, citation)


def _by_nearness(one: Candidate) -> float:
    return -one.nearness


def _nearness(ctx: RunContext, need: str, facts: Sequence[Fact]) -> list[float]:
    vectors = ctx.store.embed([need, *(fact.in_context for fact in facts)])
    return [float(cosine) for cosine in vectors[1:] @ vectors[0]]
