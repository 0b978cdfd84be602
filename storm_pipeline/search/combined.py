"""What the engines over engines share: reading their specifications, and surviving an engine that fails."""

from collections.abc import Sequence
from dataclasses import dataclass

from storm_pipeline.errors import SearchError, SettingsError
from storm_pipeline.search.base import SearchEngine
from storm_pipeline.search.losses import tell
from storm_pipeline.search.opening import Opening
from storm_pipeline.search.registry import open_search
from storm_pipeline.types import Snippet

_MOST_ENGINES = 16


@dataclass(frozen=True)
class Attempt:
    """What one engine gave: snippets, or in ``failure`` the sentence that tells why it could not search."""

    snippets: tuple[Snippet, ...] = ()
    failure: str = ""


def attempt(engine: SearchEngine, query: str, k: int) -> Attempt:
    """Search with one of several engines; its SearchError becomes a value."""
    try:
        return Attempt(tuple(engine.search(query, k)))
    except SearchError as error:
        return Attempt(failure=f"the search engine `{engine.name}` failed: {error}")


def tell_failures(attempts: Sequence[Attempt]) -> None:
    """Tell :mod:`storm_pipeline.search.losses` of each failure that was survived.

    Args:
        attempts: one for each engine that was asked.

    Raises:
        SearchError: none was survived, because every engine failed; names each.
    """
    failures = [one.failure for one in attempts if one.failure]
    if len(failures) == len(attempts):
        raise SearchError("; ".join(failures))
    for failure in failures:
        tell(f"{failure}; the search went on without it")


def open_parts(name: str, argument: str, separator: str, opening: Opening) -> list[SearchEngine]:
    """Open the engines that an engine over engines is to ask.

    Args:
        name: its own name, for messages.
        argument: their specifications with ``separator`` between them, see :func:`parts_of`.
        separator: one character.
        opening: what each of them is opened with.

    Raises:
        SettingsError: the argument cannot be read, or an engine of it cannot be opened.
    """
    return [open_search(part, opening) for part in parts_of(name, argument, separator)]


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
