"""Text of EPUB books, chapter by chapter in reading order."""

import posixpath
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import unquote

from storm_pipeline.sources.documents.document import FileText, Record, usable_authors
from storm_pipeline.sources.documents.markup import element_text, local_name, parse_xhtml, parse_xml, text_of
from storm_pipeline.sources.documents.untrusted import DAMAGE, BoundedZip, TooLargeError, unreadable
from storm_pipeline.text.plain import find_year, iso_date
from storm_pipeline.types import Work

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FAIRPLAY = "META-INF/sinf.xml"
# Fonts are obfuscated in DRM-free books too; the text is not.
_FONT_OBFUSCATION = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
_ISBN = re.compile(r"(?<!\d)(?:97[89]\d{10}|\d{9}[\dXx])(?!\d)")
_MAX_CHAPTERS = 5_000
_PAGES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document", ""})


def read_epub(data: bytes) -> FileText:
    """Return the text of a book, with an unnumbered page per chapter. Never raises: failures are in ``problems``."""
    from lxml import etree

    damage = (etree.LxmlError, *DAMAGE)
    pages, missing = [], []
    try:
        book = BoundedZip(data)
        if _is_protected(book):
            return FileText(problems=("is protected against copying (DRM); use a copy without protection",))
        files = (file.get("full-path") for file in _elements(parse_xml(book.read(_CONTAINER)), "rootfile"))
        path, *_ = filter(None, files)  # without one, a ValueError
        package = parse_xml(book.read(path))
        chapters = list(_chapters(package, posixpath.dirname(path)))[:_MAX_CHAPTERS]
        for chapter in chapters:
            try:
                pages.append((None, text_of(parse_xhtml(book.read(chapter)))))
            except TooLargeError:
                raise
            except damage:
                missing.append(chapter)
    except damage as error:
        return unreadable("EPUB", error)
    problems: tuple[str, ...] = ()
    if missing:
        problems = (f"lacks {len(missing)} of its {len(chapters)} chapters ({missing[0]} …); use a complete copy",)
    record = _record(package)
    return FileText(record.title, tuple(pages), record.published or None, problems, record)


def _record(package: Any) -> Record:
    texts: dict[str, list[str]] = {}
    for element in (element for metadata in islice(_elements(package, "metadata"), 1) for element in metadata.iter()):
        texts.setdefault(local_name(element), []).append(element_text(element))
    isbns = (_ISBN.search(text.replace("-", "")) for text in texts.get("identifier", ()))
    authors = "; ".join(dict.fromkeys(filter(None, map(usable_authors, texts.get("creator", ())))))
    title, date, publisher, language = (texts.get(name, [""])[0] for name in ("title", "date", "publisher", "language"))
    work = Work(kind="book", isbn=next((isbn[0] for isbn in isbns if isbn), ""))
    published = iso_date(date) or find_year(date[:4])
    return Record(title, authors, published, publisher=publisher, language=language, work=work)


def _is_protected(book: BoundedZip) -> bool:
    encrypted = [parse_xml(book.read(_ENCRYPTION))] if _ENCRYPTION in book.names else []
    methods = (method.get("Algorithm", "") for root in encrypted for method in _elements(root, "encryptionmethod"))
    return _FAIRPLAY in book.names or not _FONT_OBFUSCATION.issuperset(methods)


def _chapters(package: Any, folder: str) -> Iterator[str]:
    items = {item.get("id"): item for item in _elements(package, "item")}
    listed = (items.get(entry.get("idref")) for entry in _elements(package, "itemref"))
    names = (
        posixpath.normpath(posixpath.join(folder, unquote(item.get("href", "").partition("#")[0])))
        for item in listed
        if item is not None and item.get("media-type", "") in _PAGES
    )
    yield from dict.fromkeys(names)


def _elements(root: Any, name: str) -> Iterator[Any]:
    return (element for element in root.iter() if local_name(element) == name)
