"""Several engines asked side by side, their results fused by rank."""

from collections.abc import Iterable, Sequence
from itertools import chain

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.retrieval.fusion import rank_scores
from storm_pipeline.search.base import Search, SearchEngine
from storm_pipeline.search.combined import attempt, checked_parts, open_over, together
from storm_pipeline.search.opening import EngineInfo, Opened, Opening
from storm_pipeline.search.result import SearchResult
from storm_pipeline.types import Snippet

INFO = EngineInfo(
    "fused:A+B",
    needs="what the engines A, B … need",
    free=True,
    returns="what several engines find, pages that more of them find first",
    of_engines=True,
)


def open_engine(argument: str, opening: Opening) -> Opened:
    """The engine of ``fused:A+B``; A and B are specifications of engines, as many as are wanted."""
    return open_over(FusedSearch, "fused", argument, "+", opening)


class FusedSearch(Search):
    """Asks several engines at once and fuses their pages by reciprocal rank (:mod:`storm_pipeline.retrieval.fusion`).

    A page that several engines find is one source with the passages of each. It takes as long as the slowest engine;
    one that fails is gone without as long as another answers, which the result says among what is lost.

    Args:
        engines: at least one; of pages with equal rank those of the earlier engine come first.

    Raises:
        SettingsError: there is no engine.
    """

    def __init__(self, engines: Iterable[SearchEngine | Search]) -> None:
        self._engines = checked_parts("fused", "fused:A+B", engines)

    @property
    def name(self) -> str:
        """Names of the engines, as in the specification."""
        return "fused:" + "+".join(engine.name for engine in self._engines)

    def search(self, query: str, k: int) -> SearchResult:
        """Up to ``k`` pages, best first.

        Raises:
            SearchError: every engine failed; names each.
        """
        attempts = parallel_map(lambda engine: attempt(engine, query, k), self._engines, workers=len(self._engines))
        return together(attempts, fused([one.result.snippets for one in attempts], k))


def fused(rankings: Iterable[Sequence[Snippet]], k: int) -> tuple[Snippet, ...]:
    """The ``k`` best pages of several rankings with all their snippets, by the sum of 1 / (60 + rank of the page).

    Args:
        rankings: snippets, best first; a page has the rank of its first snippet, counted among pages from 1.
        k: pages at most.
    """
    rankings = list(rankings)
    pages: dict[str, dict[str, Snippet]] = {}
    for snippet in chain.from_iterable(rankings):
        pages.setdefault(snippet.source_id, {}).setdefault(snippet.id, snippet)
    scores = rank_scores(dict.fromkeys(snippet.source_id for snippet in snippets) for snippets in rankings)
    best = sorted(scores, key=lambda page: -scores[page])[: max(k, 0)]
    return tuple(snippet for page in best for snippet in pages[page].values())
