"""Parsing the rows of the list of perennial sources from its wikitext."""

import re
from collections.abc import Iterator
from typing import Any

from storm_pipeline.errors import needs_extra
from storm_pipeline.sources.perennial import Listed
from storm_pipeline.sources.ratings import Rating
from storm_pipeline.sources.site_patterns import SitePattern, pattern_of

_CODES = {
    "gr": Rating.RELIABLE,
    "m": Rating.MIXED,
    "nc": Rating.NO_CONSENSUS,
    "gu": Rating.UNRELIABLE,
    "d": Rating.DEPRECATED,
}
_ROW = re.compile(r"^\|-", re.M)
_CELL = re.compile(r"^\|(?![-}+])", re.M)
_ATTRIBUTES = re.compile(r'\s*(?:[\w-]+\s*=\s*"[^"]*"\s*)+\|(?!\|)')
# {{WP:RSPUSES|…}} on the subpages; {{/Uses|…}} is what the list's instructions write.
_TEMPLATE = re.compile(
    r"(?:WP:RSP|RSP|/|Wikipedia:Reliable sources/Perennial sources/)(?P<kind>status|last|uses|shortcut)", re.I
)


def read_rows(wikitext: str) -> Iterator[Listed]:
    """The rows of one page of the list that have a status and at least one place, in order.

    Rows are split before parsing: the list wraps them in ``<onlyinclude>``, inside which the parser finds no table.

    Raises:
        MissingExtraError: the parser is not installed.
    """
    parser = _parser()
    for row in _ROW.split(wikitext):
        if listed := _listed(parser, row):
            yield listed


def _listed(parser: Any, row: str) -> Listed | None:
    templates = _templates(parser.parse(row))
    status, uses = templates.get("status"), templates.get("uses")
    code = _argument(status, "1") if status else ""
    places = tuple(dict.fromkeys(_places(uses))) if uses else ()
    cells = _CELL.split(row)
    if code not in _CODES or not places or len(cells) < 2:
        return None
    name, topic = _name(parser, cells[1])
    year = re.search(r"(?:19|20)\d\d", _argument(templates["last"], "1")) if "last" in templates else None
    blacklisted = _argument(status, "b").startswith("y")
    return Listed(name or places[0].host, _CODES[code], places, topic, int(year[0]) if year else None, blacklisted)


def _templates(code: Any) -> dict[str, Any]:
    """The list's own templates in a row by kind, the first of each."""
    found: dict[str, Any] = {}
    for template in code.filter_templates():
        if kind := _TEMPLATE.fullmatch(str(template.name.strip_code()).strip()):
            found.setdefault(kind["kind"].lower(), template)
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
    code = parser.parse(_ATTRIBUTES.sub("", cell, count=1))
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


def _parser() -> Any:
    with needs_extra("sources", "reading Wikipedia's list of sources"):
        import mwparserfromhell
    return mwparserfromhell
