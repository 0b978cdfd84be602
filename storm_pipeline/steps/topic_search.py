"""The one search that the baselines begin with (paper section 4.3)."""

from storm_pipeline.errors import NothingFoundError
from storm_pipeline.run.context import RunContext
from storm_pipeline.steps.exclusions import usable
from storm_pipeline.steps.searching import search_all
from storm_pipeline.types import Snippet


def search_with_topic(ctx: RunContext, topic: str) -> tuple[Snippet, ...]:
    """What a search with the topic itself finds; it goes into the store.

    Raises:
        NothingFoundError: nothing.
    """
    with ctx.events.in_stage("search"):
        found = usable(ctx, search_all(ctx, [topic]))
    if not found:
        ctx.run.journal.forget("search")
        raise NothingFoundError(f"{ctx.search.name} found no source for {topic!r}; try another engine with --search")
    ctx.store.add(found)
    return found
