"""The lead: a summary of the whole article that opens it (paper section 3.4)."""

from collections.abc import Sequence
from dataclasses import replace

from storm_pipeline.context import RunContext
from storm_pipeline.errors import ModelError
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.facts import Fact
from storm_pipeline.references.support import check_support
from storm_pipeline.sentences import is_complete, truncate_sentences
from storm_pipeline.steps.opening import names, opening_fact
from storm_pipeline.steps.sections import FEWEST_SENTENCES, in_paragraphs
from storm_pipeline.steps.wording import in_own_words
from storm_pipeline.text import word_count
from storm_pipeline.types import Paragraph, Section, Sentence

Taken = tuple[tuple[Paragraph, ...], tuple[Section, ...]]
_LONGEST_ARTICLE = 3000
"""Words of the article shown to the writer of the lead."""
_MOST_MOVED = 2
"""Sentences that sections give to the lead of an article written sentence by sentence."""
_THE_SAME = 0.8
"""Cosine from which on two sentences say the same."""


def write_lead(ctx: RunContext, topic: str, sections: tuple[Section, ...]) -> tuple[Paragraph, ...]:
    """Write the lead in one call, as in the paper; its sentences cite what the body sentences cite that they rest on.

    Where the model fails, or nothing it writes is supported, the lead is empty and that is recorded.
    """
    body = [
        Fact(sentence.text, topic, citation)
        for section in sections
        for sentence in section.sentences()
        for citation in sentence.citations[:1]
    ]
    with ctx.events.in_stage("lead"):
        try:
            told = _supported(ctx, topic, sections, body)
        except ModelError as error:
            ctx.events.failed("no lead", error)
            return ()
        return _paragraph(ctx, in_own_words(ctx, told, body, topic))


def take_lead(ctx: RunContext, topic: str, sections: tuple[Section, ...]) -> Taken:
    """The lead of an article written sentence by sentence: what its topic is, and what its sections can spare.

    A small model that sums up a whole article ties together what does not belong together, and what it says again in
    other words stands there twice. So sentences near to the topic move to the lead.

    Returns:
        The lead, and the sections without what went there.
    """
    with ctx.events.in_stage("lead"):
        facts = [fact for fact in (opening_fact(ctx, topic),) if fact]
        opening = [Sentence(fact.text, (fact.citation,)) for fact in facts]
        told = in_own_words(ctx, opening, facts, topic, alone=True)
        moved = _spare(ctx, topic, sections, told)
        left = tuple(_without(section, moved) for section in sections)
        return _paragraph(ctx, (*told, *moved)), left


def _paragraph(ctx: RunContext, sentences: tuple[Sentence, ...]) -> tuple[Paragraph, ...]:
    if not sentences:
        ctx.events.degraded("the article has no lead: nothing that the model wrote is supported by the body")
    return (Paragraph(sentences),) if sentences else ()


def _supported(ctx: RunContext, topic: str, sections: tuple[Section, ...], body: list[Fact]) -> list[Sentence]:
    """The model's lead: what of it the body supports."""
    reply = ctx.ask("writer", ctx.programs.lead, topic=topic, article=_plain(sections)).lead
    cited = parse_cited(reply, ())
    whole = [s for s in cited.sentences if is_complete(s.text)]
    bare = [replace(fact, title="") for fact in body]  # as polish embeds them meanwhile
    checked = check_support(whole, bare, known=topic, embed=ctx.store.embed)
    ctx.events.count(dropped_unsupported=checked.unsupported, dropped_faulty=len(cited.sentences) - len(whole))
    return [s for s in checked.sentences if s.citations]


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
            if names(ctx.store.source(sentence.citations[0].source_id).title, topic)
            and (not said.shape[1] or said[i].max() < _THE_SAME)
        ]
        if new:
            moved.append(own[max(new, key=lambda i: likeness[i])])
    return tuple(moved)


def _without(section: Section, moved: Sequence[Sentence]) -> Section:
    return Section(section.heading, in_paragraphs([s for s in section.sentences() if s not in moved]))


def _plain(sections: tuple[Section, ...]) -> str:
    """The body as text, each section cut to an equal share of what may be shown."""
    texts = [" ".join(s.text for s in section.sentences()) for section in sections]
    share = _LONGEST_ARTICLE // max(1, len(sections))
    return "\n".join(
        f"# {section.heading}\n{text if word_count(text) <= share else truncate_sentences(text, share)}"
        for section, text in zip(sections, texts, strict=True)
    )
