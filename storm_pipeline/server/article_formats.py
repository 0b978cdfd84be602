"""The formats in which a server returns an article: those of the run's folder, and every export format."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from storm_pipeline.errors import SettingsError
from storm_pipeline.export.formats import FORMATS, export
from storm_pipeline.render.markdown import to_markdown
from storm_pipeline.types import Article

_STYLE = re.compile(r"[a-z0-9][a-z0-9-]{0,99}")
_TEXTS: dict[str, tuple[str, str, str, Callable[[Article], str]]] = {
    "markdown": ("text/markdown", ".md", "Markdown with numbered citations", to_markdown),
    "html": ("text/html", ".html", "one self-contained page", Article.to_html),
    "json": ("application/json", ".json", "everything, the research included", Article.to_json),
}


@dataclass(frozen=True)
class ArticleFormat:
    """A format of articles.

    Attributes:
        name: its name in requests.
        media_type: its IANA media type, without a charset.
        suffix: its file name extension, with the dot.
        about: a short description.
    """

    name: str
    media_type: str
    suffix: str
    about: str

    @property
    def is_text(self) -> bool:
        """Whether a file of it is text in UTF-8."""
        textual = ("text/", "application/x-", "application/json")
        return self.media_type.startswith(textual) or self.media_type.endswith("+json")


def article_formats() -> tuple[ArticleFormat, ...]:
    """All formats, Markdown first."""
    own = [ArticleFormat(name, media, suffix, about) for name, (media, suffix, about, _) in _TEXTS.items()]
    return (*own, *(ArticleFormat(f.name, f.media_type, f.suffix, f.about) for f in FORMATS.values()))


def article_format(name: str) -> ArticleFormat:
    """The format with this name.

    Raises:
        SettingsError: there is none; lists the formats.
    """
    known = {one.name: one for one in article_formats()}
    if name not in known:
        raise SettingsError(f"no format is called {name!r}; choose from: {', '.join(known)}")
    return known[name]


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
    if chosen in _TEXTS:
        return _TEXTS[chosen][-1](article).encode("utf-8", "replace")
    return export(article, chosen, citation_style=citation_style)
