"""The lead of an article written sentence by sentence."""

from collections.abc import Sequence

from storm_pipeline.references.evidence import FEWEST_SENTENCES
from storm_pipeline.references.facts import Fact, names_topic
from storm_pipeline.run.context import RunContext
from storm_pipeline.types import Body, Paragraph, Section, Sentence
from storm_pipeline.writers.lead import lead_of
from storm_pipeline.writers.paragraphs import in_paragraphs
from storm_pipeline.writers.rewording import in_own_words

_MOST_MOVED = 2
"""Maximum number of sentences moved from sections to the lead."""
_THE_SAME = 0.8
"""Minimum cosine at which two sentences count as the same statement."""


def take_lead(ctx: RunContext, topic: str, sections: tuple[Section, ...], opening_facts: tuple[Fact, ...]) -> Body:
    """Build the lead from the opening fact and sentences that the sections can spare.

    A small model that summarises a whole article combines unrelated facts and repeats the body. So sentences close to
    the topic move to the lead instead.

    Returns:
        The lead, and the sections without the moved sentences.
    """
    with ctx.events.in_stage("lead"):
        opening = [Sentence(fact.text, (fact.citation,)) for fact in opening_facts]
        reworded = in_own_words(ctx, opening, opening_facts, topic, alone=True)
        moved = _spare(ctx, topic, sections, reworded)
        left = tuple(_without(section, moved) for section in sections)
        sentences = (*reworded, *moved)
        return Body(lead_of(ctx, (Paragraph(sentences),) if sentences else ()), left)


def _spare(
    ctx: RunContext, topic: str, sections: Sequence[Section], opening: Sequence[Sentence]
) -> tuple[Sentence, ...]:
    """The sentence nearest to the topic of each section that stays long enough, unless the lead already has it.

    Only sentences from pages whose title names the topic may move: other pages cover it from their own angle.
    """
    moved: list[Sentence] = []
    for section in sections:
        own = list(section.sentences())
        if len(own) <= FEWEST_SENTENCES or len(moved) == _MOST_MOVED:
            continue
        vectors = ctx.store.embed([topic, *(s.text for s in own), *(s.text for s in (*opening, *moved))])
        similarity, to_lead = (
            vectors[1 : len(own) + 1] @ vectors[0],
            vectors[1 : len(own) + 1] @ vectors[len(own) + 1 :].T,
        )
        new = [
            i
            for i, sentence in enumerate(own)
            if names_topic(ctx.store.source(sentence.citations[0].source_id).title, topic)
            and (not to_lead.shape[1] or to_lead[i].max() < _THE_SAME)
        ]
        if new:
            moved.append(own[max(new, key=lambda i: similarity[i])])
    return tuple(moved)


def _without(section: Section, moved: Sequence[Sentence]) -> Section:
    return Section(section.heading, in_paragraphs([s for s in section.sentences() if s not in moved]))
