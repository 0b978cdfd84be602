"""Late exclusions: pages that only later searches reveal to be copies of an excluded page.

Searches run in parallel and are filtered independently, so that results do not depend on timing. Exclusions that only
several searches together reveal are applied after all of them have finished.
"""

from collections.abc import Iterable
from dataclasses import replace

from storm_pipeline.evidence.editions import citing
from storm_pipeline.method.context import RunContext, piece_of
from storm_pipeline.types import Conversation, Conversations, Snippet, Turn


def leave_out_copies(ctx: RunContext) -> frozenset[str]:
    """Remove from the store all pages excluded so far; return the ids of all excluded pages."""
    gone = ctx.search.excluded_ids()
    ctx.store.remove(gone)
    return gone


def usable(ctx: RunContext, snippets: Iterable[Snippet]) -> tuple[Snippet, ...]:
    """Return the snippets without those of excluded pages, which are removed from the store too."""
    gone = leave_out_copies(ctx)
    return tuple(snippet for snippet in snippets if snippet.source_id not in gone)


def without_excluded_pages(ctx: RunContext, conversations: Conversations) -> Conversations:
    """Return and save the conversations without content from excluded pages, which are removed from the store too.

    Sentences lose these citations; those without any other are dropped and counted as unsupported.
    """
    gone = leave_out_copies(ctx)
    kept = tuple(_without(ctx, conversation, gone) for conversation in conversations)
    ctx.run.save_json("conversations.json", kept)
    return kept


def _without(ctx: RunContext, conversation: Conversation, gone: frozenset[str]) -> Conversation:
    turns = tuple(_turn(turn, gone) for turn in conversation.turns)
    if turns == conversation.turns:
        return conversation
    lost = sum(len(turn.answer) for turn in conversation.turns) - sum(len(turn.answer) for turn in turns)
    ctx.events.count(dropped_unsupported=lost)
    left = replace(conversation, turns=turns)
    ctx.run.save_json(piece_of(conversation.perspective), left)
    return left


def _turn(turn: Turn, gone: frozenset[str]) -> Turn:
    answer = (citing(sentence, lambda citation: citation.source_id not in gone) for sentence in turn.answer)
    snippets = tuple(s for s in turn.snippets if s.source_id not in gone)
    return replace(turn, answer=tuple(s for s in answer if s and s.citations), snippets=snippets)
