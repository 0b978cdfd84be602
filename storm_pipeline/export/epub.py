"""EPUB 3: an electronic book of one article, whose references are linked notes."""

import uuid

from storm_pipeline.export.manuscript import Manuscript
from storm_pipeline.export.pages import article_page, as_it_stands, contents, template
from storm_pipeline.files import zipped

_MEDIA_TYPE = "application/epub+zip"


def write(manuscript: Manuscript) -> bytes:
    """The book; its identifier is made from its text."""
    page = article_page(manuscript, "book.css")
    values = {"manuscript": manuscript, "identifier": uuid.uuid5(uuid.NAMESPACE_OID, page)}
    files = {
        "mimetype": _MEDIA_TYPE,
        "META-INF/container.xml": as_it_stands("container.xml"),
        "book/package.opf": template("package.opf").render(values),
        "book/navigation.xhtml": template("navigation.xhtml").render(values, contents=contents(manuscript)),
        "book/article.xhtml": page,
    }
    return zipped(((name, text.encode()) for name, text in files.items()), stored=frozenset({"mimetype"}))
