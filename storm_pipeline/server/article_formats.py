"""The formats in which a server returns an article: those of the run's folder, and every export format."""

import re

from storm_pipeline.errors import SettingsError
from storm_pipeline.export.formats import FORMATS, TEXTS, ArticleFormat, export, rendered
from storm_pipeline.types import Article

_STYLE = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
_KNOWN = TEXTS | FORMATS


def article_formats() -> tuple[ArticleFormat, ...]:
    """All formats, Markdown first."""
    return tuple(_KNOWN.values())


def article_format(name: str) -> ArticleFormat:
    """The format with this name.

    Raises:
        SettingsError: there is none; lists the formats.
    """
    if name not in _KNOWN:
        raise SettingsError(f"no format is called {name!r}; choose from: {', '.join(_KNOWN)}")
    return _KNOWN[name]


def article_as(article: Article, name: str, *, citation_style: str | None = None) -> bytes:
    """An article as the content of a file.

    Args:
        article: the article.
        name: of the format.
        citation_style: name of a CSL style for the reference list of an export format; never a file.

    Raises:
        SettingsError: no format or style has this name.
        MissingExtraError: it needs a library that is not installed.
    """
    chosen = article_format(name).name
    if citation_style is not None and not _STYLE.fullmatch(citation_style):
        raise SettingsError("a citation style is given by its name, such as apa, ieee or chicago-author-date")
    if chosen in TEXTS:
        return rendered(article, chosen).encode("utf-8", "replace")
    return export(article, chosen, citation_style=citation_style)
