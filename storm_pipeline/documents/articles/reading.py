"""Reads an article from a file or folder, in the format that its name says."""

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from storm_pipeline.documents.articles.json_file import json_article
from storm_pipeline.documents.articles.markdown import markdown_article
from storm_pipeline.documents.articles.pages import AvailablePages
from storm_pipeline.documents.articles.wikitext import wikitext_article
from storm_pipeline.errors import DatasetError
from storm_pipeline.files import read_bounded
from storm_pipeline.types import Article

ENTRY_POINTS = "storm_pipeline.articles"
"""Group of entry points: installed packages name their :class:`ArticleReader` there."""
MAX_BYTES = 20_000_000
_READERS: dict[str, Callable[[str, str, AvailablePages], Article]] = {
    ".md": markdown_article,
    ".txt": markdown_article,
    ".json": json_article,
    ".wiki": wikitext_article,
}
SUFFIXES = tuple(_READERS)
"""Suffixes of the files that are read without another package."""


class ArticleReader(Protocol):
    """Reads another kind of file or folder."""

    def reads(self, path: Path) -> bool:
        """Whether a file or folder is of this kind."""
        ...

    def read(self, path: Path, title: str, pages: AvailablePages) -> Article:
        """Read it; raises DatasetError if it is damaged."""
        ...


def read_article(path: Path, title: str, pages: AvailablePages) -> Article:
    """Read an article that was written elsewhere, with the citations that can be resolved.

    Args:
        path: a file with one of :data:`SUFFIXES`, or what an installed :class:`ArticleReader` reads.
        pages: the pages that it can cite; of each citation, the passage that suits the sentence best is taken.

    Raises:
        DatasetError: nothing reads such a file or folder, or it is damaged.
        MissingExtraError: the format's parser is not installed.
    """
    if path.suffix not in _READERS or path.is_dir():
        readers: list[ArticleReader] = [entry.load() for entry in entry_points(group=ENTRY_POINTS)]
        if found := next((reader for reader in readers if reader.reads(path)), None):
            return found.read(path, title, pages)
        raise DatasetError(f"{path} is no article that can be read: give a file with one of {', '.join(SUFFIXES)}")
    try:
        return _READERS[path.suffix](title, _text(path), pages)
    except DatasetError as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error


def _text(path: Path) -> str:
    try:
        return read_bounded(path, MAX_BYTES).decode("utf-8")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "articles must be UTF-8 text files"
        raise DatasetError(why) from error
