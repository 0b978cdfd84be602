"""Reads an article with its sources, from its folder, from the article itself, or from the web."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from storm_pipeline.errors import DatasetError, PageError
from storm_pipeline.output.articles.pages import AvailablePages, Reference
from storm_pipeline.output.articles.reading import SUFFIXES, read_article, title_of
from storm_pipeline.output.check.matching import Library, Match
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.sources.documents.document import Document
from storm_pipeline.sources.documents.reader import read_documents, stays_below
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.text.identity import source_id
from storm_pipeline.text.plain import web_address
from storm_pipeline.types import Article, Snippet

PASSAGES = 3
"""Maximum passages of a page by which a sentence is judged."""
OFFLINE = "it is not in the folder, and nothing was fetched"
WORKERS = 8
"""Pages read concurrently."""
_RUN = "article.json"


@dataclass(frozen=True)
class Read:
    """An article, and the cited sources that could not be read."""

    article: Article  # passages of unread sources contain the reason
    unread: Mapping[str, str]  # source id → why, a clause
    matches: tuple[Match, ...] = ()  # its references and the documents that fit them; empty without documents


def read_for_check(path: Path, sources: Path | None = None, fetch: Callable[[str], Page] | None = None) -> Read:
    """Read an article and the sources that it cites.

    Args:
        path: a file, the folder of a run, or a folder with one article and its sources as documents.
        sources: a folder or file with the cited pages as documents. The documents of ``path`` count too if it is a
            folder; by default, those beside a file. They are matched by :class:`Library`.
        fetch: URL → page; raises PageError. None: do not fetch.

    Raises DatasetError: no article, several, or a damaged one; MissingExtraError: a parser is missing.
    """
    file = _article_in(path)
    library = Library(_documents(path, file, sources), file.parent)
    pages = _Pages(library, (), {})
    article = read_article(file, title_of(file), pages)
    if not pages.missing:
        return Read(article, {}, library.matches)
    fetched, unread = _fetched(pages.missing, fetch)
    for name in unread:
        if fitting := library.find(pages.missing[name])[0].documents:
            unread[name] = f"several documents fit it: {', '.join(fitting)}"
    return Read(read_article(file, title_of(file), _Pages(library, fetched, unread)), unread, library.matches)


class _Pages(AvailablePages):
    """Documents and fetched pages, with a passage for every reference; that of an unread one is the reason."""

    def __init__(self, library: Library, pages: Iterable[Reference], unread: Mapping[str, str]) -> None:
        super().__init__(pages, PASSAGES)
        self.missing: dict[str, Reference] = {}
        self._library = library
        self._unread = unread

    def passages(self, statement: str, reference: Reference) -> tuple[Snippet, ...]:
        document = None if reference.text.strip() else self._library.find(reference)[1]
        if passages := super().passages(statement, document or reference):
            return passages
        url = reference.url or f"reference:{reference.title}"
        missing = Snippet(url, reference.title, f"Not read: {self._unread.get(source_id(url), OFFLINE)}.")
        self.missing[missing.source_id] = reference
        return (missing,)


def _article_in(path: Path) -> Path:
    """Return the article's file, or the folder itself if a reader of folders may read it. Raises DatasetError."""
    if not path.is_dir():
        return path
    files = sorted(f for f in path.iterdir() if f.suffix in SUFFIXES and f.is_file() and stays_below(f, path))
    if path / _RUN in files:
        return path / _RUN
    named = [file for file in files if file.stem in {"article", path.name}] or files
    if len(named) > 1:
        names = ", ".join(file.name for file in named[:5])
        raise DatasetError(f"{path} has several files that may be the article ({names}): name one, and --pages {path}")
    outside = (file for file in path.rglob("*") if file.is_symlink() and not stays_below(file, path))
    if not named and (linked := next(outside, None)):
        raise DatasetError(f"{linked} is a link out of the folder, or to a hidden file: copy the file into the folder")
    return named[0] if named else path


def _documents(path: Path, article: Path, sources: Path | None) -> Iterator[Document]:
    """Yield the documents of a folder but a run's, or beside a file but not below, without the article's formats."""
    is_run = article.name == _RUN or (article.parent / _RUN).exists()
    beside = None if is_run or article.is_dir() or (sources and article == path) else article.parent
    formats = {article.with_suffix(suffix).resolve().as_uri() for suffix in SUFFIXES}
    for place in filter(None, (beside, sources)):
        for document in read_documents(place, deep=place == sources or path.is_dir()):
            if isinstance(document, Document) and document.url not in formats:
                yield document


def read_page(reference: Reference, fetch: Callable[[str], Page]) -> Reference | str:
    """Read a web page; return the reference with its text, or the reason for a failure."""
    try:
        page = fetch(reference.url)
    except PageError as error:
        return str(error)
    return Reference(reference.url, page.title or reference.title, joined_text(page.pages))


def joined_text(pages: Iterable[tuple[object, str]]) -> str:
    """Join the texts of numbered pages."""
    return "\n\n".join(text for _, text in pages)


def _fetched(
    missing: Mapping[str, Reference], fetch: Callable[[str], Page] | None
) -> tuple[list[Reference], dict[str, str]]:
    def fetched(reference: Reference) -> Reference | str:
        if not web_address(reference.url):
            return "the article gives no address of it" if not reference.url else "it is no page of the web"
        return OFFLINE if fetch is None else read_page(reference, fetch)

    results = dict(zip(missing, parallel_map(fetched, missing.values(), workers=WORKERS), strict=True))
    pages = [result for result in results.values() if isinstance(result, Reference)]
    return pages, {name: result for name, result in results.items() if isinstance(result, str)}
