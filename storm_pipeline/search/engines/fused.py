"""Several engines queried in parallel, their results fused by rank."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.retrieval.ranking import rank_scores
from storm_pipeline.search.base import Search
from storm_pipeline.search.combined import Composite, attempt, merged_attempts
from storm_pipeline.search.engine_info import EngineInfo
from storm_pipeline.search.result import SearchResult
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "fused:A+B",
    needs="what the engines A, B … need",
    free=True,
    returns="merged results of several engines; pages found by several rank higher",
    separator="+",
)


def _search(engines: Sequence[Search], query: str, k: int) -> SearchResult:
    attempts = parallel_map(lambda engine: attempt(engine, query, k), engines, workers=len(engines))
    rankings = [one.snippets for one in attempts if isinstance(one, SearchResult)]
    return replace(merged_attempts(attempts), snippets=fuse_pages(rankings, k))


fused = Composite(INFO, _search)
"""A search that queries engines in parallel and fuses their pages by reciprocal rank.

A page that several engines find is one source with the passages of each; ties go to the page of the earlier engine. A
search takes as long as the slowest engine. An engine that fails is skipped if another succeeds, and reported in
``lost``; a SearchError of all of them names each.
"""
open_engine = fused.open_engine


def fuse_pages(rankings: Iterable[Sequence[Snippet]], k: int) -> tuple[Snippet, ...]:
    """The ``k`` best pages of several rankings with all their snippets, by reciprocal rank fusion over pages.

    ``rankings``: snippets, best first; the rank of a page is that of its first snippet, from 1.
    """
    rankings = list(rankings)
    pages: dict[str, dict[str, Snippet]] = {}
    for snippet in chain.from_iterable(rankings):
        pages.setdefault(snippet.source_id, {}).setdefault(snippet.id, snippet)
    scores = rank_scores(dict.fromkeys(snippet.source_id for snippet in snippets) for snippets in rankings)
    best = sorted(scores, key=lambda page: -scores[page])[: max(k, 0)]
    return tuple(snippet for page in best for snippet in pages[page].values())
