"""Runs several search queries in parallel and keeps all results in the store."""

import time
from collections.abc import Sequence
from itertools import zip_longest

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import NothingFoundError, SearchError
from storm_pipeline.identity import normalised_text
from storm_pipeline.net.retrying import reporting_retries
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.events import Retried, Searched
from storm_pipeline.search.result import SearchResult
from storm_pipeline.types import Snippet


def search_all(ctx: RunContext, queries: Sequence[str], *, depth: int = 1) -> tuple[Snippet, ...]:
    """The results of all queries, without duplicate texts, ranks interleaved; failures are recorded.

    The results go into prompts, so they do not depend on what other threads find meanwhile. ``depth``: results
    requested per query, as a multiple of ``top_k``, >= 1.
    """
    found = parallel_map(lambda query: _search(ctx, query, depth), queries, workers=len(queries))
    ranks = zip_longest(*(snippets for snippets, _ in found))
    interleaved = [snippet for rank in ranks for snippet in rank if snippet is not None]
    ctx.store.keep(interleaved)
    distinct: dict[str, Snippet] = {}
    for snippet in interleaved:
        distinct.setdefault(normalised_text(snippet.text), snippet)
    sources = ctx.store.count_sources()
    for query, (snippets, seconds) in zip(queries, found, strict=True):
        ctx.events.emit(Searched(ctx.events.stage, ctx.search.name, query, len(snippets), sources, round(seconds, 3)))
    return tuple(distinct.values())


def nothing_found(ctx: RunContext, what: str) -> NothingFoundError:
    """The error of a run without sources: what was looked for, and what failed, was lost or may not be used.

    The searches are made again when the run is resumed.
    """
    ctx.run.journal.forget("search")
    research = ctx.search.research
    excluded = research.excluded_pages
    left_out = [f"{len(excluded)} pages may not be used, such as {page.url}: {page.reason}" for page in excluded[:1]]
    why = [ctx.ledger.failure_summary(), *research.lost[:1], *left_out]
    return NothingFoundError(". ".join([what, *filter(None, why)]))


def _search(ctx: RunContext, query: str, depth: int) -> tuple[tuple[Snippet, ...], float]:
    """The results, and the seconds that the search took."""

    def retried(reason: str, wait: float) -> None:
        ctx.events.emit(Retried(ctx.events.stage, ctx.search.name, reason, round(wait, 2)))

    start = time.monotonic()
    with reporting_retries(retried):
        try:
            found = ctx.search.search(query, depth * ctx.settings.top_k)
        except SearchError as error:
            ctx.events.failed(f"search for {query!r}", error)
            found = SearchResult()
    for detail in found.lost:
        ctx.events.degraded(detail)
    return found.snippets, time.monotonic() - start
