"""Holds all interviews of a run in parallel (Algorithm 1, lines 11 to 23)."""

from collections.abc import Callable

from storm_pipeline.errors import ModelError
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.steps.asked import Asked, piece_of
from storm_pipeline.method.steps.conversations import converse
from storm_pipeline.method.steps.exclusions import without_copies
from storm_pipeline.method.steps.perspectives import BASIC_FACT_WRITER, find_perspectives
from storm_pipeline.method.steps.searching import nothing_found
from storm_pipeline.run.concurrency import Tasks, parallel_map
from storm_pipeline.types import Conversation, Perspective

Conversations = tuple[Conversation, ...]
Interview = Callable[[RunContext, str, Perspective], Conversation]


def hold_interviews(ctx: RunContext, topic: str, interview: Interview, asked: Asked | None = None) -> Conversations:
    """Hold the basic-fact writer's interview and, as soon as they are known, those of the perspectives.

    Raises:
        ModelError: no question could be asked.
        NothingFoundError: no question found a source.
    """
    total = (ctx.settings.perspectives + 1) * ctx.settings.turns
    with Tasks() as tasks, ctx.events.in_stage("conversations", total=total):
        first = tasks.start(interview, ctx, topic, BASIC_FACT_WRITER)
        perspectives: tuple[Perspective, ...] = ()
        try:
            perspectives = tuple(find_perspectives(ctx, topic))
        finally:
            if asked is not None:
                asked.expect(piece_of(one) for one in (BASIC_FACT_WRITER, *perspectives))
        others = [tasks.start(interview, ctx, topic, perspective) for perspective in perspectives]
        held = tuple(task.result() for task in (first, *others))
    return _kept(ctx, topic, held)


def hold_interviews_without_perspectives(ctx: RunContext, topic: str) -> Conversations:
    """Hold as many interviews as :func:`hold_interviews`, by writers who have no perspective."""
    nobody = [Perspective(f"Interview {number}", "") for number in range(1, ctx.settings.perspectives + 2)]
    with ctx.events.in_stage("conversations", total=len(nobody) * ctx.settings.turns):
        held = parallel_map(lambda perspective: converse(ctx, topic, perspective), nobody, workers=len(nobody))
    return _kept(ctx, topic, tuple(held))


def without_excluded(ctx: RunContext, conversations: Conversations) -> Conversations:
    """Return and save the conversations without pages that turned out to be copies of excluded ones."""
    kept = without_copies(ctx, conversations)
    ctx.run.save_json("conversations.json", kept)
    return kept


def _kept(ctx: RunContext, topic: str, held: Conversations) -> Conversations:
    conversations = without_copies(ctx, held)
    if len(ctx.store):
        ctx.run.save_json("conversations.json", conversations)
        return conversations
    why = ctx.ledger.failure_summary()
    queries = [query for conversation in conversations for turn in conversation.turns for query in turn.queries]
    if not queries:
        if not why:
            ctx.run.journal.forget("reply", role="asker")
        raise ModelError(f"no question about {topic!r} could be asked: {why or 'the writer asked none'}")
    tried = ", ".join(repr(query) for query in queries[:3])
    raise nothing_found(
        ctx,
        f"{ctx.search.name} found no source for {topic!r} ({len(queries)} queries, such as {tried}); "
        "try another topic, or another engine with --search",
    )
