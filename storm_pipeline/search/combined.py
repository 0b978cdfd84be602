"""Composite engines: what they have in common, and how the failure of a part is tolerated."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.search.base import Search, SearchEngine
from storm_pipeline.search.edge import checked
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, OpenedEngine
from storm_pipeline.search.registry import open_search, split_specs
from storm_pipeline.search.result import SearchResult, merged

Attempt = SearchResult | SearchError
"""Outcome of one engine's search."""


def attempt(engine: Search, query: str, k: int) -> Attempt:
    """Search with one of several engines; a SearchError becomes a value."""
    try:
        return engine.search(query, k)
    except SearchError as error:
        return SearchError(f"the search engine `{engine.name}` failed: {error}")


def merged_attempts(attempts: Sequence[Attempt]) -> SearchResult:
    """Merge the outcomes of several engines; failures go to ``lost``.

    ``attempts``: one for each engine that was asked. Raises SearchError: every engine failed; names each.
    """
    failures = [str(one) for one in attempts if isinstance(one, SearchError)]
    if len(failures) == len(attempts):
        raise SearchError("; ".join(failures))
    found = merged(one for one in attempts if isinstance(one, SearchResult))
    return replace(found, lost=(*found.lost, *(f"{failure}; the search went on without it" for failure in failures)))


@dataclass(frozen=True)
class Composite:
    """A kind of composite engine."""

    info: EngineInfo
    search: Callable[[Sequence[Search], str, int], SearchResult]  # engines, query, ``k`` → up to ``k`` pages

    def __call__(self, engines: Iterable[SearchEngine | Search]) -> Search:
        """A search with at least one engine, in order.

        Raises SettingsError: there is no engine, or one of them is not an engine.
        """
        parts = tuple(map(checked, engines))
        if not parts:
            raise SettingsError(
                f"the search engine `{self.info.base_name}` needs at least one engine: write {self.info.name}"
            )
        name = f"{self.info.base_name}:" + self.info.separator.join(engine.name for engine in parts)
        return Search(name, lambda query, k: self.search(parts, query, k))

    def open_engine(self, argument: str, config: EngineConfig) -> OpenedEngine:
        """Open the engine and those it is made of.

        ``argument``: specifications of the parts, joined by its separator; see :func:`split_specs`. Raises
        SettingsError: the argument is malformed, or a part cannot be opened.
        """
        specs = split_specs(self.info.base_name, argument, self.info.separator)
        parts = [open_search(part, config) for part in specs]
        problems = tuple(chain.from_iterable(part.problems for part in parts))
        return OpenedEngine(self(part.engine for part in parts), problems, own=all(part.own for part in parts))
