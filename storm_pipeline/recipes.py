"""Whole methods, each a composition of steps. An ablation or a baseline is another recipe, never a flag in a step."""

from storm_pipeline.concurrency import Tasks
from storm_pipeline.context import RunContext
from storm_pipeline.errors import ModelError, NothingFoundError
from storm_pipeline.outlines import outline_to_markdown
from storm_pipeline.steps.conversations import converse
from storm_pipeline.steps.evidence import gather_evidence
from storm_pipeline.steps.lead import write_lead
from storm_pipeline.steps.outline import draft_outline, refine_outline
from storm_pipeline.steps.perspectives import BASIC_FACT_WRITER, find_perspectives
from storm_pipeline.steps.polish import remove_repetition
from storm_pipeline.steps.related import related_contents
from storm_pipeline.steps.sections import write_sections
from storm_pipeline.types import Article, Conversation, Outline


def storm(ctx: RunContext, topic: str) -> Article:
    """STORM: research from many perspectives, outline, sections side by side, polish and lead (paper section 3)."""
    outline, conversations = storm_outline(ctx, topic)
    sections = write_sections(ctx, outline)
    if not sections:
        raise NothingFoundError(
            f"no section of an article on {topic!r} could be written: {_reasons(ctx) or 'the sources say too little'}"
        )
    with Tasks() as tasks:
        lead = tasks.start(write_lead, ctx, topic, sections)
        polished = remove_repetition(ctx, sections)
        ctx.run.save_json("polished.json", polished)
    ctx.run.save_json("lead.json", lead.result())
    return Article(topic, lead.result(), polished, ctx.store.sources(), outline, conversations)


def storm_outline(ctx: RunContext, topic: str) -> tuple[Outline, tuple[Conversation, ...]]:
    """STORM's pre-writing stage (Algorithm 1): the refined outline and the conversations; the sources are in the store.

    The draft outline and the basic-fact writer's conversation need neither related topics nor perspectives, so
    they run beside them. Perspectives or an outline that the user gives are not made.
    """
    with Tasks() as tasks:
        draft = tasks.start(lambda: ctx.given.outline or draft_outline(ctx, topic))
        with ctx.events.in_stage("conversations", total=(ctx.settings.perspectives + 1) * ctx.settings.turns):
            first = tasks.start(converse, ctx, topic, BASIC_FACT_WRITER)
            perspectives = ctx.given.perspectives
            if perspectives is None:
                perspectives = find_perspectives(ctx, topic, related_contents(ctx, topic))
            ctx.run.save_json("perspectives.json", perspectives)
            others = [tasks.start(converse, ctx, topic, perspective) for perspective in perspectives]
            conversations = tuple(task.result() for task in (first, *others))
        ctx.run.save_json("conversations.json", conversations)
        _require_sources(ctx, topic, conversations)
        # Most headings stay: what the draft's sections need is indexed and embedded while the model refines.
        tasks.start(gather_evidence, ctx, draft.result())
        outline = ctx.given.outline or refine_outline(ctx, topic, draft.result(), conversations)
    ctx.run.save_text("outline.md", outline_to_markdown(outline))
    return outline, conversations


def _require_sources(ctx: RunContext, topic: str, conversations: tuple[Conversation, ...]) -> None:
    if len(ctx.store):
        return
    queries = [query for conversation in conversations for turn in conversation.turns for query in turn.queries]
    if not queries:
        raise ModelError(f"no question about {topic!r} could be asked: {_reasons(ctx) or 'the writer asked none'}")
    tried = ", ".join(repr(query) for query in queries[:3])
    raise NothingFoundError(
        f"{ctx.search.name} found no source for {topic!r} ({len(queries)} queries, such as {tried}); "
        f"try another topic, or another engine with --search{'. ' + _reasons(ctx) if _reasons(ctx) else ''}"
    )


def _reasons(ctx: RunContext) -> str:
    return "; ".join(dict.fromkeys(ctx.ledger.failures()[:3]))
