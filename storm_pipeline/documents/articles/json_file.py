"""Reads an article from JSON: ours, what WikiGenBench's programs write, or a title, Markdown and sources."""

import json
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from storm_pipeline.documents.articles.markdown import markdown_article, marked_article
from storm_pipeline.documents.articles.pages import AvailablePages, Reference
from storm_pipeline.documents.articles.reference_list import LARGEST_NUMBER
from storm_pipeline.errors import DatasetError, RunError
from storm_pipeline.render.json import from_json
from storm_pipeline.text.marker_forms import MARKS
from storm_pipeline.text.markers import mark, marked, marked_number, without_reserved
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article

Retrieved = str | tuple[str, str, str]
"""A passage, or a document as citation, address and text."""

_HEADING = re.compile(r"^[ \t]*(={2,6})[ \t]*([^=\n]+?)[ \t]*=+[ \t]*$", re.M)
M = TypeVar("M", bound=BaseModel)


def wikigenbench_article(
    title: str, parts: Sequence[tuple[str, Sequence[Retrieved]]], pages: AvailablePages
) -> Article:
    """Read an article. Raises DatasetError: there are more documents than :data:`LARGEST_NUMBER`.

    Args:
        parts: texts with the documents that their numbers refer to: one for the article, or one per section.
        pages: used for the documents without a text.
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
    return marked_article(title, "\n".join(text.splitlines()), pages, references)


def _shifted(text: str, before: int, count: int) -> str:
    """The text with a mark for each of its markers, the numbers of documents raised by ``before``."""

    def shifted(found: re.Match[str]) -> str:
        number = marked_number(found[0])
        return mark(before + number if number else 0)

    return MARKS.sub(shifted, marked(without_reserved(text), count))


def _reference(document: Retrieved, number: int) -> Reference:
    """The document as a reference; one without an address is a source of its own."""
    title, url, text = ("", "", document) if isinstance(document, str) else document
    return Reference(url.strip() or (f"retrieved:{number}" if text.strip() else ""), tidy(title), text)


class _Source(BaseModel):
    url: str = Field(min_length=1)
    title: str = ""
    text: str = ""


class _WikiGenBenchFile(BaseModel):
    text: str
    retrieve: list[Retrieved]


class _WikiGenBenchSections(BaseModel):
    text: list[str]
    retrieve: list[list[Retrieved]]


class _File(BaseModel):
    markdown: str = Field(validation_alias=AliasChoices("markdown", "text"))
    sources: list[_Source] | None = Field(default=None, max_length=LARGEST_NUMBER)


def json_article(title: str, text: str, pages: AvailablePages) -> Article:
    """Read an article.

    Our own articles keep their citations and the passages that their runs saw. The other form is ``{"title": …,
    "markdown": …, "sources": [{"url": …, "title": …, "text": …}]}``, in which ``[1]`` cites the first source. ``text``
    may stand for ``markdown``; without ``sources`` the list in the Markdown counts. A source's text, if given, is the
    page that its passages are taken from; else it is the available page at that address. What WikiGenBench's programs
    write has ``text`` and ``retrieve``. Raises DatasetError: it is neither, or damaged.
    """
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError("not JSON") from error
    if isinstance(record, dict) and "article" in record:
        try:
            return from_json(text)
        except RunError as error:
            raise DatasetError(str(error)) from error
    if isinstance(record, dict) and "retrieve" in record:
        return wikigenbench_article(title, _parts(record), pages)
    file = _validated(_File, record)
    if file.sources is None:
        return markdown_article(title, file.markdown, pages)
    references = (Reference(own.url, tidy(own.title), own.text) for own in file.sources)
    return markdown_article(title, file.markdown, pages, dict(enumerate(references, 1)))


def _validated(model: type[M], record: Any) -> M:
    try:
        return model.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the top level"
        raise DatasetError(f"damaged at {where}: {first['msg'].lower()}") from error


def _parts(record: dict[str, Any]) -> list[tuple[str, list[Retrieved]]]:
    if not isinstance(record.get("text"), list):
        whole = _validated(_WikiGenBenchFile, record)
        return [(whole.text, whole.retrieve)]
    file = _validated(_WikiGenBenchSections, record)
    if len(file.text) != len(file.retrieve):
        raise DatasetError(
            f"damaged at retrieve: {len(file.retrieve)} lists of documents for {len(file.text)} sections"
        )
    return list(zip(file.text, file.retrieve, strict=True))
