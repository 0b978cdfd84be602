"""The initial search of the baselines (paper section 4.3)."""

from storm_pipeline.errors import NothingFoundError
from storm_pipeline.run.context import RunContext
from storm_pipeline.steps.exclusions import usable
from storm_pipeline.steps.searching import search_all
from storm_pipeline.types import Snippet


def search_with_topic(ctx: RunContext, topic: str) -> tuple[Snippet, ...]:
    """Search for the topic itself and add the results to the store.

    Raises:
        NothingFoundError: the search finds nothing.
    """
    with ctx.events.in_stage("search"):
        found = usable(ctx, search_all(ctx, [topic]))
    if not found:
        ctx.run.journal.forget("search")
        raise NothingFoundError(f"{ctx.search.name} found no source for {topic!r}; try another engine with --search")
    ctx.store.add(found)
    return found
