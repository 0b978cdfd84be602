"""The paper's writing method, for capable models: each section in one call from passages, the lead from the body."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from storm_pipeline.references.evidence import Evidence, PassageEvidence, words_of_sections
from storm_pipeline.references.passages import numbered_passages, passages
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.writer import Material
from storm_pipeline.types import UNTITLED, Answer, Body, Conversation, Heading, Outline, Section, Snippet
from storm_pipeline.writers.allocation import allocate, survey
from storm_pipeline.writers.draft_checks import checked_draft
from storm_pipeline.writers.editing import edit_article
from storm_pipeline.writers.lead import write_lead
from storm_pipeline.writers.passage_answers import answer_from_passages
from storm_pipeline.writers.passage_prompts import article_inputs, conversations_with_markers, section_inputs

_PLAIN_DATA = (
    "the first section tells the plain data that readers look up: of a person life dates and offices; of a place where "
    "it lies, size and owners; of an event date, place and parties; of a work or product kind, makers, language and "
    "length; of an organism kin, size and range; of an idea author and claim; of an organisation founders, seat and "
    "purpose; of a court case court, parties and outcome. The article's opening, written later, is the overview: no "
    "section gives one, and none tells again what another one tells"
)


class WholeWriter:
    """Writes each section in one call, from all of its passages (:class:`storm_pipeline.run.writer.Writer`)."""

    sections = f"{{fewest}} to {{most}} sections; {_PLAIN_DATA}"
    note = ""

    def answer(
        self, ctx: RunContext, topic: str, question: str, found: Sequence[Snippet], beside: Sequence[Snippet] = ()
    ) -> Answer:
        """An answer from the best passages of the pages found. Raises ModelError: the model fails."""
        return answer_from_passages(ctx, topic, question, found, beside)

    def survey(self, ctx: RunContext, material: Material[PassageEvidence]) -> str:
        """The evidence for each heading of the draft, and the findings that match no heading."""
        return survey(ctx, material.outline, material.conversations)

    def gather(self, ctx: RunContext, material: Material[PassageEvidence]) -> Evidence[PassageEvidence]:
        """The passages that interviews cite, and those that the headings retrieve; of given snippets all, in order."""
        outline = material.outline
        if material.only is None:
            return allocate(ctx, outline, material.conversations, material.notes)
        found = material.only or [ctx.store.snippet(snippet_id) for snippet_id in _cited(material.conversations)]
        return Evidence(outline, tuple(_whole(ctx, one, found, material.sections) for one in outline.sections))

    def write(
        self, ctx: RunContext, outline: Outline, evidence: PassageEvidence, conversations: Sequence[Conversation] = ()
    ) -> Section:
        """The text in one call, plus one for sentences sent back to the writer. Raises ModelError: the model fails."""
        ctx.events.count(words_asked=evidence.target_words)
        if not outline.sections:
            return _undivided(ctx, outline.topic, evidence, conversations)
        inputs, where = section_inputs(ctx, outline, evidence), evidence.heading.title
        known = (outline.topic, *evidence.heading.titles())
        text = ctx.ask("writer", program := ctx.programs.section, **inputs, remarks="").text
        blocks = checked_draft(ctx, program, inputs, text, evidence.passages, where=where, known=known)
        return _as_section(evidence.heading, blocks)

    def finish(self, ctx: RunContext, sections: tuple[Section, ...], evidence: Evidence[PassageEvidence]) -> Body:
        """The edited sections, and a lead that summarises them."""
        edited = edit_article(ctx, evidence.outline.topic, sections)
        return Body(write_lead(ctx, evidence.outline.topic, edited), edited)


def _undivided(
    ctx: RunContext, topic: str, evidence: PassageEvidence, conversations: Sequence[Conversation]
) -> Section:
    """The article in one call: its lead, and its sections below."""
    inputs = {
        **article_inputs(ctx, topic, evidence.target_words),
        "passages": numbered_passages(evidence.passages),
        "interviews": conversations_with_markers(conversations, evidence.passages),
    }
    text = ctx.ask("writer", program := ctx.programs.article, **inputs, remarks="").text
    blocks = checked_draft(ctx, program, inputs, text, evidence.passages, where=topic, known=(topic,))
    return Section(UNTITLED, blocks[0].paragraphs, tuple(block for block in blocks[1:] if block.paragraphs))


def _whole(ctx: RunContext, heading: Heading, found: Iterable[Snippet], number: int) -> PassageEvidence:
    """Evidence of one of so many parts of the article that no interview found anything for."""
    words, *_ = words_of_sections(ctx.settings.article_words, [1] * number, [math.inf] * number)
    return PassageEvidence(heading, passages(found, language=ctx.settings.article_language), target_words=words)


def _cited(conversations: Sequence[Conversation]) -> Iterable[str]:
    """Ids of the snippets that answers cite, in order."""
    answers = (sentence for c in conversations for turn in c.turns for sentence in turn.answer)
    return dict.fromkeys(citation.snippet_id for sentence in answers for citation in sentence.citations)


def _as_section(heading: Heading, blocks: Sequence[Section]) -> Section:
    """The blocks under the section's heading; text under an unplanned heading joins the text before it."""
    planned = {title.casefold(): title for title in heading.titles() if title != heading.title}
    parts = [Section(heading.title)]
    for block in blocks:
        if title := planned.pop(block.heading.casefold(), None):
            parts.append(Section(title, block.paragraphs))
        else:
            parts[-1] = replace(parts[-1], paragraphs=(*parts[-1].paragraphs, *block.paragraphs))
    return replace(parts[0], subsections=tuple(part for part in parts[1:] if part.paragraphs))
