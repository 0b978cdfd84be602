"""Bibliographic data of a PDF, from its metadata and the head of its first page."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from storm_pipeline.sources.documents.document import Record, usable_authors, usable_title
from storm_pipeline.sources.documents.pdf_layout import Block, is_numeral
from storm_pipeline.sources.documents.untrusted import pdf_damage
from storm_pipeline.text.person_names import person_names
from storm_pipeline.text.plain import find_doi, find_year, iso_date, plain_text
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Work

_PRISM = tuple(
    f"http://prismstandard.org/namespaces/basic/{version}/" for version in ("2.0", "2.1", "2.2", "3.0", "1.2")
)
_DOI_PLACES = (("http://ns.adobe.com/pdfx/1.3/", "doi"), ("http://crossref.org/crossmark/1.0/", "DOI"))
_KINDS = {"journal": "article", "magazine": "article", "newspaper": "article", "book": "chapter"}
_MOST_BLOCKS = 15  # maximum blocks above the text
_OPENINGS = frozenset("abstract summary introduction zusammenfassung einleitung résumé resumen".split())
_PROSE_WORDS = 12


def pdf_record(reader: Any, front: Record) -> Record:
    """Return the record of a file from its XMP, then its properties, then its first page (``front``) but its date."""
    damage = pdf_damage()  # damage of metadata only
    stated, properties = Record(), Record()
    with suppress(*damage):
        stated = _xmp_record(reader.xmp_metadata) if reader.xmp_metadata else stated
    with suppress(*damage):
        properties = _properties(reader.metadata or {})
    known, front = stated.completed(properties).of("metadata"), replace(front, published="").of("text")
    if " " not in known.title and front.title:  # a code or file name
        known = front.completed(known)
    return known.completed(front)


def _xmp_record(xmp: Any) -> Record:
    titles = xmp.dc_title or {}
    creators = [usable_authors(name) for name in xmp.dc_creator or ()]
    prism = {name: _first(_element(xmp, namespace, name) for namespace in _PRISM) for name in (
        "publicationName", "publicationDate", "coverDate", "doi", "volume", "number", "startingPage", "endingPage",
        "pageRange", "aggregationType", "isbn", "url",
    )}  # fmt: skip
    first, last = prism["startingPage"], prism["endingPage"]
    publishers = "; ".join(filter(None, map(plain_text, xmp.dc_publisher or ())))
    is_published = publishers or prism["publicationName"]  # else a date may be that of the file's making
    days = (day.date().isoformat() if hasattr(day, "date") else str(day) for day in xmp.dc_date or () if is_published)
    dates = (prism["publicationDate"], prism["coverDate"], *days)
    identifier = (plain_text(xmp.dc_identifier), prism["doi"], *(_element(xmp, *place) for place in _DOI_PLACES))
    work = Work(
        kind=_KINDS.get(prism["aggregationType"].lower(), ""),
        volume=prism["volume"],
        issue=prism["number"],
        extent=prism["pageRange"] or (f"{first}-{last}" if first and last else first),
        isbn=prism["isbn"],
        url=prism["url"],
    )
    return Record(
        title=usable_title(titles.get("x-default") or next(iter(titles.values()), "")),
        authors="; ".join(dict.fromkeys(filter(None, creators))),
        published=_first(iso_date(date) or find_year(date[:4]) for date in dates),
        container=prism["publicationName"],
        publisher=publishers,
        doi=_first(map(find_doi, identifier)),
        language=_first(map(plain_text, xmp.dc_language or ())),
        work=work,
    )


def _properties(info: Any) -> Record:
    """Return the record in the document information, whose dates are those of the file."""

    def text_of(*keys: str) -> str:
        return " ".join(plain_text(str(info.get(key) or "")) for key in keys)

    doi = find_doi(text_of("/doi", "/DOI", "/WPS-ARTICLEDOI", "/Subject"))
    return Record(usable_title(text_of("/Title")), usable_authors(text_of("/Author")), doi=doi)


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


def _element(xmp: Any, namespace: str, name: str) -> str:
    nodes = xmp.get_element("", namespace, name)
    return _first(plain_text(n.value if n.nodeType == n.ATTRIBUTE_NODE else xmp._get_text(n)) for n in nodes)


def split_front_matter(page: Sequence[Block], body: float, furniture: Sequence[str]) -> tuple[Record, list[Block]]:
    """Return the record from the head of the first page, and the remaining blocks.

    ``body``: size of the type that the text is set in, in points.
    """
    first, last = _title_place(page, body)
    begin = next((n for n in range(last, len(page)) if _is_text(page[n])), len(page)) if last else 0
    head, rest = page[:begin], page[begin:]
    if len(head) > _MOST_BLOCKS:
        head, rest = page[:last], page[last:]
    used_texts = [*furniture, *(block.text for block in (*head, *page[begin : begin + 3]))]
    if rest and _opening(rest[0].text) and len(rest[0].text.split()) <= 2:  # a bare heading such as "Abstract"
        rest = rest[1:]
    title = " ".join(" ".join(block.text.split()) for block in page[first:last])
    dated_texts = [*furniture, *(block.text for block in (*head[:first], *head[last:]))]
    record = Record(
        title=title,
        authors="; ".join(_authors(block.text for block in page[last:begin]) if head else ()),
        published=_first(find_year(text, title) for text in dated_texts),
        doi=_first(map(find_doi, used_texts)),
    )
    return record, list(rest)


def _title_place(page: Sequence[Block], body: float) -> tuple[int, int]:
    """Return the range of the title's blocks; empty without a title."""
    heads = [n for n, block in enumerate(page[:_MOST_BLOCKS]) if _can_be_title(block.text)]
    if not heads:
        return 0, 0
    largest = max(page[n].size for n in heads)
    if largest < 1.12 * body:
        first = heads[0]
        return (first, first + 1) if page[first].is_bold and not _is_text(page[first]) and len(page) > 1 else (0, 0)
    first = next(n for n in heads if page[n].size > 0.97 * largest)
    last = first + 1
    while last < len(page) and page[last].size > 0.97 * largest:
        last += 1
    return first, last


def _can_be_title(text: str) -> bool:
    count = len(text.split())
    return 0 < count <= 40 and sum(map(str.isalpha, text)) >= 6 and not (count <= 2 and _opening(text))


def _opening(text: str) -> bool:
    """Return whether a block begins with the opening heading of a text, ignoring its number."""
    words = folded_words(text)
    return not _OPENINGS.isdisjoint(words[: 2 if words and is_numeral(words[0]) else 1])


def _is_text(block: Block) -> bool:
    """Return whether a block belongs to the text: sentences, or its opening heading."""
    words = block.text.split()
    is_long = len(words) >= _PROSE_WORDS and sum(word[0].islower() for word in words) > 0.5 * len(words)
    is_prose = is_long and (block.lines > 2 or any(mark in block.text for mark in ".!?"))
    return is_prose or _opening(block.text)


def _authors(lines: Iterable[str]) -> tuple[str, ...]:
    for text in lines:
        names_below = text.split("\n")
        for line in (", ".join(names_below[:count]) for count in range(len(names_below), 0, -1)):
            if "@" not in line and "©" not in line and (names := person_names(line)):
                return names
    return ()
