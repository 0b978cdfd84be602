"""CSL-JSON: references as citation processors and reference managers read them."""

import json
from typing import Any

from storm_pipeline.evidence.citations import page_span
from storm_pipeline.output.export.manuscript import KINDS, Manuscript, Reference
from storm_pipeline.text.person_names import Name


def write(manuscript: Manuscript) -> bytes:
    """Return the references as a JSON list; ``custom`` has each one's citing sentences, pages and other addresses."""
    items = []
    for reference in manuscript.references:
        custom = {"sentences": reference.sentences, "pages": page_span(reference.pages), "also": reference.also}
        more = {"archive_location": reference.address, "custom": {key: text for key, text in custom.items() if text}}
        items.append(csl_item(reference) | {name: value for name, value in more.items() if value})
    return (json.dumps(items, ensure_ascii=False, indent=1) + "\n").encode()


def csl_item(reference: Reference) -> dict[str, Any]:
    """Return a reference as a CSL-JSON item without unknown fields."""
    work = reference.work
    short = reference.title.partition(": ")[0].removeprefix("The ")  # as Chicago shortens a title
    fields = {
        "id": reference.key,
        "type": KINDS["csl"][reference.kind],
        "title": reference.title,
        "title-short": "" if short == reference.title else short,
        "author": [_name(name) for name in reference.authors],
        "editor": [_name(name) for name in reference.editors],
        "container-title": reference.site,
        "publisher": reference.publisher,
        "publisher-place": work.place,
        "volume": work.volume,
        "issue": work.issue,
        "edition": work.edition,
        "ISBN": work.isbn,
        "DOI": reference.doi,
        "URL": reference.link,
        "issued": _date(reference.published),
        "accessed": _date(reference.accessed),
        "language": reference.language,
        "page": work.extent,
    }
    return {name: value for name, value in fields.items() if value}


def _name(name: Name) -> dict[str, str]:
    return {"family": name.family, "given": name.given} if name.given else {"literal": name.family}


def _date(iso: str) -> dict[str, list[list[int]]] | None:
    return {"date-parts": [[int(part) for part in iso.split("-")]]} if iso else None
