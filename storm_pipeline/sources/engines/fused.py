"""Parallel queries of several engines, with results fused by rank."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.sources.search.base import Search, SearchEngine
from storm_pipeline.sources.search.edge import with_checks
from storm_pipeline.sources.search.engine_info import Engine, EngineInfo
from storm_pipeline.sources.search.result import SearchResult, merge_results
from storm_pipeline.text.lexical import rank_scores
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "fused:A+B",
    needs="what the engines A, B … need",
    free=True,
    returns="merged results of several engines; pages found by several rank higher",
    composite=True,
)


def fuse_engines(engines: Iterable[SearchEngine | Search]) -> Search:
    """Return a search that queries engines in parallel and fuses their pages by reciprocal rank.

    A page found by several engines is one source with the passages of each; ties go to the earlier engine. A search
    takes as long as the slowest engine. A failing engine is skipped if another succeeds, and reported in ``lost``; if
    all fail, the SearchError names each. Raises SettingsError: no engines, or an invalid one.
    """
    parts = tuple(map(with_checks, engines))
    if not parts:
        raise SettingsError(f"the search engine `fused` needs at least one engine: write {INFO.name}")

    def search(query: str, k: int) -> SearchResult:
        attempts = parallel_map(lambda engine: _attempt(engine, query, k), parts, workers=len(parts))
        results = [result for result in attempts if isinstance(result, SearchResult)]
        if not results:
            raise SearchError("; ".join(map(str, attempts)))
        failures = (f"{a}; the search went on without it" for a in attempts if isinstance(a, SearchError))
        result = merge_results(results)
        snippets = fuse_pages([part.snippets for part in results], k)
        return replace(result, snippets=snippets, lost=(*result.lost, *failures))

    return Search("fused:" + "+".join(engine.name for engine in parts), search)


def _attempt(engine: Search, query: str, k: int) -> SearchResult | SearchError:
    try:
        return engine.search(query, k)
    except SearchError as error:
        return SearchError(f"the search engine `{engine.name}` failed: {error}")


def open_parts(parts: Sequence[Engine]) -> Engine:
    """Return the engine of ``fused:A+B`` from its opened parts."""
    search = fuse_engines(part.search for part in parts)
    problems = tuple(chain.from_iterable(part.problems for part in parts))
    return Engine(search, search.name, problems=problems, is_private=all(part.is_private for part in parts))


def fuse_pages(rankings: Iterable[Sequence[Snippet]], k: int) -> tuple[Snippet, ...]:
    """Return the ``k`` best pages of several rankings with all their snippets, by reciprocal rank fusion over pages.

    ``rankings``: snippets, best first; the rank of a page is that of its first snippet, from 1.
    """
    rankings = list(rankings)
    pages: dict[str, dict[str, Snippet]] = {}
    for snippet in chain.from_iterable(rankings):
        pages.setdefault(snippet.source_id, {}).setdefault(snippet.id, snippet)
    scores = rank_scores(dict.fromkeys(snippet.source_id for snippet in snippets) for snippets in rankings)
    best = sorted(scores, key=lambda page: -scores[page])[: max(k, 0)]
    return tuple(snippet for page in best for snippet in pages[page].values())
