"""EPUB 3: an electronic book of one article, whose references are linked notes."""

import uuid

from storm_pipeline.export.manuscript import Manuscript
from storm_pipeline.export.pages import article_page, contents, template
from storm_pipeline.files import zipped

_MEDIA_TYPE = "application/epub+zip"
_CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">
<rootfiles>
<rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>
"""
_CSS = """
body { line-height: 1.5; }
.made { font-style: italic; }
.cite { font-size: .7em; vertical-align: super; text-decoration: none; }
li { overflow-wrap: anywhere; }
"""


def write(manuscript: Manuscript) -> bytes:
    """The book; its identifier is made from its text."""
    page = article_page(manuscript, _CSS)
    values = {"manuscript": manuscript, "identifier": uuid.uuid5(uuid.NAMESPACE_OID, page)}
    files = {
        "mimetype": _MEDIA_TYPE,
        "META-INF/container.xml": _CONTAINER,
        "book/package.opf": template("package.opf").render(values),
        "book/navigation.xhtml": template("navigation.xhtml").render(values, contents=contents(manuscript)),
        "book/article.xhtml": page,
    }
    return zipped(((name, text.encode()) for name, text in files.items()), stored=frozenset({"mimetype"}))
