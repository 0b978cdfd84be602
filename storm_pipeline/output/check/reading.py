"""Reads an article with its sources, from its folder, from the article itself, or from the web."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from storm_pipeline.errors import DatasetError, PageError
from storm_pipeline.output.articles.pages import AvailablePages, NumberedArticle, Reference
from storm_pipeline.output.articles.reading import SUFFIXES, read_article, title_of
from storm_pipeline.output.check.matching import Library, Match, with_cited_works
from storm_pipeline.output.render.links import MOST_CITED, NO_ADDRESS
from storm_pipeline.run.concurrency import FairThreads
from storm_pipeline.sources.documents.bibliography import Entry
from storm_pipeline.sources.documents.document import Document
from storm_pipeline.sources.documents.reader import read_documents, read_entries, stays_below
from storm_pipeline.sources.pages.extract import Page
from storm_pipeline.sources.reliable.filtering import SourcePolicy
from storm_pipeline.text.files import walk
from storm_pipeline.text.identity import host_of, is_elsewhere, source_id
from storm_pipeline.types import Article, Snippet

PASSAGES = 3  # maximum passages of a page by which a sentence is judged
OFFLINE = "it is not in the folder, and nothing was fetched"
Reading = tuple[Reference | None, PageError | None]  # a source's text, and why its page is unread; both by a copy
_RUN = "article.json"


@dataclass(frozen=True)
class SourceNote:
    """Facts about a cited source that an editor needs."""

    rated: str = ""  # why Wikipedia's editors would not accept it; empty if they may
    gone: str = ""  # why its page is gone; empty if it is there, or was not looked at
    archive: str = ""  # address of an archived copy that the article gives; empty if none
    cited: str = ""  # address in the article that led to this page of another site, or archived copy; else empty
    held: bool = False  # whether its passages are those that the article has of it, and its page was not read


@dataclass(frozen=True)
class Read:
    """An article, and the cited sources that could not be read."""

    article: Article  # passages of unread sources contain the reason
    unread: Mapping[str, str]  # source id → why, a clause
    matches: tuple[Match, ...] = ()  # its references and the documents that fit them; empty without documents
    notes: Mapping[str, SourceNote] = field(default_factory=dict)  # by source id
    documents: frozenset[str] = frozenset()  # ids of the sources whose text is that of a document


def read_for_check(
    path: Path,
    sources: Path | None = None,
    fetch: Callable[[str], Page] | None = None,
    most: int = MOST_CITED,
) -> Read:
    """Read an article and the sources that it cites.

    Args:
        path: a file, the folder of a run, or a folder with one article and its sources as documents.
        sources: a folder or file with the cited pages as documents. The documents of ``path`` count too if it is a
            folder; by default, those beside a file. They are matched by :class:`Library`.
        fetch: URL → page; raises PageError. None: do not fetch.
        most: characters that may be compared, as for ``check_article``.

    Raises DatasetError: no article, several, a damaged one, or one that cites too much; MissingExtraError: a parser is
    missing.
    """
    file = _article_in(path)
    folder = None if file.name == _RUN or (file.parent / _RUN).exists() or file.is_dir() else file.parent
    entries = read_entries(folder, deep=path.is_dir()) if folder else []
    places = {folder: path.is_dir()} if folder and not (sources and file == path) else {}
    places |= {sources: True} if sources else {}
    library = Library(_documents(file, places, entries), file.parent, [entry.record for entry in entries])
    pages = _Pages(library, {}, {}, most)
    article = read_article(file, title_of(file), pages)
    missing = pages.missing
    readings = read_sources(fetch, missing)
    unread = {name: str(error) for name, (page, error) in readings.items() if not page}
    for name in unread:
        if fitting := library.find(missing[name])[0].documents:
            unread[name] = f"several documents fit it: {', '.join(fitting)}"
    if missing:
        pages = _Pages(library, {name: page for name, (page, _) in readings.items() if page}, unread, most)
        article = read_article(file, title_of(file), pages)
    notes = source_notes(article, readings, pages.cited, pages.documents)
    return Read(article, unread, library.matches, notes, frozenset(pages.documents))


class _Pages(AvailablePages):
    """Documents and fetched pages, with a passage for every reference; that of an unread one is the reason."""

    def __init__(self, library: Library, read: Mapping[str, Reference], unread: Mapping[str, str], most: int) -> None:
        super().__init__((), PASSAGES, most)
        self.missing: dict[str, Reference] = {}
        self.cited: dict[str, Reference] = {}
        self.documents: set[str] = set()
        self._pages |= read
        self._library, self._unread = library, unread

    def cite(self, imported: NumberedArticle) -> Article:
        return super().cite(with_cited_works(imported, self._library))

    def passages(self, statement: str, reference: Reference) -> tuple[Snippet, ...]:
        works = [reference] if reference.text.strip() else self._library.works_of(reference)
        if len(works) > 1:
            return tuple(snippet for work in works for snippet in self.passages(statement, work))
        document = None if reference.text.strip() else self._library.find(reference)[1]
        passages = super().passages(statement, document or reference)
        self.cited[source_id(reference.url)] = reference
        if passages:
            self.documents |= {passage.source_id for passage in passages if document}
            return passages
        url = reference.url or f"{NO_ADDRESS}{reference.title}"
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
    below = (Path(parent, name) for parent, inner, names in walk(path) for name in (*inner, *names))
    outside = (file for file in below if file.is_symlink() and not stays_below(file, path))
    if not named and (linked := next(outside, None)):
        raise DatasetError(f"{linked} is a link out of the folder, or to a hidden file: copy the file into the folder")
    return named[0] if named else path


def _documents(article: Path, places: Mapping[Path, bool], entries: Sequence[Entry]) -> Iterator[Document]:
    """Yield the documents of folders, or below them too where ``places`` says so, without the article's formats."""
    formats = {article.with_suffix(suffix).resolve().as_uri() for suffix in SUFFIXES}
    for place, deep in places.items():
        documents = read_documents(place, deep=deep, known=entries)
        yield from (item for item in documents if isinstance(item, Document) and item.url not in formats)


