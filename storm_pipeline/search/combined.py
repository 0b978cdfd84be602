"""Shared parts of the composite engines: parsing their specifications, tolerating an engine that fails."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.search.base import Search, SearchEngine
from storm_pipeline.search.edge import checked
from storm_pipeline.search.engine_info import EngineConfig, EngineInfo, OpenedEngine
from storm_pipeline.search.registry import open_search, split_specs
from storm_pipeline.search.result import SearchResult
from storm_pipeline.types import Snippet


@dataclass(frozen=True)
class Attempt:
    """Outcome of one engine's search: a result, or the reason in ``failure``."""

    result: SearchResult = field(default_factory=SearchResult)
    failure: str = ""


def attempt(engine: Search, query: str, k: int) -> Attempt:
    """Search with one of several engines; a SearchError becomes a value."""
    try:
        return Attempt(engine.search(query, k))
    except SearchError as error:
        return Attempt(failure=f"the search engine `{engine.name}` failed: {error}")


def merged_result(attempts: Sequence[Attempt], snippets: Iterable[Snippet]) -> SearchResult:
    """Merge the outcomes of several engines; failures go to ``lost``.

    ``attempts``: one for each engine that was asked. Raises SearchError: every engine failed; names each.
    """
    failures = [one.failure for one in attempts if one.failure]
    if len(failures) == len(attempts):
        raise SearchError("; ".join(failures))
    results = [one.result for one in attempts]
    tolerated = (f"{failure}; the search went on without it" for failure in failures)
    return SearchResult(
        tuple(snippets),
        excluded=tuple(chain.from_iterable(one.excluded for one in results)),
        unread=tuple(chain.from_iterable(one.unread for one in results)),
        read=tuple(chain.from_iterable(one.read for one in results)),
        seen=tuple(chain.from_iterable(one.seen for one in results)),
        lost=(*chain.from_iterable(one.lost for one in results), *tolerated),
    )


def checked_engines(info: EngineInfo, engines: Iterable[SearchEngine | Search]) -> tuple[Search, ...]:
    """The parts of a composite engine, validated.

    ``engines``: in order. Raises SettingsError: there is none, or one of them is not an engine.
    """
    parts = tuple(map(checked, engines))
    if not parts:
        raise SettingsError(f"the search engine `{info.base_name}` needs at least one engine: write {info.name}")
    return parts


def composite_name(info: EngineInfo, parts: Iterable[Search]) -> str:
    """The name of a composite engine: those of its parts, as in the specification."""
    return f"{info.base_name}:" + info.separator.join(engine.name for engine in parts)


def open_composite(
    kind: Callable[[Iterable[Search]], Search], info: EngineInfo, argument: str, config: EngineConfig
) -> OpenedEngine:
    """Open a composite engine and the engines it is made of.

    ``argument``: specifications of the parts, joined by its separator; see :func:`split_specs`. Raises SettingsError:
    the argument is malformed, or a part cannot be opened.
    """
    parts = [open_search(part, config) for part in split_specs(info.base_name, argument, info.separator)]
    problems = tuple(chain.from_iterable(part.problems for part in parts))
    own = all(part.own for part in parts)
    return OpenedEngine(kind([part.engine for part in parts]), problems, own=own)
