"""Reads an article as WikiGenBench's own programs write it: ``==Section==`` headings, and ``[k]`` for the document k.

The documents are the ``retrieve`` of the file: passages, or citation, address and text. An article written section by
section is a list of texts with a list of documents each, whose numbers begin anew.
"""

import re
from collections.abc import Sequence

from storm_pipeline.documents.articles.markdown import markdown_article
from storm_pipeline.documents.articles.numbered import LARGEST_NUMBER
from storm_pipeline.documents.articles.pages import AvailablePages, Reference
from storm_pipeline.errors import DatasetError
from storm_pipeline.text.words import MARKER, tidy
from storm_pipeline.types import Article

Retrieved = str | tuple[str, str, str]
"""A passage, or a document as citation, address and text."""

_HEADING = re.compile(r"^[ \t]*(={2,6})[ \t]*([^=\n]+?)[ \t]*=+[ \t]*$", re.M)
_NUMBER = re.compile(r"\d+")


def wikigenbench_article(
    title: str, parts: Sequence[tuple[str, Sequence[Retrieved]]], pages: AvailablePages
) -> Article:
    """Read an article.

    Args:
        title: of the article.
        parts: texts with the documents that their numbers refer to: one for the article, or one per section.
        pages: used for the documents without a text.

    Raises:
        DatasetError: there are more documents than :data:`LARGEST_NUMBER`.
    """
    references: dict[int, Reference] = {}
    bodies = []
    for text, documents in parts:
        bodies.append(_shifted(text, len(references), len(documents)))
        for document in documents:
            number = len(references) + 1
            references[number] = _reference(document, number)
    if len(references) > LARGEST_NUMBER:
        raise DatasetError(f"it has more than {LARGEST_NUMBER:,} documents")
    text = _HEADING.sub(lambda found: f"{'#' * len(found[1])} {found[2]}", "\n\n".join(bodies))
    return markdown_article(title, text, pages, references)


def _shifted(text: str, before: int, count: int) -> str:
    """The text with its numbers, 1 to ``count``, raised by ``before``, and others raised above all documents."""

    def shifted(found: re.Match[str]) -> str:
        number = int(found[0]) if len(found[0]) <= len(str(LARGEST_NUMBER)) else 0
        return str(before + number if 1 <= number <= count else LARGEST_NUMBER + 1)

    return MARKER.sub(lambda marker: _NUMBER.sub(shifted, marker[0]), text)


def _reference(document: Retrieved, number: int) -> Reference:
    """The document as a reference; one without an address is a source of its own."""
    title, url, text = ("", "", document) if isinstance(document, str) else document
    return Reference(url.strip() or (f"retrieved:{number}" if text.strip() else ""), tidy(title), text)
