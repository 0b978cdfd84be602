"""Reads an article from JSON: ours, or a title, Markdown and sources."""

import json

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from storm_pipeline.documents.articles.markdown import markdown_article
from storm_pipeline.documents.articles.pages import NumberedArticle, Reference
from storm_pipeline.documents.articles.reference_list import LARGEST_NUMBER
from storm_pipeline.errors import DatasetError, RunError
from storm_pipeline.render.json import from_json
from storm_pipeline.text.words import tidy


class _Source(BaseModel):
    url: str = Field(min_length=1)
    title: str = ""
    text: str = ""


class _File(BaseModel):
    markdown: str = Field(validation_alias=AliasChoices("markdown", "text"))
    sources: list[_Source] | None = Field(default=None, max_length=LARGEST_NUMBER)


def json_article(title: str, text: str) -> NumberedArticle:
    """Read an article.

    Our own articles keep their citations and the passages that their runs saw. The other form is ``{"title": …,
    "markdown": …, "sources": [{"url": …, "title": …, "text": …}]}``, in which ``[1]`` cites the first source. ``text``
    may stand for ``markdown``; without ``sources`` the list in the Markdown counts. A source's text, if given, is the
    page that its passages are taken from; else it is the available page at that address. Raises DatasetError: it is
    neither, or damaged.
    """
    try:
        record = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DatasetError("not JSON") from error
    if isinstance(record, dict) and "article" in record:
        try:
            return NumberedArticle(from_json(text), None)
        except RunError as error:
            raise DatasetError(str(error)) from error
    try:
        file = _File.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the top level"
        raise DatasetError(f"damaged at {where}: {first['msg'].lower()}") from error
    if file.sources is None:
        return markdown_article(title, file.markdown)
    references = (Reference(source.url, tidy(source.title), source.text) for source in file.sources)
    return markdown_article(title, file.markdown, dict(enumerate(references, 1)))