def read_source(fetch: Callable[[str], Page] | None, reference: Reference) -> Reading:
    """Read the page of a source, or its archived copy if the page is gone, under the address of the site it is from."""
    if not reference.url or reference.url.startswith(NO_ADDRESS):
        return None, PageError("the article gives no address of it")
    if fetch is None:
        return None, PageError(OFFLINE)
    try:
        page = fetch(reference.url)
    except PageError as error:
        copy = reference.archive if error.is_gone else ""
        return read_source(fetch, Reference(copy))[0] if copy else None, error
    judged = [SourcePolicy().judge(url).allowed for url in (reference.url, page.url)]
    if is_elsewhere(reference.url, page.url) or judged == [True, False]:
        reference = Reference(page.url)
    return replace(reference, title=page.title or reference.title, text="\n\n".join(t for _, t in page.pages)), None


def read_sources(fetch: Callable[[str], Page] | None, sources: Mapping[str, Reference]) -> dict[str, Reading]:
    """Read sources at the same time, few of one host; see :func:`read_source`."""
    with closing(FairThreads()) as threads:
        started = [threads.start(host_of(cited.url), partial(read_source, fetch, cited)) for cited in sources.values()]
        return {name: reading.result() for name, reading in zip(sources, started, strict=True)}


def with_files(fetch: Callable[[str], Page], folder: Path | None) -> Callable[[str], Page]:
    """Return a function that reads pages, and files of a folder; links out of it are not followed."""

    def read(url: str) -> Page:
        if not url.startswith("file:"):
            return fetch(url)
        file = Path(unquote(url.removeprefix("file:").removeprefix("//")))
        if folder is None or not stays_below(file, folder):
            raise PageError("files are read only in the folder that you name: --pages PATH")
        documents = [item for item in (read_documents(file) if file.is_file() else ()) if isinstance(item, Document)]
        if not documents:
            raise PageError("the file is gone or unreadable")
        return Page(url, "", tuple(page for document in documents for page in document.pages))

    return read


def source_notes(
    article: Article, readings: Mapping[str, Reading], cited: Mapping[str, Reference], documents: Collection[str]
) -> dict[str, SourceNote]:
    """Return the notes on the cited sources; all by source id. ``documents``: the sources that are files."""
    names = {source_id(page.url): name for name, (page, _) in readings.items() if page}
    notes: dict[str, SourceNote] = {}
    for source in article.references:
        name = names.get(source_id(source.url), source.id)
        reference, (page, error) = cited.get(name, Reference(source.url)), readings.get(name, (None, None))
        verdicts = map(SourcePolicy().judge, (source.url, reference.url))
        rated = next((verdict.reason for verdict in verdicts if not verdict.allowed), "")
        gone = str(error) if error and error.is_gone else ""
        led = "" if source_id(reference.url) == source_id(source.url) else reference.url
        is_held = not page and not error and source.id not in documents
        notes[source.id] = SourceNote(rated, gone, reference.archive, led, is_held)
    return notes
