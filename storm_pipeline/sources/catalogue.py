"""What is known of sources: Wikipedia's list of perennial sources, and rules for whole kinds of pages."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path
from typing import Any

from storm_pipeline.sources.perennial import Listed, Perennial, pattern_named, read_perennial
from storm_pipeline.sources.ratings import Rating
from storm_pipeline.sources.site_patterns import SitePattern, SitePatterns

_DATA = Path(__file__).with_name("data")


@dataclass(frozen=True)
class Entry:
    """What one row or one rule says of a place.

    Attributes:
        status: what is there.
        reason: why, in words for a person.
        listed: whether it comes from the list of perennial sources; otherwise it is a rule of this package.
    """

    status: Rating
    reason: str
    listed: bool = False


@dataclass(frozen=True)
class Catalogue:
    """The list and the rules together.

    Attributes:
        as_of: day or month of the list.
        size: places in the list.
        places: what is known of each place.
    """

    as_of: str
    size: int
    places: SitePatterns[Entry]

    def find(self, where: SitePattern) -> tuple[SitePattern, tuple[Entry, ...]] | None:
        """What is known of the closest place that covers this one; where the list knows it, its rows alone."""
        if (found := self.places.find(where)) is None:
            return None
        place, entries = found
        return place, tuple(entry for entry in entries if entry.listed) or entries

    def is_mirror(self, where: SitePattern) -> bool:
        """Whether a copy of Wikipedia stands there."""
        found = self.places.find(where)
        return found is not None and any(entry.status is Rating.MIRROR for entry in found[1])


def refreshed_file(cache: Path) -> Path:
    """Where `storm sources refresh` puts the list."""
    return cache / "sources" / "perennial.json"


def load_catalogue(cache: Path | None = None) -> Catalogue:
    """The catalogue that the package ships with, its list replaced by a refreshed one of a later date.

    Args:
        cache: the cache folder, where a refreshed list may lie; None to look for none.

    Raises:
        SourcesError: the refreshed list cannot be read.
    """
    file = refreshed_file(cache) if cache else None
    if file and file.exists():
        fresh = read_perennial(file)
        if fresh.as_of > packaged_list().as_of:
            return _joined(fresh)
    return _packaged()


@once
def packaged_list() -> Perennial:
    """The list that the package ships with."""
    return read_perennial(_DATA / "perennial.json")


@once
def _packaged() -> Catalogue:
    return _joined(packaged_list())


@once
def _rules() -> tuple[tuple[SitePattern, Entry], ...]:
    rules = json.loads((_DATA / "rules.json").read_text("utf-8"))["rules"]
    return tuple(item for rule in rules for item in _ruled(rule))


def _ruled(rule: dict[str, Any]) -> Iterator[tuple[SitePattern, Entry]]:
    entry = Entry(Rating(rule["status"]), rule["reason"])
    return ((pattern_named(text), entry) for text in rule["places"])


def _joined(perennial: Perennial) -> Catalogue:
    listed = (item for source in perennial.sources for item in _rows(source))
    return Catalogue(perennial.as_of, perennial.size, SitePatterns([*listed, *_rules()]))


def _rows(source: Listed) -> Iterable[tuple[SitePattern, Entry]]:
    status = Rating.BLACKLISTED if source.blacklisted else source.status
    topic = f" {source.topic}" if source.topic else ""
    year = f" ({source.year})" if source.year else ""
    reason = f"{source.name}{topic}: {status}{year}"
    return [(place, Entry(status, reason, listed=True)) for place in source.places]
