"""CSL-JSON: references as citation processors and reference managers read them."""

import json
from typing import Any

from storm_pipeline.export.manuscript import Manuscript
from storm_pipeline.export.reference import Reference
from storm_pipeline.text.person_names import Name

_KINDS = {"journal": "article-journal", "paper": "article", "page": "webpage", "document": "document"}


def write(manuscript: Manuscript) -> bytes:
    """The references as a JSON list of items; ``custom.sentences`` of each are the sentences that cite it."""
    items = [csl_item(reference) | _sentences(reference) for reference in manuscript.references]
    return (json.dumps(items, ensure_ascii=False, indent=1) + "\n").encode()


def csl_item(reference: Reference) -> dict[str, Any]:
    """A reference as a CSL-JSON item; what is not known is left out."""
    fields = {
        "id": reference.key,
        "type": _KINDS[reference.kind],
        "title": reference.title,
        "author": [_name(name) for name in reference.authors],
        "container-title": reference.site,
        "publisher": reference.publisher,
        "DOI": reference.doi,
        "URL": reference.link,
        "archive_location": "" if reference.link else reference.address,
        "issued": _date(reference.published),
        "accessed": _date(reference.accessed),
        "language": reference.language,
        "page": ", ".join(map(str, reference.pages)),
    }
    return {name: value for name, value in fields.items() if value}


def _sentences(reference: Reference) -> dict[str, Any]:
    return {"custom": {"sentences": reference.sentences}} if reference.sentences else {}


def _name(name: Name) -> dict[str, str]:
    return {"family": name.family, "given": name.given} if name.given else {"literal": name.family}


def _date(iso: str) -> dict[str, list[list[int]]] | None:
    return {"date-parts": [[int(part) for part in iso.split("-")]]} if iso else None
