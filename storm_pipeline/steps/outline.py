"""The outline: a draft from the topic alone, refined with the conversations (paper section 3.3)."""

from collections.abc import Sequence

from storm_pipeline.context import RunContext
from storm_pipeline.errors import ModelAuthError, ModelError
from storm_pipeline.outlines import outline_to_markdown, parse_outline
from storm_pipeline.text import truncate_sentences, word_count
from storm_pipeline.types import Conversation, Heading, Outline

_TITLES = 1500
"""Characters of source titles shown when refining: what the sources are about is what sections can be filled with."""


def draft_outline(ctx: RunContext, topic: str) -> Outline:
    """An outline from what the model knows of the topic; empty, and recorded, when it fails."""
    with ctx.events.in_stage("draft outline"):
        try:
            reply = ctx.ask("outliner", ctx.programs.draft, topic=topic).outline
        except ModelAuthError:
            raise
        except ModelError as error:
            ctx.events.failed(f"no draft outline: {error}")
            return Outline(topic)
        return _parse(ctx, reply, topic)


def _parse(ctx: RunContext, reply: str, topic: str) -> Outline:
    return parse_outline(reply, topic, max_sections=ctx.settings.max_sections, max_depth=ctx.settings.outline_depth)


def refine_outline(ctx: RunContext, topic: str, draft: Outline, conversations: Sequence[Conversation]) -> Outline:
    """The draft improved with all conversations; the draft itself, and recorded, when that fails.

    Raises:
        ModelError: there is neither a refined outline nor a draft.
    """
    with ctx.events.in_stage("outline"):
        interviews = share_budget(conversations, ctx.settings.outline_words)
        failure: ModelError | None = None
        try:
            reply = ctx.ask(
                "outliner",
                ctx.programs.refine,
                topic=topic,
                sources="; ".join(dict.fromkeys(source.title for source in ctx.store.sources() if source.title))[
                    :_TITLES
                ],
                interviews=interviews,
                draft=outline_to_markdown(draft),
            ).outline
            refined = _parse(ctx, reply, topic)
        except ModelAuthError:
            raise
        except ModelError as error:
            failure, refined = error, Outline(topic)
        if refined.sections:
            return refined
        why = str(failure) if failure else "the reply holds no headings"
        if draft.sections:
            ctx.events.degraded(f"the outline is the unrefined draft: {why}")
            return draft
        if failure:
            raise failure
        ctx.events.degraded("no outline could be read from the model's replies; the article has one section")
        return Outline(topic, (Heading("Overview"),))


def share_budget(conversations: Sequence[Conversation], words: int) -> str:
    """The conversations as text of at most about ``words`` words, shared fairly and never cut within a sentence.

    Every conversation gets an equal share; what a short one leaves over goes to the longer ones. Within its share
    a conversation keeps all its questions that fit and as many whole sentences of each answer.
    """
    texts = [_pairs(conversation) for conversation in conversations if conversation.turns]
    lengths = [sum(word_count(q) + word_count(a) for q, a in pairs) for pairs in texts]
    shares = _fair_shares(lengths, words)
    return "\n\n".join(_fit(pairs, share) for pairs, share in zip(texts, shares, strict=True) if share)


def _pairs(conversation: Conversation) -> list[tuple[str, str]]:
    return [(turn.question, turn.answer_text) for turn in conversation.turns]


def _fair_shares(lengths: Sequence[int], budget: int) -> list[int]:
    """Split a budget so that nobody gets more than they need and nobody less than an equal share of what is left."""
    shares = [0] * len(lengths)
    waiting = sorted(range(len(lengths)), key=lengths.__getitem__)
    for position, index in enumerate(waiting):
        shares[index] = min(lengths[index], budget // (len(waiting) - position))
        budget -= shares[index]
    return shares


def _fit(pairs: Sequence[tuple[str, str]], budget: int) -> str:
    shares = _fair_shares([word_count(q) + word_count(a) for q, a in pairs], budget)
    lines = []
    for (question, answer), share in zip(pairs, shares, strict=True):
        room = share - word_count(question)
        if room < 0:
            continue
        told = truncate_sentences(answer, room)
        lines.append(f"Writer: {question}" + (f"\nExpert: {told}" if told else ""))
    return "\n".join(lines)
