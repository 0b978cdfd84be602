"""Another round of research: looks up questions that the draft leaves open, and revises the sections concerned.

Not in the paper; a part of the recipe ``storm+gaps``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import ModelError
from storm_pipeline.references.evidence import Evidence, SectionEvidence
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.journal import at_place
from storm_pipeline.steps.conversations import look_up
from storm_pipeline.steps.exclusions import sections_without_copies, without_copies
from storm_pipeline.types import LATER_ROUND, Conversation, Outline, Perspective, Section
from storm_pipeline.writers.section_loop import write_sections

_QUESTIONS = 6
"""Questions per round."""


@dataclass(frozen=True)
class DraftedSections:
    """Sections with the research that they were written from."""

    sections: tuple[Section, ...]
    evidence: Evidence[Any]
    conversations: tuple[Conversation, ...]


def answer_open_questions(ctx: RunContext, written: DraftedSections, number: int) -> DraftedSections:
    """Ask what a reader would still want to know, look it up, and revise the sections with new evidence.

    If the model fails or nothing new is found, the draft is returned unchanged; a failure is recorded.

    Args:
        ctx: the run.
        written: the draft.
        number: number of the round, from 2.
    """
    topic = written.evidence.outline.topic
    with at_place(f"round {number}"):
        held = _look_up_what_is_open(ctx, topic, written, number)
        if held is None:
            return written
        conversations = without_copies(ctx, (*written.conversations, held))
        written = replace(written, sections=sections_without_copies(ctx, written.sections))
        ctx.run.save_json("conversations.json", conversations)
        with ctx.events.in_stage("evidence"):
            evidence = ctx.writer.gather(ctx, written.evidence.outline, conversations, written.evidence)
        before = {own.heading.title: own for own in written.evidence.sections}
        extended = [own for own in evidence.sections if own.adds_to(before.get(own.heading.title))]
        if not extended:
            return written
        anew = write_sections(ctx, evidence.outline, extended, lambda own: _revised(ctx, evidence, own, written))
    return DraftedSections(_replaced(evidence.outline, written.sections, anew), evidence, conversations)


def _revised(ctx: RunContext, evidence: Evidence[Any], own: SectionEvidence, written: DraftedSections) -> Section:
    """The existing section revised with the new evidence, or a new section.

    Raises:
        ModelError: the model fails.
    """
    title = own.heading.title
    section = next((section for section in written.sections if section.heading == title), None)
    before = next((old for old in written.evidence.sections if old.heading.title == title), None)
    if section is None or before is None:
        return ctx.writer.section(ctx, evidence.outline, own)
    return ctx.writer.revise(ctx, evidence.outline, own, before, section)


def _look_up_what_is_open(ctx: RunContext, topic: str, written: DraftedSections, number: int) -> Conversation | None:
    """A reader's open questions with their answers; None if there are none."""
    with ctx.events.in_stage("open questions"):
        try:
            questions = ctx.ask(
                "asker",
                ctx.programs.open_questions,
                topic=topic,
                language=ctx.settings.language_name,
                article=_plain(written.sections),
                number=_QUESTIONS,
            ).questions
            asked = list(dict.fromkeys(" ".join(question.split()) for question in questions if question.strip()))
            earlier = [turn for conversation in written.conversations for turn in conversation.turns]
            turns = parallel_map(
                lambda question: look_up(ctx, topic, question, earlier), asked[:_QUESTIONS], workers=_QUESTIONS
            )
        except ModelError as error:
            ctx.events.failed(f"round {number} of research", error)
            return None
    answered = tuple(turn for turn in turns if turn.answer)
    return Conversation(Perspective(f"Reader {number}", LATER_ROUND), answered) if answered else None


def _plain(sections: Sequence[Section]) -> str:
    return "\n".join(
        f"# {section.heading}\n" + " ".join(sentence.text for sentence in section.sentences()) for section in sections
    )


def _replaced(outline: Outline, sections: Sequence[Section], anew: Sequence[Section]) -> tuple[Section, ...]:
    """The sections in outline order, revised ones in place of the old ones."""
    known = {section.heading: section for section in sections} | {section.heading: section for section in anew}
    planned = [known.pop(heading.title) for heading in outline.sections if heading.title in known]
    return (*planned, *known.values())
