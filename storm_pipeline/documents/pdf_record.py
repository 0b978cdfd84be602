"""What a PDF's metadata and first page say of it as a work."""

from typing import Any

from storm_pipeline.documents.plain import found_doi, found_year, iso_date, plain_text
from storm_pipeline.documents.record import Record, usable_authors, usable_title
from storm_pipeline.documents.untrusted import pdf_damage
from storm_pipeline.types import Work

_PRISM = tuple(
    f"http://prismstandard.org/namespaces/basic/{version}/" for version in ("2.0", "2.1", "2.2", "3.0", "1.2")
)
_DOI_PLACES = (("http://ns.adobe.com/pdfx/1.3/", "doi"), ("http://crossref.org/crossmark/1.0/", "DOI"))
_SCANNERS = ("scan", "abbyy", "ocr", "capture", "canon", "xerox", "ricoh", "konica", "epson", "tesseract", "itext")
_KINDS = {"journal": "article", "magazine": "article", "newspaper": "article", "book": "chapter"}


def pdf_record(reader: Any, front: Record) -> Record:
    """What is known of a file: by its XMP first, then by its properties, then by its first page (``front``)."""
    damage = pdf_damage()  # of metadata; it does not mean damaged text
    try:
        stated = _xmp_record(reader.xmp_metadata) if reader.xmp_metadata else Record()
    except damage:
        stated = Record()
    try:
        properties, created = _properties(reader.metadata or {})
    except damage:
        properties, created = Record(), ""
    known = stated.completed(properties)
    if " " not in known.title and front.title:  # a code, or the file's name
        known = front.completed(known)
    return known.completed(front).completed(Record(published=created))


def _xmp_record(xmp: Any) -> Record:
    titles = xmp.dc_title or {}
    creators = [usable_authors(name) for name in xmp.dc_creator or ()]
    prism = {name: _prism(xmp, name) for name in (
        "publicationName", "publicationDate", "coverDate", "doi", "volume", "number", "startingPage", "endingPage",
        "pageRange", "aggregationType", "isbn", "url",
    )}  # fmt: skip
    first, last = prism["startingPage"], prism["endingPage"]
    dates = [prism["publicationDate"], prism["coverDate"], *map(_day, xmp.dc_date or ())]
    identifier = [plain_text(xmp.dc_identifier), prism["doi"], *(_element(xmp, *place) for place in _DOI_PLACES)]
    return Record(
        title=usable_title(titles.get("x-default") or next(iter(titles.values()), "")),
        authors="; ".join(dict.fromkeys(filter(None, creators))),
        published=next((one for date in dates if (one := _date(date))), ""),
        container=prism["publicationName"],
        publisher="; ".join(filter(None, map(plain_text, xmp.dc_publisher or ()))),
        doi=next((one for text in identifier if (one := found_doi(text))), ""),
        url=prism["url"],
        language=next((one for one in map(plain_text, xmp.dc_language or ()) if one), ""),
        work=Work(
            kind=_KINDS.get(prism["aggregationType"].lower(), ""),
            volume=prism["volume"],
            issue=prism["number"],
            extent=prism["pageRange"] or (f"{first}-{last}" if first and last else first),
            isbn=prism["isbn"],
        ),
    )


def _properties(info: Any) -> tuple[Record, str]:
    """What the document information says, and the year in which the file was made, unless by a scanner."""
    made = " ".join(plain_text(str(info.get(key) or "")) for key in ("/Creator", "/Producer"))
    created = plain_text(str(info.get("/CreationDate") or ""))
    year = created.removeprefix("D:")[:4]
    doi = found_doi(" ".join(str(info.get(key) or "") for key in ("/doi", "/DOI", "/WPS-ARTICLEDOI", "/Subject")))
    record = Record(
        usable_title(str(info.get("/Title") or "")), usable_authors(str(info.get("/Author") or "")), doi=doi
    )
    return record, "" if any(name in made.lower() for name in _SCANNERS) else found_year(year)


def _prism(xmp: Any, name: str) -> str:
    return next((text for namespace in _PRISM if (text := _element(xmp, namespace, name))), "")


def _element(xmp: Any, namespace: str, name: str) -> str:
    for found in xmp.get_element("", namespace, name):
        text = found.value if found.nodeType == found.ATTRIBUTE_NODE else xmp._get_text(found)
        if plain := plain_text(text):
            return plain
    return ""


def _day(value: Any) -> str:
    return value.date().isoformat() if hasattr(value, "date") else str(value)


def _date(text: str) -> str:
    """An ISO date, or its year; empty for anything else."""
    return iso_date(text) or found_year(text[:4])
