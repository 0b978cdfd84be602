"""Text of EPUB books, chapter by chapter in reading order."""

import posixpath
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from storm_pipeline.documents.archive import BoundedZip, TooLargeError
from storm_pipeline.documents.damage import DAMAGE, unreadable
from storm_pipeline.documents.document import FileText
from storm_pipeline.documents.markup import local_name, parse_xhtml, parse_xml, text_of
from storm_pipeline.documents.plain import iso_date

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FAIRPLAY = "META-INF/sinf.xml"
# Fonts are made unreadable in free books too; the text is not.
_FONT_SCRAMBLING = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
_MOST_CHAPTERS = 5_000
_PAGES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document", ""})


def read_epub(data: bytes) -> FileText:
    """The text of a book, one numberless page a chapter. Never raises: what can't be read is a problem."""
    from lxml import etree

    damage = (etree.LxmlError, *DAMAGE)
    try:
        book = BoundedZip(data)
        if _is_protected(book):
            return FileText(problems=("is protected against copying (DRM); use a copy without protection",))
        path = _package_path(book)
        package = parse_xml(book.read(path))
        chapters = list(_chapters(package, posixpath.dirname(path)))[:_MOST_CHAPTERS]
    except TooLargeError as error:
        return FileText(problems=(str(error),))
    except damage as error:
        return unreadable("EPUB", error)
    pages, lost = [], []
    for chapter in chapters:
        try:
            pages.append((None, text_of(parse_xhtml(book.read(chapter)))))
        except TooLargeError as error:
            return FileText(problems=(str(error),))
        except damage:
            lost.append(chapter)
    problems = (f"lacks {len(lost)} of its {len(chapters)} chapters ({lost[0]} …); use a whole copy",) if lost else ()
    return FileText(_said(package, "title"), tuple(pages), iso_date(_said(package, "date")), problems)


def _is_protected(book: BoundedZip) -> bool:
    if _FAIRPLAY in book.names:
        return True
    if _ENCRYPTION not in book.names:
        return False
    methods = (e.get("Algorithm", "") for e in _named(parse_xml(book.read(_ENCRYPTION)), "encryptionmethod"))
    return not _FONT_SCRAMBLING.issuperset(methods)


def _package_path(book: BoundedZip) -> str:
    """Where the package document is, which lists everything else."""
    rootfile = next(_named(parse_xml(book.read(_CONTAINER)), "rootfile"), None)
    path = rootfile.get("full-path") if rootfile is not None else None
    if not path:
        raise ValueError("the container names no package")
    return str(path)


def _chapters(package: Any, folder: str) -> Iterator[str]:
    """Names of the members that hold the text, in the order of the spine, each once."""
    items = {item.get("id"): item for item in _named(package, "item")}
    listed = (items.get(entry.get("idref")) for entry in _named(package, "itemref"))
    names = (
        posixpath.normpath(posixpath.join(folder, unquote(item.get("href", "").partition("#")[0])))
        for item in listed
        if item is not None and item.get("media-type", "") in _PAGES
    )
    yield from dict.fromkeys(names)


def _said(package: Any, name: str) -> str:
    """The first statement of a kind among the metadata; empty where there is none."""
    metadata = next(_named(package, "metadata"), None)
    found = next(_named(metadata, name), None) if metadata is not None else None
    return " ".join("".join(found.itertext()).split()) if found is not None else ""


def _named(root: Any, name: str) -> Iterator[Any]:
    return (element for element in root.iter() if local_name(element) == name)
