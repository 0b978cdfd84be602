"""Metadata that a page declares for citing it, in meta tags of the Highwire, PRISM and Dublin Core schemes."""

import re
from dataclasses import dataclass
from typing import Any

from storm_pipeline.documents.plain import iso_date, plain_text

_MAX_TAGS = 500
_MAX_CHARS = 200
_MAX_AUTHORS = 30
_AUTHORS = ("citation_author", "dc.creator", "dcterms.creator")
_JOURNAL = ("citation_journal_title", "prism.publicationname", "citation_conference_title", "citation_inbook_title")
_PUBLISHER = ("citation_publisher", "dc.publisher", "dcterms.publisher")
_DOI = ("citation_doi", "prism.doi", "bepress_citation_doi", "dc.identifier", "dcterms.identifier")
_PUBLISHED = ("citation_publication_date", "citation_date", "citation_online_date", "dc.date", "dcterms.issued")
_DOI_NAME = re.compile(r"(?:doi:\s*|https?://(?:dx\.)?doi\.org/)?(10\.\d{4,9}/\S+)", re.I)


@dataclass(frozen=True)
class CitationTags:
    """Declared metadata; None where nothing is declared."""

    authors: str | None = None  # names joined by ``; ``, the first 30
    journal: str | None = None  # title of the journal, the proceedings or the book
    publisher: str | None = None
    doi: str | None = None  # in lower case
    published: str | None = None  # ISO date


def citation_tags(tree: Any) -> CitationTags:
    """Read the meta tags of a page. ``tree``: the parsed page (lxml); only its first 500 meta tags are read."""
    tags: dict[str, list[str]] = {}
    for tag in tree.xpath("//meta[@content]")[:_MAX_TAGS]:
        name = (tag.get("name") or tag.get("property") or "").strip().lower()
        if content := plain_text(tag.get("content"))[:_MAX_CHARS]:
            tags.setdefault(name, []).append(content)

    def declared(names: tuple[str, ...]) -> list[str]:
        return next((tags[name] for name in names if name in tags), [])

    authors = [author.replace(";", ",") for author in declared(_AUTHORS)[:_MAX_AUTHORS]]
    dois = (_DOI_NAME.fullmatch(text) for name in _DOI for text in tags.get(name, []))
    return CitationTags(
        authors="; ".join(dict.fromkeys(authors)) or None,
        journal=next(iter(declared(_JOURNAL)), None),
        publisher=next(iter(declared(_PUBLISHER)), None),
        doi=next((found[1].lower() for found in dois if found), None),
        published=next((day for text in declared(_PUBLISHED) if (day := iso_date(text.replace("/", "-")))), None),
    )
