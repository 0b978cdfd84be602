"""Wikipedia's list of perennial sources: its editors' ratings of frequently discussed sources."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storm_pipeline.errors import SourcesError
from storm_pipeline.sources.ratings import CAUTION, Rating
from storm_pipeline.sources.site_patterns import SitePattern, pattern_of

TITLE = "Wikipedia:Reliable sources/Perennial sources"
_HEAD = {
    "list": TITLE,
    "address": "https://en.wikipedia.org/wiki/" + TITLE.replace(" ", "_"),
    "credit": "Facts from the list named here, by its contributors, CC BY-SA 4.0; put into this form by storm-pipeline",
}


@dataclass(frozen=True)
class Listed:
    """A row of the list."""

    name: str  # the source
    status: Rating  # one of :data:`storm_pipeline.sources.ratings.CAUTION` but ``blacklisted``
    places: tuple[SitePattern, ...]  # its domains and paths; distinct
    topic: str = ""  # the scope of the row, or other names of the source; may be empty
    year: int | None = None  # year of the last discussion
    blacklisted: bool = False  # whether links to it are blocked


@dataclass(frozen=True)
class Perennial:
    """The list as of an ISO date or month."""

    as_of: str
    sources: tuple[Listed, ...]

    @property
    def size(self) -> int:
        """Number of places, counted once per row."""
        return sum(len(source.places) for source in self.sources)


def to_json(perennial: Perennial) -> str:
    """The list in its file format, one line per row, with attribution."""
    head = "".join(f" {json.dumps(name)}: {json.dumps(text)},\n" for name, text in _HEAD.items())
    rows = ",\n".join("  " + json.dumps(_record(source), ensure_ascii=False) for source in perennial.sources)
    return f'{{\n{head} "as_of": {json.dumps(perennial.as_of)},\n "sources": [\n{rows}\n ]\n}}\n'


def read_perennial(file: Path) -> Perennial:
    """Read a list from its file.

    Raises:
        SourcesError: it cannot be read, or is malformed.
    """
    try:
        record = json.loads(file.read_text("utf-8"))
        return Perennial(str(record["as_of"]), tuple(map(_listed, record["sources"])))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise SourcesError(
            f"the list of sources in {file} cannot be read ({type(error).__name__}: {error}); "
            "delete it to use the packaged one, or rebuild it with `storm sources refresh`"
        ) from error


def _record(source: Listed) -> dict[str, Any]:
    record = {"name": source.name, "status": source.status, "places": [str(place) for place in source.places]}
    more = {"topic": source.topic, "year": source.year, "blacklisted": source.blacklisted}
    return record | {name: value for name, value in more.items() if value}


def _listed(record: dict[str, Any]) -> Listed:
    status = Rating(record["status"])
    if status not in CAUTION:
        raise ValueError(f"{status} is not a status of the list")
    year = int(record["year"]) if record.get("year") else None
    places = tuple(map(parse_pattern, record["places"]))
    topic, blacklisted = str(record.get("topic", "")), record.get("blacklisted") is True
    return Listed(str(record["name"]), status, places, topic, year, blacklisted)


def parse_pattern(text: str) -> SitePattern:
    """Parse a place; raises ValueError if it is malformed."""
    if (place := pattern_of(text)) is None:
        raise ValueError(f"{text!r} is not a place")
    return place
