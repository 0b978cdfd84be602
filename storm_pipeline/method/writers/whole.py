"""The paper's writing method, for capable models: each section in one call from passages, the lead from the body."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from storm_pipeline.evidence.evidence import PassageEvidence, words_of_sections
from storm_pipeline.evidence.passages import numbered_passages, passages
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.draft_checks import check_draft
from storm_pipeline.method.writers.passage_prompts import article_inputs, conversations_with_markers, section_inputs
from storm_pipeline.types import UNTITLED, Body, Conversation, Heading, Outline, Section, Snippet


def evidence_from(ctx: RunContext, heading: Heading, snippets: Iterable[Snippet], parts: int = 1) -> PassageEvidence:
    """Return the evidence, without findings, of one of ``parts`` equally long parts of the article."""
    words, *_ = words_of_sections(ctx.brief.length, [1] * parts, [math.inf] * parts)
    return PassageEvidence(heading, passages(snippets, language=ctx.brief.language), target_words=words)


def evidence_cited(ctx: RunContext, conversations: Sequence[Conversation]) -> PassageEvidence:
    """Return the evidence of a whole article: all snippets that the conversations cite."""
    answers = (sentence for c in conversations for turn in c.turns for sentence in turn.answer)
    ids = dict.fromkeys(citation.snippet_id for sentence in answers for citation in sentence.citations)
    return evidence_from(ctx, Heading(UNTITLED), map(ctx.store.snippet, ids))


def write_whole(ctx: RunContext, outline: Outline, evidence: PassageEvidence) -> Section:
    """Write a section, possibly empty, from its evidence.

    One call, plus one for sentences returned to the writer for revision. Raises ModelError: the model fails.
    """
    ctx.events.count(words_asked=evidence.target_words)
    inputs, where = section_inputs(ctx, outline, evidence), evidence.heading.title
    text = ctx.ask("writer", ctx.programs.section, **inputs).text
    blocks = check_draft(ctx, inputs, text, evidence.passages, where=where, headings=tuple(evidence.heading.titles()))
    return _as_section(evidence.heading, blocks)


def write_article(ctx: RunContext, evidence: PassageEvidence, conversations: Sequence[Conversation] = ()) -> Body:
    """Write a whole article from evidence that is not divided into sections, as :func:`write_whole` writes a section.

    ``conversations``: interviews that are shown in full.
    """
    with ctx.events.in_stage("article"):
        ctx.events.count(words_asked=evidence.target_words)
        inputs = {
            **article_inputs(ctx, evidence.target_words),
            "passages": numbered_passages(evidence.passages),
            "interviews": conversations_with_markers(conversations, evidence.passages),
        }
        text = ctx.ask("writer", ctx.programs.article, **inputs).text
        return as_body(check_draft(ctx, inputs, text, evidence.passages, where=ctx.brief.topic))


def as_body(blocks: Sequence[Section]) -> Body:
    """Return an article's text from its blocks, of which the first, without a heading, is the lead."""
    return Body(blocks[0].paragraphs, tuple(block for block in blocks[1:] if block.paragraphs))


def _as_section(heading: Heading, blocks: Sequence[Section]) -> Section:
    """Put the blocks under the section's heading; text under an unplanned heading is added to the text before it."""
    planned = {title.casefold(): title for title in heading.titles() if title != heading.title}
    parts = [Section(heading.title)]
    for block in blocks:
        if title := planned.pop(block.heading.casefold(), None):
            parts.append(Section(title, block.paragraphs))
        else:
            parts[-1] = replace(parts[-1], paragraphs=(*parts[-1].paragraphs, *block.paragraphs))
    return replace(parts[0], subsections=tuple(part for part in parts[1:] if part.paragraphs))
