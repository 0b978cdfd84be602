"""Whole articles written in one call, as the baselines do instead of section by section (paper section 4.3)."""

from collections.abc import Sequence

from storm_pipeline.references.evidence import SectionEvidence, words_asked
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.writer import Writing
from storm_pipeline.text.outlines import outline_to_markdown
from storm_pipeline.types import Body, Conversation, Outline, Paragraph, Section, Sentence
from storm_pipeline.writers.drafts import read_draft
from storm_pipeline.writers.passage_prompts import article_inputs


def write_article(
    ctx: RunContext, topic: str, evidence: SectionEvidence, conversations: Sequence[Conversation] = ()
) -> Body:
    """The article from evidence that is not divided into sections, and from whole conversations if there are any.

    Raises ModelError: the writer fails.
    """
    with ctx.events.in_stage("article"):
        whole = ctx.writer.write(ctx, Writing(Outline(topic), evidence, conversations=conversations))
        return Body(whole.paragraphs, whole.subsections)


def write_from_memory(ctx: RunContext, outline: Outline) -> Body:
    """The article from the model's own knowledge, in one call; its sentences have no citations.

    Without an outline the model divides the article into sections itself. Raises ModelError: the writer fails.
    """
    with ctx.events.in_stage("article"):
        text = ctx.ask(
            "writer",
            ctx.programs.memory,
            **article_inputs(ctx, outline.topic, words_asked(ctx.settings.article_words)),
            outline=outline_to_markdown(outline),
        ).text
    blocks = [
        (block.heading, tuple(Paragraph(tuple(Sentence(claim.text) for claim in own)) for own in block.paragraphs))
        for block in read_draft(text, 0, ctx.settings.article_language).blocks
    ]
    (_, lead), *sections = blocks
    return Body(lead, tuple(Section(heading, paragraphs) for heading, paragraphs in sections if heading and paragraphs))
