"""Searches with the topic itself: the baselines' only one (paper section 4.3), and one that tells what the topic is."""

from dataclasses import replace

from storm_pipeline.references.facts import facts_of
from storm_pipeline.run.context import RunContext
from storm_pipeline.search.registry import is_local
from storm_pipeline.steps.exclusions import usable
from storm_pipeline.steps.searching import nothing_found, search_all
from storm_pipeline.types import Outline, Snippet
from storm_pipeline.writers import subject_of

_DEPTH = 8  # depth of the search that tells what the topic is, as a multiple of an interview's
_LOCAL_DEPTH = 20  # the same where the engine searches on this machine: a small model's questions find little more
_LITTLE = 8  # sentences that name the topic below which one interview asks all that can be asked


def look_up_topic(ctx: RunContext, topic: str) -> RunContext:
    """The context with what the sources say the topic is; for small models, which cannot tell it from its namesakes.

    What names the topic is kept in the store: a small model's questions reach some of it only. If hardly a sentence
    names the topic, that is recorded, and only the basic facts are asked for. Not in the paper. Raises
    NothingFoundError: nothing that the engine finds names the topic.
    """
    if not ctx.settings.writes_by_sentence:
        return ctx
    depth = _LOCAL_DEPTH if is_local(ctx.search.name) else _DEPTH
    with ctx.events.in_stage("search"):
        found = usable(ctx, search_all(ctx, [topic], depth=depth))
    subject = subject_of(topic, found)
    named = [s for s in found if s.source_id in subject.own or subject.named_in(f"{s.title}. {s.text}")]
    sentences = sum(s.source_id in subject.own or subject.named_in(fact.text) for s in named for fact in facts_of(s))
    ctx = replace(ctx, subject=subject)
    ctx.store.add(named)
    if sentences >= _LITTLE:
        return ctx
    if not sentences:
        raise nothing_found(
            ctx,
            f"no page of {ctx.search.name} is about {topic!r} or names it; name another engine with --search "
            "(`storm search engines` lists them)",
        )
    ctx.events.degraded(
        f"{ctx.search.name} says little about {topic!r} ({sentences} sentences name it): the article will be short; "
        "another engine (--search) may know more"
    )
    short = ctx.settings.model_copy(update={"perspectives": 0, "related_topics": 0})
    pieces = replace(ctx.user_pieces, outline=ctx.user_pieces.outline or Outline(topic))  # too short for sections
    return replace(ctx, settings=short, user_pieces=pieces)


def search_with_topic(ctx: RunContext, topic: str) -> tuple[Snippet, ...]:
    """Search for the topic itself and add the results to the store.

    Raises NothingFoundError: the search finds nothing.
    """
    with ctx.events.in_stage("search"):
        found = usable(ctx, search_all(ctx, [topic]))
    if not found:
        raise nothing_found(ctx, f"{ctx.search.name} found no source for {topic!r}; try another engine with --search")
    ctx.store.add(found)
    return found
