"""Polishes lead and body, and assembles the article with its research (paper section 3.4)."""

from storm_pipeline.errors import NothingFoundError
from storm_pipeline.evidence.changing import one_source_per_text
from storm_pipeline.evidence.citations import cited_snippet_ids
from storm_pipeline.evidence.evidence import Evidence
from storm_pipeline.evidence.judges.spans import with_spans
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.editing import edit_article
from storm_pipeline.method.writers.lead import write_lead
from storm_pipeline.types import UNTITLED, Article, Body, Conversation, Outline, Section


def finish(ctx: RunContext, topic: str, sections: tuple[Section, ...], evidence: Evidence) -> Body:
    """Edit the sections and write a lead that summarises them.

    Raises NothingFoundError: there is no section.
    """
    _require_sections(ctx, topic, sections)
    edited = edit_article(ctx, evidence.outline.topic, sections)
    body = Body(write_lead(ctx, evidence.outline.topic, edited), edited)
    ctx.run.save_json("polished.json", body.sections)
    ctx.run.save_json("lead.json", body.lead)
    return body


def as_article(
    ctx: RunContext,
    outline: Outline,
    body: Body,
    conversations: tuple[Conversation, ...] = (),
    evidence: Evidence | None = None,
    *,
    note: str = "",
) -> Article:
    """Return the article with its sources and conversations; a lead without sections becomes a section.

    Pages with the same text are one source, and each citation has the positions of the deciding words in its passage.

    Raises NothingFoundError: there is neither.

    ``note``: for readers of an extract, which may consist of a lead alone.
    """
    if not (note and body.lead):
        if not body.sections and body.lead:
            body = Body((), (Section(UNTITLED, body.lead),))
        _require_sections(ctx, outline.topic, body.sections)
    editions = ctx.store.editions()
    _count_flow(ctx, body, tuple(map(editions.restated, conversations)), evidence)
    article = Article(
        outline.topic,
        body.lead,
        body.sections,
        outline=outline,
        conversations=conversations,
        language=ctx.settings.article_language,
        note=note,
    )
    return with_spans(one_source_per_text(article, editions))


def _require_sections(ctx: RunContext, topic: str, sections: tuple[Section, ...]) -> None:
    if not sections:
        ctx.run.journal.forget("reply", role="writer")
        why = ctx.ledger.failure_summary() or "the sources say too little, or what was written disagrees with them"
        raise NothingFoundError(f"no section of an article on {topic!r} could be written: {why}")


def _count_flow(
    ctx: RunContext, body: Body, conversations: tuple[Conversation, ...], evidence: Evidence | None
) -> None:
    """Count the snippets cited in interviews, and those of them offered to sections and cited in the article."""
    cited = cited_snippet_ids(sentence for c in conversations for turn in c.turns for sentence in turn.answer)
    used = cited_snippet_ids(s for p in body.lead for s in p.sentences)
    used |= cited_snippet_ids(s for section in body.sections for s in section.sentences())
    offered = evidence.snippet_ids() if evidence else frozenset[str]()
    ctx.events.count(
        cited_in_interviews=len(cited), offered_to_sections=len(cited & offered), cited_in_article=len(cited & used)
    )
