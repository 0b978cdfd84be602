"""The paper's writing method, for capable models: each section in one call from passages, the lead from the body."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from storm_pipeline.languages import count_words
from storm_pipeline.models.programs import Program
from storm_pipeline.references.citations import cited_snippet_ids
from storm_pipeline.references.evidence import Evidence, PassageEvidence, words_asked
from storm_pipeline.references.passages import numbered_passages, passages
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.writer import Material, Writing
from storm_pipeline.types import UNTITLED, Answer, Body, Conversation, Heading, Outline, Section, Snippet
from storm_pipeline.writers.allocation import allocate, survey
from storm_pipeline.writers.changes import changed, read_changes
from storm_pipeline.writers.draft_checks import checked_draft
from storm_pipeline.writers.drafts import Draft, read_draft, without_prompt_lines
from storm_pipeline.writers.editing import edit_article
from storm_pipeline.writers.lead import write_lead
from storm_pipeline.writers.passage_answers import answer_from_passages
from storm_pipeline.writers.passage_prompts import (
    article_inputs,
    conversations_with_markers,
    section_inputs,
    with_markers,
)

_PLAIN_DATA = (
    "the first section tells the plain data that readers look up: of a person life dates and offices; of a place where "
    "it lies, size and owners; of an event date, place and parties; of a work or product kind, makers, language and "
    "length; of an organism kin, size and range; of an idea author and claim; of an organisation founders, seat and "
    "purpose; of a court case court, parties and outcome. The article's opening, written later, is the overview: no "
    "section gives one, and none tells again what another one tells"
)
_NEW_HEADINGS = 1  # subheadings that a revision may add to a section
_NOTHING = "none"  # the reply of a revision that changes nothing
_NEW_SUBSECTION = 3  # minimum number of sentences under a subheading that a revision adds


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
            return allocate(ctx, outline, material.conversations, material.before, material.draft)
        found = material.only or [ctx.store.snippet(snippet_id) for snippet_id in _cited(material.conversations)]
        return Evidence(outline, tuple(_whole(ctx, one, found, 1 / material.sections) for one in outline.sections))

    def write(self, ctx: RunContext, writing: Writing[PassageEvidence]) -> Section:
        """The text in one call, plus one for sentences sent back to the writer. Raises ModelError: the model fails."""
        if writing.before:
            section, before = writing.before
            return _revised(ctx, writing.outline, writing.evidence, before, section)
        if not writing.outline.sections:
            return _undivided(ctx, writing.outline.topic, writing.evidence, writing.conversations)
        return _section(ctx, writing.outline, writing.evidence)

    def finish(self, ctx: RunContext, sections: tuple[Section, ...], evidence: Evidence[PassageEvidence]) -> Body:
        """The edited sections, and a lead that summarises them."""
        edited = edit_article(ctx, evidence.outline.topic, sections)
        return Body(write_lead(ctx, evidence.outline.topic, edited), edited)


def _section(ctx: RunContext, outline: Outline, evidence: PassageEvidence) -> Section:
    inputs = section_inputs(ctx, outline, evidence)
    known = (outline.topic, *evidence.heading.titles())
    asked = _Asked(ctx, ctx.programs.section, inputs, evidence, where=evidence.heading.title, known=known)
    return _as_section(evidence.heading, asked.written())


def _revised(
    ctx: RunContext, outline: Outline, evidence: PassageEvidence, before: PassageEvidence, section: Section
) -> Section:
    """The section changed to tell new findings too; the prompt shows the passages of these alone.

    What the reply does not name stays as it is. Remarks on a revision come with whatever passages they concern.
    """
    new = evidence.since(before, section)
    more = sum(count_words(finding.text) for finding in new.own_findings)
    inputs = {
        **section_inputs(ctx, outline, replace(new, findings=new.own_findings, target_words=more or new.target_words)),
        "passages": numbered_passages(new.passages, _told_anew(new)),
        "written": with_markers(section, new.passages, count(1)),
    }
    known = (outline.topic, *new.heading.titles())
    asked = _Asked(ctx, ctx.programs.revise, inputs, new, where=new.heading.title, known=known)
    reply = asked.reply()
    if reply.strip(" .\n").casefold() == _NOTHING:
        return section
    changes, draft = read_changes(reply, len(new.passages), section, ctx.settings.article_language, known)
    blocks = asked.checked(draft)
    edited = changed(section, changes, blocks[: len(changes)])
    parts = {own.heading: own for own in (Section("", edited.paragraphs), *edited.subsections)}
    new_headings = _NEW_HEADINGS + len({*parts} - {*new.heading.titles()} - {""})
    for block in blocks[len(changes) :]:
        stands = parts.get(block.heading, Section(block.heading))
        parts[block.heading] = replace(stands, paragraphs=(*stands.paragraphs, *block.paragraphs))
    revised = _as_section(new.heading, list(parts.values()), new_headings)
    if revised == section:
        ctx.events.degraded(
            f"section {section.heading!r} kept as it was: its revision changes nothing that can be kept"
        )
    return revised


def _told_anew(new: PassageEvidence) -> list[int]:
    """Positions of the passages that new findings cite; of all without findings.

    Others were retrieved, and no answer found anything in them.
    """
    needed = cited_snippet_ids(new.own_findings)
    told = [i for i, own in enumerate(new.passages) if not needed.isdisjoint(own.snippet_ids)]
    return told or list(range(len(new.passages)))


def _undivided(
    ctx: RunContext, topic: str, evidence: PassageEvidence, conversations: Sequence[Conversation]
) -> Section:
    """The article in one call: its lead, and its sections below."""
    inputs = {
        **article_inputs(ctx, topic, evidence.target_words),
        "passages": numbered_passages(evidence.passages),
        "interviews": conversations_with_markers(conversations, evidence.passages),
    }
    blocks = _Asked(ctx, ctx.programs.article, inputs, evidence, where=topic, known=(topic,)).written()
    return Section(UNTITLED, blocks[0].paragraphs, tuple(block for block in blocks[1:] if block.paragraphs))


def _whole(ctx: RunContext, heading: Heading, found: Iterable[Snippet], part: float) -> PassageEvidence:
    """Evidence of a part of the article that no interview found anything for."""
    shown = passages(found, language=ctx.settings.article_language)
    return PassageEvidence(heading, shown, target_words=words_asked(ctx.settings.article_words, part))


def _cited(conversations: Sequence[Conversation]) -> Iterable[str]:
    """Ids of the snippets that answers cite, in order."""
    answers = (sentence for c in conversations for turn in c.turns for sentence in turn.answer)
    return dict.fromkeys(citation.snippet_id for sentence in answers for citation in sentence.citations)


@dataclass(frozen=True)
class _Asked:
    """A text that the writer is asked for, with the passages that it is checked against."""

    ctx: RunContext
    program: Program
    inputs: dict[str, object]
    evidence: PassageEvidence
    where: str  # name of the text in the record
    known: tuple[str, ...]  # topic and headings

    def reply(self) -> str:
        """Raises ModelError: the model fails."""
        reply = str(self.ctx.ask("writer", self.program, **self.inputs, remarks="").text)
        return without_prompt_lines(reply, self.inputs)

    def checked(self, draft: Draft) -> list[Section]:
        """The draft's blocks; unsupported sentences were sent back once, with their passages."""
        return checked_draft(
            self.ctx,
            self.program,
            self.inputs,
            draft,
            self.evidence.passages,
            where=self.where,
            known=self.known,
        )

    def written(self) -> list[Section]:
        """The checked blocks of the reply. Raises ModelError: the model fails."""
        draft = read_draft(self.reply(), len(self.evidence.passages), self.ctx.settings.article_language, self.known)
        return self.checked(draft)


def _as_section(heading: Heading, blocks: Sequence[Section], new_headings: int = 0) -> Section:
    """The blocks under the section's heading.

    Text under an unplanned heading joins the text before it, except under the first ``new_headings`` of them whose text
    fills a subsection.
    """
    planned = {title.casefold(): title for title in heading.titles() if title != heading.title}
    parts = [Section(heading.title)]
    for block in blocks:
        title = planned.pop(block.heading.casefold(), None)
        if title is None and new_headings and _fills_subsection(block) and block.heading != heading.title:
            title, new_headings = block.heading, new_headings - 1
        if title:
            parts.append(Section(title, block.paragraphs))
        else:
            parts[-1] = replace(parts[-1], paragraphs=(*parts[-1].paragraphs, *block.paragraphs))
    return replace(parts[0], subsections=tuple(part for part in parts[1:] if part.paragraphs))


def _fills_subsection(block: Section) -> bool:
    return bool(block.heading) and sum(1 for _ in block.sentences()) >= _NEW_SUBSECTION
