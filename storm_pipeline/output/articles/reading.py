"""Reads an article from a file or folder in the format of its name."""

import json
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from storm_pipeline.errors import DatasetError, RunError
from storm_pipeline.output.articles.html_and_docx import docx_article, page_article
from storm_pipeline.output.articles.markdown import LARGEST_NUMBER, markdown_article
from storm_pipeline.output.articles.pages import AvailablePages, NumberedArticle, Reference
from storm_pipeline.output.articles.wikitext import wikitext_article
from storm_pipeline.run.article_json import from_json
from storm_pipeline.sources.documents.isolated import NotReadError, reading, size_of
from storm_pipeline.text.files import read_bounded
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Article

ENTRY_POINTS = "storm_pipeline.articles"
"""Group of entry points for the :class:`ArticleReader` of installed packages."""
MAX_BYTES = 20_000_000
_HEAD = 4000  # characters of a file searched for its title


class _Source(BaseModel):
    url: str = Field(min_length=1)
    title: str = ""
    text: str = ""


class _File(BaseModel):
    markdown: str = Field(validation_alias=AliasChoices("markdown", "text"))
    sources: list[_Source] | None = Field(default=None, max_length=LARGEST_NUMBER)


def json_article(title: str, text: str) -> NumberedArticle:
    """Read an article.

    Our own articles contain their citations and passages. The other form is ``{"title": …, "markdown": …, "sources":
    [{"url": …, "title": …, "text": …}]}``, in which ``[1]`` cites the first source. ``text`` may replace ``markdown``;
    without ``sources`` the list in the Markdown counts. A source without a text is looked up at its address. Raises
    DatasetError: it is neither, or damaged.
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


_READERS: dict[str, Callable[[str, str], NumberedArticle]] = {
    ".md": markdown_article,
    ".txt": markdown_article,
    ".json": json_article,
    ".wiki": wikitext_article,
}
_BINARY_READERS = {".docx": docx_article, ".html": page_article, ".htm": page_article}
SUFFIXES = (*_READERS, *_BINARY_READERS)
"""Suffixes of files that are read without a plug-in."""


class ArticleReader(Protocol):
    """Reader of a further kind of file or folder."""

    def reads(self, path: Path) -> bool:
        """Return whether a file or folder is of this kind."""
        ...

    def read(self, path: Path, title: str, pages: AvailablePages) -> Article:
        """Read it; raises DatasetError if it is damaged."""
        ...


def read_article(path: Path, title: str, pages: AvailablePages) -> Article:
    """Read a foreign article with the citations that can be resolved.

    Args:
        path: a file with one of :data:`SUFFIXES`, or input of an installed :class:`ArticleReader`.
        pages: the pages that it can cite; each citation gets the passage nearest to the sentence.

    Raises:
        DatasetError: no reader fits the file or folder, or it is damaged.
        MissingExtraError: the format's parser is not installed.
    """
    if path.suffix not in SUFFIXES or path.is_dir():
        readers: list[ArticleReader] = [entry.load() for entry in entry_points(group=ENTRY_POINTS)]
        if fitting := next((reader for reader in readers if reader.reads(path)), None):
            return fitting.read(path, title, pages)
        raise DatasetError(f"{path} is no article that can be read: give a file with one of {', '.join(SUFFIXES)}")
    try:
        [imported] = reading.read(_import_article, str(path.absolute()), title, size=size_of(path))
    except NotReadError as error:
        raise DatasetError(f"{path} cannot be read: it {error}") from error
    except DatasetError as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error
    return pages.cite(imported)


def _import_article(file: str, title: str) -> Iterator[NumberedArticle]:
    path = Path(file)
    try:
        data = read_bounded(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DatasetError(why) from error
    if path.suffix in _BINARY_READERS:
        yield _BINARY_READERS[path.suffix](title, data)
        return
    try:
        yield _READERS[path.suffix](title, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise DatasetError("articles must be UTF-8 text files") from error


def title_of(path: Path) -> str:
    """Return the title of an article's file: the heading that opens its Markdown, else the file's name."""
    if path.suffix == ".md" and path.is_file():
        with path.open(encoding="utf-8", errors="replace") as file:
            first = file.read(_HEAD).lstrip().partition("\n")[0]
        if first.startswith("# "):
            return first[2:].strip()
    return path.stem.replace("_", " ")
