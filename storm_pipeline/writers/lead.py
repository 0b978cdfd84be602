"""The lead: a summary of the whole article that opens it (paper section 3.4)."""

from dataclasses import replace

from storm_pipeline.context import RunContext
from storm_pipeline.errors import ModelError
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.facts import Fact
from storm_pipeline.references.support import check_support
from storm_pipeline.sentences import is_complete, truncate_sentences
from storm_pipeline.text import word_count
from storm_pipeline.types import Paragraph, Section, Sentence
from storm_pipeline.writers.rewording import in_own_words

_LONGEST_ARTICLE = 3000
"""Words of the article shown to the writer of the lead."""


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
        return lead_of(ctx, in_own_words(ctx, told, body, topic))


def lead_of(ctx: RunContext, sentences: tuple[Sentence, ...]) -> tuple[Paragraph, ...]:
    """One paragraph; none, and that is recorded, where there is no sentence."""
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


def _plain(sections: tuple[Section, ...]) -> str:
    """The body as text, each section cut to an equal share of what may be shown."""
    texts = [" ".join(s.text for s in section.sentences()) for section in sections]
    share = _LONGEST_ARTICLE // max(1, len(sections))
    return "\n".join(
        f"# {section.heading}\n{text if word_count(text) <= share else truncate_sentences(text, share)}"
        for section, text in zip(sections, texts, strict=True)
    )
