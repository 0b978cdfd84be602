"""What one search gives: the snippets, and what was excluded, not read, seen and lost on the way."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar, get_type_hints

from storm_pipeline.types import Exclusion, Snippet


@dataclass(frozen=True)
class Unread:
    """A page that was not read, so that the engine's own snippets stand for it.

    Attributes:
        url: its address, as the engine gave it.
        reason: why, in one sentence.
    """

    url: str
    reason: str


@dataclass(frozen=True)
class SeenPage:
    """A page as one search showed it.

    Attributes:
        url: its address.
        title: its title; may be empty.
        text: all passages of it together.
        query: of the search.
    """

    url: str
    title: str
    text: str
    query: str


@dataclass(frozen=True)
class SearchResult:
    """What one search found, and all that is to be known of how it was found.

    Attributes:
        snippets: best first.
        excluded: pages that were found and may not be used.
        unread: pages that were not read for this search.
        read: addresses, as the engine gave them, of the pages that were read and had passages for this search.
        seen: every page that the search showed, before and after it was read; none where none is to be kept out.
        lost: what the search went without, such as an engine that failed: one sentence each.
    """

    snippets: tuple[Snippet, ...] = ()
    excluded: tuple[Exclusion, ...] = ()
    unread: tuple[Unread, ...] = ()
    read: tuple[str, ...] = ()
    seen: tuple[SeenPage, ...] = ()
    lost: tuple[str, ...] = ()


T = TypeVar("T", Snippet, Exclusion, Unread, SeenPage)
_TYPES: Mapping[Any, Mapping[str, Any]] = {
    kind: get_type_hints(kind) for kind in (Snippet, Exclusion, Unread, SeenPage)
}


def encoded(result: SearchResult) -> dict[str, Any]:
    """The result as a value that JSON can hold; :func:`decoded` is its inverse."""
    return asdict(result)


def decoded(value: object) -> SearchResult | None:
    """The result that :func:`encoded` gave, before or after a trip through JSON; None where the value is none."""
    if not isinstance(value, dict) or value.keys() != {field.name for field in fields(SearchResult)}:
        return None
    if not all(isinstance(items, list | tuple) for items in value.values()):
        return None
    try:
        return SearchResult(
            snippets=tuple(checked_value(Snippet, one) for one in value["snippets"]),
            excluded=tuple(checked_value(Exclusion, one) for one in value["excluded"]),
            unread=tuple(checked_value(Unread, one) for one in value["unread"]),
            read=tuple(map(_text, value["read"])),
            seen=tuple(checked_value(SeenPage, one) for one in value["seen"]),
            lost=tuple(map(_text, value["lost"])),
        )
    except TypeError:
        return None


def checked_value(kind: type[T], values: object) -> T:
    """A value of this class from its fields by name.

    Raises:
        TypeError: they are no mapping, one is missing, unknown, or of another type; says what, to follow "it has".
    """
    if not isinstance(values, Mapping):
        raise TypeError(f"no fields, being of type {type(values).__name__}")
    for name, value in values.items():
        expected = _TYPES[kind].get(name)
        if expected is None or not isinstance(value, expected):
            raise TypeError(f"`{name}` of type {type(value).__name__}")
    return kind(**values)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text of type {type(value).__name__}")
    return value
