"""Known ratings of sources: Wikipedia's list of perennial sources, and rules for kinds of pages."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar
from urllib.parse import unquote, urlsplit

from storm_pipeline.text.identity import PREPRINT_SERVERS, canonical_url, host_of

T = TypeVar("T")

_OF_HOSTS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.")
_ARCHIVED = re.compile(r"https?://web\.archive\.org/web/\d+(?:[a-z]{2}_)?/(?:(?=https?:)|(?=[^/]+\.))", re.I)


@dataclass(frozen=True)
class SitePattern:
    """A host with its subdomains, or a path on it with everything below."""

    host: str  # lower case, without ``www.`` and the like; ``edu`` matches every host under that top-level domain
    # case-folded, with a leading and no trailing slash; empty for the whole host. A trailing ``*`` matches any suffix
    path: str = ""

    def __str__(self) -> str:
        return self.host + self.path

    def covers(self, path: str) -> bool:
        """Return whether the pattern matches a path on its host or a subdomain, by segments."""
        if self.path.endswith("*"):
            return path.startswith(self.path[:-1])
        return not self.path or path == self.path or path.startswith(self.path + "/")


def pattern_of(address: str) -> SitePattern | None:
    """Parse a URL, a domain, or a domain with a path; None if it is malformed.

    Ignores case, scheme, ``www.``, ``m.`` and ``amp.``, query and a trailing slash. A Wayback Machine URL counts as its
    original.
    """
    address = address.strip()
    if archived := _ARCHIVED.match(address):
        address = address[archived.end() :]
    if not address.lower().startswith(("http://", "https://")):
        if ":" in address.partition("/")[0]:  # another scheme, such as urn: or file:
            return None
        address = f"https://{address}"
    try:
        parts = urlsplit(page := canonical_url(address))
        host = host_of(page)
    except ValueError:
        return None
    if parts.scheme != "https" or not _OF_HOSTS.issuperset(host) or not all(host.split(".")):
        return None
    return SitePattern(host, unquote(parts.path).casefold().rstrip("/"))


class SitePatterns(Generic[T]):
    """A mapping from site patterns to values. ``items``: pattern and value; a pattern may have several values."""

    def __init__(self, items: Iterable[tuple[SitePattern, T]]) -> None:
        known: dict[str, dict[SitePattern, list[T]]] = {}
        for place, value in items:
            known.setdefault(place.host, {}).setdefault(place, []).append(value)
        self._known = {
            host: sorted(
                ((place, tuple(values)) for place, values in places.items()), key=lambda item: -len(item[0].path)
            )
            for host, places in known.items()
        }

    def find(self, where: SitePattern) -> tuple[SitePattern, tuple[T, ...]] | None:
        """Return the most specific pattern that covers this one (longest host, then longest path) with its values."""
        labels = where.host.split(".")
        for start in range(len(labels)):
            for place, values in self._known.get(".".join(labels[start:]), ()):
                if place.covers(where.path):
                    return place, values
        return None


class Rating(StrEnum):
    """Rating of a source. The first six are the list's, in order of caution."""

    RELIABLE = "generally reliable"
    MIXED = "mixed"
    NO_CONSENSUS = "no consensus"
    UNRELIABLE = "generally unreliable"
    DEPRECATED = "deprecated"
    BLACKLISTED = "blacklisted"

    SCHOLARLY = "scholarly"
    PREPRINT = "preprint"
    OFFICIAL = "official"
    EDUCATION = "education"
    USER_GENERATED = "user-generated"
    SELF_PUBLISHED = "self-published"
    SOCIAL = "social media"
    OPEN_WIKI = "open wiki"
    MIRROR = "mirror of Wikipedia"
    CONTENT_FARM = "content farm"
    PREDATORY = "predatory publisher"

    ALLOWED = "allowed by your list"
    DENIED = "denied by your list"
    OWN = "no web page"
    UNKNOWN = "unknown"


CAUTION = tuple(Rating)[:6]  # the list's ratings, most cautious last


@dataclass(frozen=True)
class Entry:
    """A rating by the list or by one rule."""

    status: Rating
    reason: str  # the reason in words
    listed: bool = False  # whether it is from the list of perennial sources; else from a rule of this package


@dataclass(frozen=True)
class Catalogue:
    """The list and the rules together."""

    as_of: str  # ISO date or month of the list
    size: int  # number of places in the list
    places: SitePatterns[Entry]  # the entries of each place

    def find(self, where: SitePattern) -> tuple[SitePattern, tuple[Entry, ...]] | None:
        """Return the entries of the most specific place that covers this one; the list overrides rules.

        Except for preprint servers, which the list rates as generally unreliable: here they have their own rating.
        """
        if (match := self.places.find(where)) is None:
            return None
        place, entries = match
        preprint = tuple(entry for entry in entries if entry.status is Rating.PREPRINT)
        return place, preprint or tuple(entry for entry in entries if entry.listed) or entries

    def is_mirror(self, where: SitePattern) -> bool:
        """Return whether a place is a mirror of Wikipedia."""
        match = self.places.find(where)
        return match is not None and any(entry.status is Rating.MIRROR for entry in match[1])


@cache
def load_catalogue() -> Catalogue:
    """Load the package's catalogue."""
    perennial = _table("perennial.json")
    ratings = ((places, Entry(Rating(name), name, listed=True)) for name, places in perennial["places"].items())
    listed = [entry for rating in ratings for entry in _entries(*rating)]
    rules = [(rule["places"], Entry(Rating(rule["status"]), rule["reason"])) for rule in _table("rules.json")["rules"]]
    preprint = Entry(Rating.PREPRINT, "a preprint server, whose papers no journal has reviewed yet")
    others = (entry for rule in [*rules, (sorted(PREPRINT_SERVERS), preprint)] for entry in _entries(*rule))
    return Catalogue(perennial["as_of"], len(listed), SitePatterns([*listed, *others]))


def _table(name: str) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((Path(__file__).with_name("data") / name).read_text("utf-8"))
    return table


def _entries(places: list[str], entry: Entry) -> Iterator[tuple[SitePattern, Entry]]:
    return ((place, entry) for place in map(pattern_of, places) if place)
