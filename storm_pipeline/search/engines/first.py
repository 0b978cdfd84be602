"""A fallback chain of engines: the next is queried if one fails or finds nothing."""

from collections.abc import Sequence

from storm_pipeline.search.base import Search
from storm_pipeline.search.combined import Attempt, Composite, attempt, merged_attempts
from storm_pipeline.search.engine_info import EngineInfo
from storm_pipeline.search.result import SearchResult

INFO = EngineInfo(
    "first:A>B",
    needs="what the engines A, B … need; quote it in a shell",
    free=True,
    returns="results of the first engine, or of the next if it fails or finds nothing",
    separator=">",
)


def _search(engines: Sequence[Search], query: str, k: int) -> SearchResult:
    attempts: list[Attempt] = []
    for engine in engines:
        attempts.append(attempt(engine, query, k))
        if isinstance(attempts[-1], SearchResult) and attempts[-1].snippets:
            break
    return merged_attempts(attempts)


first = Composite(INFO, _search)
"""A search that queries engines in order until one finds something; a SearchError of all of them names each."""
open_engine = first.open_engine
