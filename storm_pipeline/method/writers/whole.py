"""The paper's writing method, for capable models: each section in one call from passages, the lead from the body."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from storm_pipeline.evidence.evidence import Evidence, PassageEvidence, words_of_sections
from storm_pipeline.evidence.passages import numbered_passages, passages
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.draft_checks import checked_draft
from storm_pipeline.method.writers.passage_prompts import article_inputs, conversations_with_markers, section_inputs
from storm_pipeline.types import UNTITLED, Conversation, Heading, Outline, Section, Snippet


def evidence_from(ctx: RunContext, outline: Outline, snippets: Iterable[Snippet], sections: int = 1) -> Evidence:
    """Return the evidence of each section of an outline: all of these snippets, in order.

    ``sections``: number of sections that share the article's length with this part of it.
    """
    snippets = tuple(snippets)
    return Evidence(outline, tuple(_whole(ctx, heading, snippets, sections) for heading in outline.sections))


def evidence_cited(ctx: RunContext, outline: Outline, conversations: Sequence[Conversation]) -> Evidence:
    """Return the evidence of each section of an outline: all snippets that the conversations cite."""
    return evidence_from(ctx, outline, map(ctx.store.snippet, _cited(conversations)))


def write_whole(
    ctx: RunContext, outline: Outline, evidence: PassageEvidence, conversations: Sequence[Conversation] = ()
) -> Section:
    """Write a section, possibly empty, from its evidence; an article without an outline is one with subsections.

    One call, plus one for sentences returned to the writer for revision. Raises ModelError: the model fails.
    ``conversations``: interviews shown in full, if the article is not divided.
    """
    ctx.events.count(words_asked=evidence.target_words)
    if not outline.sections:
        return _undivided(ctx, evidence, conversations)
    inputs, where = section_inputs(ctx, outline, evidence), evidence.heading.title
    text = ctx.ask("writer", ctx.programs.section, **inputs).text
    blocks = checked_draft(ctx, inputs, text, evidence.passages, where=where, headings=tuple(evidence.heading.titles()))
    return _as_section(evidence.heading, blocks)


def _undivided(ctx: RunContext, evidence: PassageEvidence, conversations: Sequence[Conversation]) -> Section:
    """Write the article in one call: its lead, and its sections as subsections."""
    inputs = {
        **article_inputs(ctx, evidence.target_words),
        "passages": numbered_passages(evidence.passages),
        "interviews": conversations_with_markers(conversations, evidence.passages),
    }
    text = ctx.ask("writer", ctx.programs.article, **inputs).text
    blocks = checked_draft(ctx, inputs, text, evidence.passages, where=ctx.brief.topic)
    return Section(UNTITLED, blocks[0].paragraphs, tuple(block for block in blocks[1:] if block.paragraphs))


def _whole(ctx: RunContext, heading: Heading, snippets: Iterable[Snippet], number: int) -> PassageEvidence:
    """Return evidence without findings for one of ``number`` equally long parts of the article."""
    words, *_ = words_of_sections(ctx.brief.length, [1] * number, [math.inf] * number)
    return PassageEvidence(heading, passages(snippets, language=ctx.brief.language), target_words=words)


def _cited(conversations: Sequence[Conversation]) -> Iterable[str]:
    """Return the ids of the snippets that answers cite, in order."""
    answers = (sentence for c in conversations for turn in c.turns for sentence in turn.answer)
    return dict.fromkeys(citation.snippet_id for sentence in answers for citation in sentence.citations)


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
