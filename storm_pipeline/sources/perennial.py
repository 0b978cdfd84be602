"""Wikipedia's list of perennial sources: its editors' ratings of frequently discussed sources."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from storm_pipeline.documents.plain import found_year
from storm_pipeline.errors import SourcesError, needs_extra
from storm_pipeline.sources.site_patterns import SitePattern, pattern_of

TITLE = "Wikipedia:Reliable sources/Perennial sources"
_HEAD = {
    "list": TITLE,
    "address": "https://en.wikipedia.org/wiki/" + TITLE.replace(" ", "_"),
    "credit": "Facts from the list named here, by its contributors, CC BY-SA 4.0; put into this form by storm-pipeline",
}
# {{WP:RSPUSES|…}} on the subpages; {{/Uses|…}} is what the list's instructions write.
_TEMPLATES = ("wp:rsp", "rsp", f"{TITLE.lower()}/", "/")
_KINDS = frozenset({"status", "last", "uses", "shortcut"})


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


CAUTION = tuple(Rating)[:6]
"""The list's statuses, most cautious last."""
_CODES = dict(zip(("gr", "m", "nc", "gu", "d"), CAUTION, strict=False))


@dataclass(frozen=True)
class Listed:
    """A row of the list."""

    name: str  # the source
    status: Rating  # one of :data:`storm_pipeline.sources.catalogue.CAUTION` but ``blacklisted``
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
    """Read a list from its file. Raises SourcesError: it cannot be read, or is malformed."""
    try:
        record = json.loads(file.read_text("utf-8"))
        return Perennial(str(record["as_of"]), tuple(map(_listed, record["sources"])))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise SourcesError(
            f"the list of sources in {file} cannot be read as such a list; "
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


def read_rows(wikitext: str) -> Iterator[Listed]:
    """The rows of one page of the list that have a status and at least one place, in order.

    Rows are split before parsing: the list wraps them in ``<onlyinclude>``, inside which the parser finds no table.
    Raises MissingExtraError: the parser is not installed.
    """
    with needs_extra("sources", "reading Wikipedia's list of sources"):
        import mwparserfromhell
    for row in f"\n{wikitext}".split("\n|-"):
        if listed := _listed_row(mwparserfromhell, row):
            yield listed


def _listed_row(parser: Any, row: str) -> Listed | None:
    templates = _templates(parser.parse(row))
    status, uses = templates.get("status"), templates.get("uses")
    code = _argument(status, "1") if status else ""
    places = tuple(dict.fromkeys(_places(uses))) if uses else ()
    cells = row.split("\n|")
    if code not in _CODES or not places or len(cells) < 2:
        return None
    name, topic = _name(parser, cells[1])
    year = found_year(_argument(templates["last"], "1")) if "last" in templates else ""
    blacklisted = _argument(status, "b").startswith("y")
    return Listed(name or places[0].host, _CODES[code], places, topic, int(year) if year else None, blacklisted)


def _templates(code: Any) -> dict[str, Any]:
    """The list's own templates in a row by kind, the first of each."""
    found: dict[str, Any] = {}
    for template in code.filter_templates():
        name = str(template.name.strip_code()).strip().lower()
        kind = next((name.removeprefix(own) for own in _TEMPLATES if name.startswith(own)), "")
        if kind in _KINDS:
            found.setdefault(kind, template)
    return found


def _argument(template: Any, name: str) -> str:
    return str(template.get(name).value.strip_code()).strip().lower() if template.has(name) else ""


def _places(uses: Any) -> Iterator[SitePattern]:
    for argument in uses.params:
        text = str(argument.value.strip_code()).strip() if str(argument.name).strip().isdecimal() else ""
        if "." in text and (place := pattern_of(text)):
            yield place


def _name(parser: Any, cell: str) -> tuple[str, str]:
    """Name of the source (title of the linked article), and the topic in brackets after it."""
    attributes, _, rest = cell.partition("|")
    has_attributes = '="' in attributes and "[" not in attributes and "{" not in attributes
    code = parser.parse(rest if has_attributes else cell)
    small = [
        str(template.get("1").value.strip_code())
        for template in code.filter_templates()
        if str(template.name).strip().lower() == "small" and template.has("1")
    ]
    links = code.filter_wikilinks()
    name = _plain(str(links[0].title.strip_code()).partition("#")[0]) if links else ""
    if links:
        code.remove(links[0])
    rest = _plain(" ".join([str(code.strip_code()), *small]))
    topics = re.findall(r"\([^()]*\)", rest)
    return name or rest.partition("(")[0].strip(), " ".join(topics)


def _plain(text: str) -> str:
    return " ".join(text.split())
