"""The lead: a summary of the whole article that opens it (paper section 3.4)."""

from collections.abc import Sequence
from dataclasses import replace

from storm_pipeline.context import RunContext
from storm_pipeline.errors import ModelError
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.facts import Fact, facts_of
from storm_pipeline.references.support import check_support
from storm_pipeline.sentences import is_complete, truncate_sentences
from storm_pipeline.steps.wording import LONGEST_RUN, in_own_words, stands_alone
from storm_pipeline.text import word_count
from storm_pipeline.types import Paragraph, Section, Sentence

_LONGEST_ARTICLE = 3000
"""Words of the article shown to the writer of the lead."""
_MOST_SENTENCES = 6
_BEST_SOURCES = 3
_THE_SAME = 0.8
"""Cosine from which on two sentences say the same."""


def write_lead(ctx: RunContext, topic: str, sections: tuple[Section, ...]) -> tuple[Paragraph, ...]:
    """Write the lead; its sentences cite what the body sentences cite that they rest on.

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
            alone = ctx.settings.by_sentence
            opening = _defining(ctx, topic) if alone else ()
            told = _most_telling(ctx, topic, sections, opening) if alone else _whole(ctx, topic, sections, body)
        except ModelError as error:
            ctx.events.failed("no lead", error)
            return ()
        kept = in_own_words(ctx, told, [*opening, *body], topic, alone=alone)
        if not kept:
            ctx.events.degraded("the article has no lead: nothing that the model wrote is supported by the body")
        return (Paragraph(kept),) if kept else ()


def _whole(ctx: RunContext, topic: str, sections: tuple[Section, ...], body: list[Fact]) -> list[Sentence]:
    """The lead in one call, as in the paper: what of it the body supports."""
    reply = ctx.ask("writer", ctx.programs.lead, topic=topic, article=_plain(sections)).lead
    cited = parse_cited(reply, ())
    whole = [s for s in cited.sentences if is_complete(s.text)]
    bare = [replace(fact, title="") for fact in body]  # as polish embeds them meanwhile
    checked = check_support(whole, bare, known=topic, embed=ctx.store.embed)
    ctx.events.count(dropped_unsupported=checked.unsupported, dropped_faulty=len(cited.sentences) - len(whole))
    return [s for s in checked.sentences if s.citations]


def _defining(ctx: RunContext, topic: str) -> tuple[Fact, ...]:
    """The fact of the best sources that is nearest to the topic: what it is. None where they have no whole sentence."""
    found = ctx.store.search_fused([topic], _BEST_SOURCES)
    facts = [fact for snippet in found for fact in facts_of(snippet) if stands_alone(fact.text)]
    if not facts:
        return ()
    likeness = ctx.store.embed([fact.in_context for fact in facts]) @ ctx.store.embed([topic])[0]
    return (facts[int(likeness.argmax())],)


def _most_telling(
    ctx: RunContext, topic: str, sections: tuple[Section, ...], opening: Sequence[Fact]
) -> list[Sentence]:
    """The opening, then of each section the cited sentence nearest to the topic that says something else.

    A small model that sums up a whole article ties together what does not belong together. What is too short to be
    said in other words is passed over.
    """
    told = [Sentence(fact.text, (fact.citation,)) for fact in opening]
    known = [fact.in_context for fact in opening]
    for section in sections:
        long = [s for s in section.sentences() if s.citations and word_count(s.text) > LONGEST_RUN]
        if not long:
            continue
        vectors = ctx.store.embed([*(s.text for s in long), *known])
        said = vectors[: len(long)] @ vectors[len(long) :].T
        new = [i for i in range(len(long)) if not known or said[i].max() < _THE_SAME]
        if new:
            likeness = vectors[new] @ ctx.store.embed([topic])[0]
            told.append(long[new[int(likeness.argmax())]])
            known.append(told[-1].text)
    return told[:_MOST_SENTENCES]


def _plain(sections: tuple[Section, ...]) -> str:
    """The body as text, each section cut to an equal share of what may be shown."""
    texts = [" ".join(s.text for s in section.sentences()) for section in sections]
    share = _LONGEST_ARTICLE // max(1, len(sections))
    return "\n".join(
        f"# {section.heading}\n{text if word_count(text) <= share else truncate_sentences(text, share)}"
        for section, text in zip(sections, texts, strict=True)
    )
