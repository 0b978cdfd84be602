"""Known ratings of sources: Wikipedia's list of perennial sources, and rules for whole kinds of pages."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from storm_pipeline.sources.reliable.site_patterns import SitePattern, SitePatterns, pattern_of
from storm_pipeline.text.identity import PREPRINT_SERVERS


class Rating(StrEnum):
    """Rating of a source. The first six are the list's, from the least to the most cautious."""

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


CAUTION = tuple(Rating)[:6]  # the list's statuses, most cautious last


@dataclass(frozen=True)
class Entry:
    """A rating by one row of the list or one rule."""

    status: Rating
    reason: str  # why, human-readable
    listed: bool = False  # whether it comes from the list of perennial sources; else from a rule of this package


@dataclass(frozen=True)
class Catalogue:
    """The list and the rules together."""

    as_of: str  # ISO date or month of the list
    size: int  # number of places in the list
    places: SitePatterns[Entry]  # the entries of each place

    def find(self, where: SitePattern) -> tuple[SitePattern, tuple[Entry, ...]] | None:
        """Return the entries of the most specific place that covers this one; the list takes precedence over rules.

        Except for preprint servers, which the list rates as generally unreliable: here they are a kind of their own.
        """
        if (found := self.places.find(where)) is None:
            return None
        place, entries = found
        preprint = tuple(entry for entry in entries if entry.status is Rating.PREPRINT)
        return place, preprint or tuple(entry for entry in entries if entry.listed) or entries

    def is_mirror(self, where: SitePattern) -> bool:
        """Return whether a place is a mirror of Wikipedia."""
        found = self.places.find(where)
        return found is not None and any(entry.status is Rating.MIRROR for entry in found[1])


@cache
def load_catalogue() -> Catalogue:
    """Load the package's catalogue."""
    perennial = _table("perennial.json")
    listed = [entry for row in perennial["sources"] for entry in _entries(row["places"], _listed(row))]
    rules = [(rule["places"], Entry(Rating(rule["status"]), rule["reason"])) for rule in _table("rules.json")["rules"]]
    preprint = Entry(Rating.PREPRINT, "a preprint server, whose papers no journal has reviewed yet")
    others = (entry for rule in [*rules, (sorted(PREPRINT_SERVERS), preprint)] for entry in _entries(*rule))
    return Catalogue(perennial["as_of"], len(listed), SitePatterns([*listed, *others]))


def _table(name: str) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((Path(__file__).with_name("data") / name).read_text("utf-8"))
    return table


def _entries(places: list[str], entry: Entry) -> Iterator[tuple[SitePattern, Entry]]:
    return ((place, entry) for place in map(pattern_of, places) if place)


def _listed(row: dict[str, Any]) -> Entry:
    status = Rating.BLACKLISTED if row.get("blacklisted") else Rating(row["status"])
    topic = f" {row['topic']}" if "topic" in row else ""
    year = f" ({row['year']})" if "year" in row else ""
    return Entry(status, f"{row['name']}{topic}: {status}{year}", listed=True)
