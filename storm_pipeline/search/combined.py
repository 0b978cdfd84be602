"""What the engines over engines share: reading their specifications, and surviving an engine that fails."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.search.base import Search, SearchEngine
from storm_pipeline.search.edge import checked
from storm_pipeline.search.opening import Opened, Opening
from storm_pipeline.search.registry import open_search
from storm_pipeline.search.result import SearchResult
from storm_pipeline.types import Snippet

_MOST_ENGINES = 16


@dataclass(frozen=True)
class Attempt:
    """What one engine gave: a result, or in ``failure`` the sentence that tells why it could not search."""

    result: SearchResult = field(default_factory=SearchResult)
    failure: str = ""


def attempt(engine: Search, query: str, k: int) -> Attempt:
    """Search with one of several engines; its SearchError becomes a value."""
    try:
        return Attempt(engine.search(query, k))
    except SearchError as error:
        return Attempt(failure=f"the search engine `{engine.name}` failed: {error}")


def together(attempts: Sequence[Attempt], snippets: Iterable[Snippet]) -> SearchResult:
    """One result of several engines; each failure that was survived is among what is lost.

    Args:
        attempts: one for each engine that was asked.
        snippets: what is taken from them.

    Raises:
        SearchError: none was survived, because every engine failed; names each.
    """
    failures = [one.failure for one in attempts if one.failure]
    if len(failures) == len(attempts):
        raise SearchError("; ".join(failures))
    results = [one.result for one in attempts]
    survived = (f"{failure}; the search went on without it" for failure in failures)
    return SearchResult(
        tuple(snippets),
        excluded=tuple(chain.from_iterable(one.excluded for one in results)),
        unread=tuple(chain.from_iterable(one.unread for one in results)),
        read=tuple(chain.from_iterable(one.read for one in results)),
        seen=tuple(chain.from_iterable(one.seen for one in results)),
        lost=(*chain.from_iterable(one.lost for one in results), *survived),
    )


def checked_parts(name: str, form: str, engines: Iterable[SearchEngine | Search]) -> tuple[Search, ...]:
    """The engines that an engine over engines asks, each behind the edge.

    Args:
        name: its own name, for messages.
        form: how its specification is written.
        engines: in order.

    Raises:
        SettingsError: there is none, or one of them is no engine.
    """
    parts = tuple(map(checked, engines))
    if not parts:
        raise SettingsError(f"the search engine `{name}` needs at least one engine: write {form}")
    return parts


def open_over(
    kind: Callable[[Iterable[Search]], Search], name: str, argument: str, separator: str, opening: Opening
) -> Opened:
    """Open an engine over engines, and with it the engines that it is to ask.

    Args:
        kind: makes it from them.
        name: its own name, for messages.
        argument: their specifications with ``separator`` between them, see :func:`parts_of`.
        separator: one character.
        opening: what each of them is opened with.

    Raises:
        SettingsError: the argument cannot be read, or an engine of it cannot be opened.
    """
    parts = [open_search(part, opening) for part in parts_of(name, argument, separator)]
    problems = tuple(chain.from_iterable(part.problems for part in parts))
    return Opened(kind([part.engine for part in parts]), problems)


def parts_of(name: str, argument: str, separator: str) -> list[str]:
    """The specifications in an argument, in order and stripped.

    A specification that holds the separator itself stands in square brackets: ``[corpus:c++ notes]+wikipedia``.

    Raises:
        SettingsError: a part is empty, there are too many, or a bracket has no partner.
    """
    form = f"write {name}:A{separator}B, with engines for A and B, in square brackets where they hold a {separator}"
    parts, depth = [""], 0
    for char in argument:
        depth += (char == "[") - (char == "]")
        if depth < 0:
            break
        if char == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    if depth:
        raise SettingsError(f"the search engine `{name}` got a bracket without its partner in {argument!r}: {form}")
    parts = [_unwrapped(part.strip()) for part in parts]
    if not all(parts):
        raise SettingsError(f"the search engine `{name}` lacks the name of an engine in {argument!r}: {form}")
    if len(parts) > _MOST_ENGINES:
        raise SettingsError(f"the search engine `{name}` asks {_MOST_ENGINES} engines at most; {len(parts)} are given")
    return parts


def _unwrapped(part: str) -> str:
    """What stands in the brackets that a part begins and ends with, if those are each other's partners."""
    depth = 0
    for position, char in enumerate(part):
        depth += (char == "[") - (char == "]")
        if depth == 0:
            whole = char == "]" and position == len(part) - 1
            return part[1:-1].strip() if whole else part
    return part
