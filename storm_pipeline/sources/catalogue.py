"""Known ratings of sources: Wikipedia's list of perennial sources, and rules for whole kinds of pages."""

import json
from dataclasses import dataclass
from functools import cache as memoized
from pathlib import Path

from storm_pipeline.identity import PREPRINT_SERVERS
from storm_pipeline.sources.perennial import Listed, Perennial, Rating, parse_pattern, read_perennial
from storm_pipeline.sources.site_patterns import SitePattern, SitePatterns

_DATA = Path(__file__).with_name("data")


@dataclass(frozen=True)
class Entry:
    """A rating by one row of the list or one rule."""

    status: Rating  # the rating
    reason: str  # why, human-readable
    listed: bool = False  # whether it comes from the list of perennial sources; else from a rule of this package


@dataclass(frozen=True)
class Catalogue:
    """The list and the rules together."""

    as_of: str  # ISO date or month of the list
    size: int  # number of places in the list
    places: SitePatterns[Entry]  # the entries of each place

    def find(self, where: SitePattern) -> tuple[SitePattern, tuple[Entry, ...]] | None:
        """The entries of the most specific place that covers this one; rows of the list take precedence over rules.

        Except for preprint servers, which the list rates as generally unreliable: here they are a kind of their own.
        """
        if (found := self.places.find(where)) is None:
            return None
        place, entries = found
        preprint = tuple(entry for entry in entries if entry.status is Rating.PREPRINT)
        return place, preprint or tuple(entry for entry in entries if entry.listed) or entries

    def is_mirror(self, where: SitePattern) -> bool:
        """Whether a place is a mirror of Wikipedia."""
        found = self.places.find(where)
        return found is not None and any(entry.status is Rating.MIRROR for entry in found[1])


def refreshed_file(cache: Path) -> Path:
    """The file that `storm sources refresh` writes."""
    return cache / "sources" / "perennial.json"


def load_catalogue(cache: Path | None = None) -> Catalogue:
    """The packaged catalogue, with a refreshed list if there is a newer one.

    ``cache``: the cache folder, which may hold a refreshed list; None to ignore it. Raises SourcesError: the refreshed
    list cannot be read.
    """
    file = refreshed_file(cache) if cache else None
    if file and file.exists():
        fresh = read_perennial(file)
        if fresh.as_of > packaged_list().as_of:
            return _catalogue(fresh)
    return _packaged()


@memoized
def packaged_list() -> Perennial:
    """The list shipped with the package."""
    return read_perennial(_DATA / "perennial.json")


@memoized
def _packaged() -> Catalogue:
    return _catalogue(packaged_list())


@memoized
def _rules() -> tuple[tuple[SitePattern, Entry], ...]:
    rules = json.loads((_DATA / "rules.json").read_text("utf-8"))["rules"]
    preprint = Entry(Rating.PREPRINT, "a preprint server, whose papers no journal has reviewed yet")
    servers = ((parse_pattern(host), preprint) for host in sorted(PREPRINT_SERVERS))
    entries = ((rule["places"], Entry(Rating(rule["status"]), rule["reason"])) for rule in rules)
    return (*((parse_pattern(text), entry) for places, entry in entries for text in places), *servers)


def _catalogue(perennial: Perennial) -> Catalogue:
    entries = ((place, _entry(source)) for source in perennial.sources for place in source.places)
    return Catalogue(perennial.as_of, perennial.size, SitePatterns([*entries, *_rules()]))


def _entry(source: Listed) -> Entry:
    status = Rating.BLACKLISTED if source.blacklisted else source.status
    topic = f" {source.topic}" if source.topic else ""
    year = f" ({source.year})" if source.year else ""
    return Entry(status, f"{source.name}{topic}: {status}{year}", listed=True)
