"""The writer for small models (:class:`storm_pipeline.run.writer.Writer`), which puts an extract together.

A small model that rewords turns relations round. So the sentences are the sources' own, unchanged: the model's
questions and queries find them, like ones stand together, and it names each group. Which sentences are told is decided
by their nearness to the topic: asked about each, the model chose no better.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil

from storm_pipeline.references.evidence import FEWEST_SENTENCES, Evidence
from storm_pipeline.references.facts import Fact, facts_of
from storm_pipeline.references.subject import Subject, related, subject_of
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.writer import Material
from storm_pipeline.text.words import word_count
from storm_pipeline.types import UNTITLED, Answer, Body, Conversation, Outline, Section, Sentence, Snippet
from storm_pipeline.writers.lead import lead_of
from storm_pipeline.writers.small.choice import by_heading, candidates, in_groups, in_order
from storm_pipeline.writers.small.evidence import Candidate, SentenceEvidence
from storm_pipeline.writers.small.headings import even_groups, named, with_headings
from storm_pipeline.writers.small.paragraphs import fitting, in_paragraphs, without_repeated

_SECTIONS = 5
"""Sections of a long extract."""
_TITLES = 600
"""Characters of source titles shown to the model that names the sections."""


class SmallWriter:
    """Writes from single sentences of the sources."""

    sections = "three to five sections"
    note = (
        "An extract: its sentences are its sources', unchanged. A small model decided what to look up and, in an "
        "article, the headings; the sentences are those nearest to the topic. A capable model writes in its own words: "
        'storm {command} "{topic}" --lm openai/gpt-4o.'
    )

    def answer(
        self,
        ctx: RunContext,
        topic: str,
        question: str,
        found: Sequence[Snippet],
        beside: Sequence[Snippet] = (),  # noqa: ARG002
    ) -> Answer:
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
        found = candidates(ctx, subject, snippets)
        return "; ".join(dict.fromkeys(one.fact.title for one in found if one.fact.title))[:_TITLES]

    def gather(self, ctx: RunContext, material: Material[SentenceEvidence]) -> Evidence[SentenceEvidence]:
        """Return the candidates for each section, and the lead: the topic's own page, or else the best sentences.

        Without an outline, like sentences are a section, and the model gives each its heading.
        """
        outline = material.outline
        subject, snippets = _all(ctx, outline.topic)
        if material.only is not None:
            subject, snippets = _subject(ctx, outline.topic, material.only), tuple(material.only)
        found = candidates(ctx, subject, snippets)
        if [section.title for section in outline.sections] == [UNTITLED]:
            own = _own(subject, snippets) if snippets else _told(ctx, material.conversations)
            first = [Candidate(fact, (-1, i), fact, nearness=1.0) for i, fact in enumerate(own)]
            whole = SentenceEvidence(outline.sections[0], (*first, *_nearest(ctx, found)), room=_SECTIONS)
            return Evidence(outline, (whole,))
        lead = material.before.for_lead if material.before else self._lead(ctx, subject, snippets, found)
        told = _nearest(ctx, [one for one in found if one.fact not in lead], material.sections)
        if not outline.sections:
            number = min(_SECTIONS, round(len(told) / ctx.settings.section_facts))
            parts = named(ctx, outline.topic, in_groups(ctx, told, number))
            return Evidence(replace(outline, sections=tuple(part.heading for part in parts)), parts, lead)
        shares = by_heading(ctx, subject, outline.sections, told)
        sections = tuple(SentenceEvidence(*own) for own in zip(outline.sections, shares, strict=True))
        return Evidence(outline, sections, lead)

    def write(
        self,
        ctx: RunContext,
        outline: Outline,
        evidence: SentenceEvidence,
        conversations: Sequence[Conversation] = (),  # noqa: ARG002
    ) -> Section:
        """Return the section's sentences, as many as there is room for."""
        told = list(fitting(in_order(evidence.candidates), ctx.settings.section_words * evidence.room))
        if not outline.sections or evidence.heading.title == UNTITLED:
            number = ceil(sum(word_count(fact.text) for fact in told) / ctx.settings.section_words)
            body = with_headings(ctx, outline.topic, even_groups(in_paragraphs(told), number))
            return Section(evidence.heading.title, body.lead, body.sections)
        return Section(evidence.heading.title, in_paragraphs(told) if len(told) >= FEWEST_SENTENCES else ())

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
        return tuple(fitting(in_order(found[: ctx.settings.section_facts]), ctx.settings.section_words // 2))


def _nearest(ctx: RunContext, found: Sequence[Candidate], parts: int = 1) -> Sequence[Candidate]:
    """Return the nearer half of the candidates, or as many as an article, or one of so many parts of it, tells."""
    return found[: min(ceil(len(found) / 2), ctx.settings.section_facts * _SECTIONS // parts)]


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


def _nearness(ctx: RunContext, need: str, facts: Sequence[Fact]) -> list[float]:
    vectors = ctx.store.embed([need, *(fact.in_context for fact in facts)])
    return [float(cosine) for cosine in vectors[1:] @ vectors[0]]
