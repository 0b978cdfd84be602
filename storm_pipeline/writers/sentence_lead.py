"""The lead of an article that is written sentence by sentence."""

from collections.abc import Sequence

from storm_pipeline.references.evidence import FEWEST_SENTENCES
from storm_pipeline.references.facts import Fact, names_topic
from storm_pipeline.run.context import RunContext
from storm_pipeline.types import Body, Paragraph, Section, Sentence
from storm_pipeline.writers.lead import lead_of
from storm_pipeline.writers.paragraphs import in_paragraphs
from storm_pipeline.writers.rewording import in_own_words

_MOST_MOVED = 2
"""Sentences that sections give to the lead."""
_THE_SAME = 0.8
"""Cosine from which on two sentences say the same."""


def take_lead(ctx: RunContext, topic: str, sections: tuple[Section, ...], opening_facts: tuple[Fact, ...]) -> Body:
    """The lead of an article written sentence by sentence: what its topic is, and what its sections can spare.

    A small model that sums up a whole article ties together what does not belong together, and what it says again in
    other words stands there twice. So sentences near to the topic move to the lead.

    Returns:
        The lead, and the sections without what went there.
    """
    with ctx.events.in_stage("lead"):
        opening = [Sentence(fact.text, (fact.citation,)) for fact in opening_facts]
        told = in_own_words(ctx, opening, opening_facts, topic, alone=True)
        moved = _spare(ctx, topic, sections, told)
        left = tuple(_without(section, moved) for section in sections)
        sentences = (*told, *moved)
        return Body(lead_of(ctx, (Paragraph(sentences),) if sentences else ()), left)


def _spare(
    ctx: RunContext, topic: str, sections: Sequence[Section], opening: Sequence[Sentence]
) -> tuple[Sentence, ...]:
    """Of each section that stays one without it the sentence nearest to the topic, unless it says what was said.

    Only what a page tells whose title names the topic may move: others speak of it from where they stand.
    """
    moved: list[Sentence] = []
    for section in sections:
        own = list(section.sentences())
        if len(own) <= FEWEST_SENTENCES or len(moved) == _MOST_MOVED:
            continue
        vectors = ctx.store.embed([topic, *(s.text for s in own), *(s.text for s in (*opening, *moved))])
        likeness, said = vectors[1 : len(own) + 1] @ vectors[0], vectors[1 : len(own) + 1] @ vectors[len(own) + 1 :].T
        new = [
            i
            for i, sentence in enumerate(own)
            if names_topic(ctx.store.source(sentence.citations[0].source_id).title, topic)
            and (not said.shape[1] or said[i].max() < _THE_SAME)
        ]
        if new:
            moved.append(own[max(new, key=lambda i: likeness[i])])
    return tuple(moved)


def _without(section: Section, moved: Sequence[Sentence]) -> Section:
    return Section(section.heading, in_paragraphs([s for s in section.sentences() if s not in moved]))
