"""Another round of research: looks up questions that the draft leaves open, and revises the sections concerned.

Not in the paper; a part of the recipe ``storm-iterative``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import ModelError
from storm_pipeline.references.citations import cited_snippet_ids
from storm_pipeline.references.cleaning import has_sentences
from storm_pipeline.references.evidence import Evidence, SectionEvidence
from storm_pipeline.references.passages import Passage, numbered_passages, passages, within_budget
from storm_pipeline.retrieval.lexical import LexicalIndex
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.journal import at_place
from storm_pipeline.run.writer import Material, Writing
from storm_pipeline.steps.conversations import look_up
from storm_pipeline.steps.exclusions import sections_without_copies, without_copies
from storm_pipeline.types import LATER_ROUND, Conversation, Outline, Perspective, Section, Sentence, Snippet
from storm_pipeline.writers.section_loop import write_sections

_LEAST_KEPT = 0.5  # minimum share of a section's sentences that its revision has; with fewer, the reply was unusable
_QUESTIONS = 6  # questions per round
_UNUSED = 40
"""Most snippets found for the topic that whoever asks is shown: uncited ones whole, of others what is not told."""
_UNUSED_SHARE = 0.5  # maximum length of what is shown of them, as a share of a section's evidence
_PROMPTING, _STORED = 2, 5  # passages that a question may go back to, and snippets of earlier searches, for an answer


@dataclass(frozen=True)
class DraftedSections:
    """Sections with the research that they were written from."""

    sections: tuple[Section, ...]
    evidence: Evidence[Any]
    conversations: tuple[Conversation, ...]


def answer_open_questions(ctx: RunContext, written: DraftedSections, number: int) -> DraftedSections:
    """Ask what a reader would still want to know, look it up, and revise the sections with new evidence.

    If the model fails or nothing new is found, the draft is returned unchanged; a failure is recorded. ``number``:
    number of the round, from 2.
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
            found = Material(written.evidence.outline, conversations, written.evidence, _plain(written.sections))
            evidence = ctx.writer.gather(ctx, found)
        before = {own.heading.title: own for own in written.evidence.sections}
        extended = [own for own in evidence.sections if own.adds_to(before.get(own.heading.title))]
        if not extended:
            return written
        anew = write_sections(ctx, evidence.outline, extended, lambda own: _revised(ctx, evidence, own, written))
    return DraftedSections(_replaced(evidence.outline, written.sections, anew), evidence, conversations)


def _revised(ctx: RunContext, evidence: Evidence[Any], own: SectionEvidence, written: DraftedSections) -> Section:
    """The existing section revised with the new evidence, or a new section.

    A section of which the revision leaves less than half of the sentences is kept as it was, and that is recorded.
    Raises ModelError: the model fails.
    """
    title = own.heading.title
    section = next((section for section in written.sections if section.heading == title), None)
    before = next((old for old in written.evidence.sections if old.heading.title == title), None)
    if section is None or before is None:
        return ctx.writer.write(ctx, Writing(evidence.outline, own))
    revised = ctx.writer.write(ctx, Writing(evidence.outline, own, before=(section, before)))
    lengths = [sum(1 for _ in one.sentences()) for one in (revised, section)]
    if lengths[0] < _LEAST_KEPT * lengths[1]:
        ctx.events.degraded(
            f"section {title!r} kept as it was: its revision has {lengths[0]} of {lengths[1]} sentences"
        )
        return section
    return revised


def _look_up_what_is_open(ctx: RunContext, topic: str, written: DraftedSections, number: int) -> Conversation | None:
    """A reader's open questions with their answers, from what the draft does not tell; None if there are none."""
    told = [sentence for section in written.sections for sentence in section.sentences()]
    cited = sorted(cited_snippet_ids(told))
    with ctx.events.in_stage("open questions"):
        try:
            questions, shown = _open_questions(ctx, topic, written, told)
            pool = (*shown, *(own for one in cited for own in passages([ctx.store.snippet(one)])))
            index = LexicalIndex([[(passage.text, 1)] for passage in pool], floor=0.0)
            # Searched before the look-ups add to the store, so that results do not depend on their order.
            stored = {
                question: (*_asked_for(question, pool, index), *near)
                for question, near in zip(questions, ctx.store.search(questions, _STORED), strict=True)
            }
            turns = parallel_map(
                lambda question: look_up(ctx, topic, question, known=cited, stored=stored[question], deeper=True),
                questions,
                workers=_QUESTIONS,
            )
        except ModelError as error:
            ctx.events.failed(f"round {number} of research", error)
            return None
    answered = tuple(turn for turn in turns if turn.answer)
    return Conversation(Perspective(f"Reader {number}", LATER_ROUND), answered) if answered else None


def _asked_for(question: str, pool: Sequence[Passage], index: LexicalIndex) -> tuple[Snippet, ...]:
    """The passages that share most words with the question: shown to whoever asked, or cited and not told whole."""
    best = (pool[match.position] for match in islice(index.search(question), _PROMPTING))
    return tuple(snippet for passage in best for snippet in passage.snippets)


def _open_questions(
    ctx: RunContext, topic: str, written: DraftedSections, told: Sequence[Sentence]
) -> tuple[list[str], tuple[Passage, ...]]:
    """What a reader of the draft would ask, who is also shown passages that nothing cites, but for menus.

    The questions come with the passages shown. Raises ModelError: the model fails.
    """
    (found,), cited = ctx.store.search([topic], _UNUSED), cited_snippet_ids(told)
    unused = [own for own in passages(one for one in found if one.id not in cited) if has_sentences(own.text)]
    shown = within_budget(unused, round(ctx.settings.evidence_words * _UNUSED_SHARE))
    reply = ctx.ask(
        "asker",
        ctx.programs.open_questions,
        topic=ctx.about(topic),
        language=ctx.settings.language_name,
        article=_plain(written.sections),
        unused=numbered_passages(shown),
        number=_QUESTIONS,
    )
    asked = (" ".join(question.split()) for question in reply.questions)
    return list(dict.fromkeys(question for question in asked if question))[:_QUESTIONS], shown


def _plain(sections: Sequence[Section]) -> str:
    return "\n".join(
        f"# {section.heading}\n" + " ".join(sentence.text for sentence in section.sentences()) for section in sections
    )


def _replaced(outline: Outline, sections: Sequence[Section], anew: Sequence[Section]) -> tuple[Section, ...]:
    """The sections in outline order, revised ones in place of the old ones."""
    known = {section.heading: section for section in sections} | {section.heading: section for section in anew}
    planned = [known.pop(heading.title) for heading in outline.sections if heading.title in known]
    return (*planned, *known.values())
