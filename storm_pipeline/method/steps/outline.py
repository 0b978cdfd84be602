"""The outline: a draft from the topic alone, refined with the conversations (paper section 3.3)."""

from collections.abc import Mapping, Sequence
from itertools import accumulate

import dspy

from storm_pipeline.errors import ModelError, ReplyError
from storm_pipeline.evidence.facts import Fact, number_facts
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.outlines import outline_from_headings, outline_to_markdown, parse_outline
from storm_pipeline.method.writers.allocation import survey
from storm_pipeline.models.programs import Program
from storm_pipeline.settings import Settings
from storm_pipeline.signatures.examples import names_invented
from storm_pipeline.text.fitting import fair_shares
from storm_pipeline.text.languages import count_words, detect, opening_of
from storm_pipeline.types import Citation, Conversation, Heading, Outline, Snippet, Turn

_WORDS_A_SECTION, _FEWEST_SECTIONS = 350, 3
"""Target words per section, and the minimum number of sections."""
_ONCE = (
    "the article's opening, written later, is the overview: no section gives one, or the main data alone, and none "
    "tells again what another one tells"
)


def draft_outline(ctx: RunContext) -> Outline:
    """Draft an outline from the model's own knowledge; empty if the model fails, which is recorded.

    An outline supplied by the user takes its place.
    """
    if ctx.user_pieces.outline:
        return ctx.user_pieces.outline
    with ctx.events.in_stage("draft outline"):
        try:
            draft = _ask(ctx, ctx.programs.draft)
        except ModelError as error:
            ctx.events.failed("no draft outline", error)
            return Outline(ctx.brief.topic)
        ctx.run.save_text("outline-draft.md", outline_to_markdown(draft))
        return draft


def plan_outline(ctx: RunContext, sources: Sequence[Snippet]) -> Outline:
    """Plan an outline from retrieved passages alone, as in the baselines RAG, oRAG and RPRR (paper section 4.3).

    The passages have as many words as the interviews that STORM refines its outline with, shared fairly: none is cut
    before the longest ones. An outline supplied by the user takes its place. Raises ModelError: the model fails.
    """
    if ctx.user_pieces.outline:
        return ctx.user_pieces.outline
    with ctx.events.in_stage("outline"):
        shares = fair_shares([count_words(s.text) for s in sources], ctx.settings.interview_words)
        facts = [
            Fact(opening_of(s.text, share, detect(s.text) or "en"), s.title, Citation(s.source_id, s.id))
            for s, share in zip(sources, shares, strict=True)
        ]
        return _ask(ctx, ctx.programs.plan, sources=number_facts(facts))


def inputs_of_refinement(ctx: RunContext, draft: Outline, conversations: Sequence[Conversation]) -> Mapping[str, str]:
    """Return the inputs for refining a draft: findings of the store for its headings, and the interviews."""
    if ctx.user_pieces.outline:
        return {}
    return {
        "sources": survey(ctx, draft, conversations),
        "interviews": share_budget(conversations, ctx.settings.interview_words),
        "draft": outline_to_markdown(draft),
    }


def refine_outline(ctx: RunContext, draft: Outline, inputs: Mapping[str, str]) -> Outline:
    """Return the draft refined with :func:`inputs_of_refinement`; the draft if that fails, which is recorded.

    An outline supplied by the user is kept unchanged. Raises ModelError: the refinement fails and the draft is empty.
    """
    if ctx.user_pieces.outline:
        return keep_outline(ctx, ctx.user_pieces.outline)
    with ctx.events.in_stage("outline"):
        try:
            outline = _ask(ctx, ctx.programs.refine, **inputs)
        except ModelError as error:
            if not draft.sections:
                raise
            ctx.events.degraded(f"the outline is the unrefined draft: {error}")
            outline = draft
    return keep_outline(ctx, outline)


def keep_outline(ctx: RunContext, outline: Outline) -> Outline:
    """Save the outline as the run's final one, and return it."""
    ctx.run.save_text("outline.md", outline_to_markdown(outline))
    return outline


def _ask(ctx: RunContext, program: Program, **inputs: str) -> Outline:
    """Return the outline in a model's reply, structured or plain text. Raises ModelError: no reply has a heading."""
    named = ctx.brief.topic_with_note if inputs else ctx.brief.topic_with_preview  # a draft has no sources
    common = {"language": ctx.brief.language_name, "wanted": wanted_sections(ctx.settings)}

    def read(reply: dspy.Prediction | str) -> Outline:
        bounds = {"max_sections": ctx.settings.max_sections, "max_depth": ctx.settings.outline_depth}
        if isinstance(reply, str):
            return _without_example_headings(parse_outline(reply, ctx.brief.topic, **bounds))
        levels = (((1, part.title), *((2, title) for title in part.subsections)) for part in reply.sections)
        pairs = [pair for of_section in levels for pair in of_section]
        return _without_example_headings(outline_from_headings(pairs, ctx.brief.topic, **bounds))

    def usable(reply: dspy.Prediction | str) -> bool:
        return bool(read(reply).sections)

    try:
        return read(ctx.ask("outliner", program, usable, topic=named, **common, **inputs))
    except ReplyError as error:
        outline = read(error.reply)
        if not outline.sections:
            raise
        return outline


def wanted_sections(settings: Settings) -> str:
    """Return the number of sections that a prompt asks for, at a few hundred words each."""
    number = max(_FEWEST_SECTIONS, min(settings.max_sections, round(settings.article_words / _WORDS_A_SECTION)))
    return f"{max(_FEWEST_SECTIONS, number - 2)} to {number} sections; {_ONCE}"


def _without_example_headings(outline: Outline) -> Outline:
    """Return the outline without headings, and all below them, that a small model copied from the worked example."""
    if names_invented(outline.topic):
        return outline

    def without_invented(headings: Sequence[Heading]) -> tuple[Heading, ...]:
        return tuple(Heading(h.title, without_invented(h.children)) for h in headings if not names_invented(h.title))

    return Outline(outline.topic, without_invented(outline.sections))


def share_budget(conversations: Sequence[Conversation], words: int) -> str:
    """Return the conversations as text of at most about ``words`` words, budgeted fairly and never cut in a sentence.

    Every conversation gets an equal share; what a short one does not use goes to the longer ones. Within its share
    a conversation keeps all questions that fit and as many complete sentences of each answer as possible.
    """
    held = [conversation.turns for conversation in conversations if conversation.turns]
    shares = fair_shares([sum(map(_length, turns)) for turns in held], words)
    return "\n\n".join(_fit(turns, share) for turns, share in zip(held, shares, strict=True) if share)


def _length(turn: Turn) -> int:
    return count_words(turn.question) + count_words(turn.answer_text)


def _fit(turns: Sequence[Turn], budget: int) -> str:
    shares = fair_shares(list(map(_length, turns)), budget)
    lines = []
    for turn, share in zip(turns, shares, strict=True):
        room = share - count_words(turn.question)
        if room < 0:
            continue
        sentences = [sentence.text for sentence in turn.answer] or [turn.answer_text]
        ends = accumulate(map(count_words, sentences))
        answer = " ".join(sentence for sentence, end in zip(sentences, ends, strict=True) if end <= room)
        lines.append(f"Writer: {turn.question}" + (f"\nExpert: {answer}" if answer else ""))
    return "\n".join(lines)
